# Every command sets up what it needs: a fresh clone, Python 3.11+ and make are enough.
PYTHON ?= python3
# Another PYTHON, as in make test PYTHON=python3.13, gets an environment of its own.
VENV := .venv$(if $(filter-out python3,$(PYTHON)),-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'))
BIN := $(VENV)/bin
HOST ?= 127.0.0.1

.PHONY: help run sandbox test test-long test-fast test-newest test-racing check durations bench quality pictures font icons image test-image fuzz pins client clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# Shows pip's progress on one line of a terminal, and every ten packages elsewhere. Fails as pip does.
define PROGRESS
/^(Collecting|Processing|Ignoring|Requirement already) / {
	seen++
	name = ($$1 == "Requirement" ? $$4 : $$2)
	sub(/^.*\//, "", name)
	sub(/(-[0-9][^-]*(-|[.]tar)|[=<>!~;:[]).*/, "", name)
	if (tty) printf "\r\033[K%d of %d  %s", seen, total, name
	else if (seen % 10 == 0) print seen " of " total
}
/^Installing collected/ { printf "%s", (tty ? "\r\033[KUnpacking" : "Unpacking\n") }
/^pip failed/ { failed = 1 }
{ fflush() }
END { if (tty) printf "\r\033[K"; exit failed }
endef
export PROGRESS
install = echo "Installing $(1) into $(VENV), once."; test -t 1 && tty=1; \
	{ $(BIN)/pip install --disable-pip-version-check --progress-bar off --require-hashes -r $(1) || echo "pip failed"; } | \
	awk -v total="$$(grep -c '^[a-z].*==' $(1))" -v tty="$$tty" "$$PROGRESS"

$(VENV)/runtime: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/pip || { echo "Making $(VENV), once."; $(PYTHON) -m venv $(VENV); } || { rm -rf $(VENV); exit 1; }
	@$(call install,requirements.txt)
	@touch $@

$(VENV)/dev: requirements-dev.txt $(VENV)/runtime
	@$(call install,requirements-dev.txt)
	@touch $@

# pip takes no hashes from the constraints of a package that is named without its version.
$(VENV)/constraints.txt: requirements-dev.txt $(VENV)/runtime
	@sed '/^ *--hash/d; s/ \\$$//' requirements-dev.txt > $@

run: $(VENV)/runtime ## the portal at http://127.0.0.1:8000 (HOST and PORT change it)
	@HOST=$(HOST) PORT=$(or $(PORT),8000) exec $(BIN)/python app.py

sandbox: $(VENV)/runtime ## the embedded upstream alone at http://127.0.0.1:9000
	@HOST=$(HOST) PORT=$(or $(PORT),9000) exec $(BIN)/python -m portal.sandbox

# The tests start the server hundreds of times; without bytecode each start would compile it again.
test test-long test-fast test-racing durations fuzz: export PYTHONDONTWRITEBYTECODE :=

# Five processes keep two processors busy, because the tests of servers mostly wait.
PROCESSES ?= 5
# What failed beside other tests runs again alone, whatever the time: a machine that stalls for
# seconds exceeds limits of the portal itself, such as the 5 s of a database statement.
tested = $(BIN)/python -m pytest $(1) -n $(PROCESSES) || { test $$? -eq 1 && SLOW_TESTS_UNTIL= $(BIN)/python -m pytest $(1) --last-failed --last-failed-no-failures none; }

test: $(VENV)/dev ## what a landing needs
	@sh tests/install_system_packages.sh
	@$(BIN)/python -m tests.quality.tools
	@$(call tested,-m "not long")

test-long: $(VENV)/dev ## the rest: other servers, restores, the look of pages, random runs, every example
	@sh tests/install_system_packages.sh
	@$(call tested,-m long)

test-fast: $(VENV)/dev ## the tests that start no server, browser or PostgreSQL
	@$(BIN)/python -m pytest -m "not slow and not upstream and not long" -n 2

# The tests in which threads and connections race, because Python's own locks change between versions.
RACING := tests/access tests/gateway tests/storage tests/system tests/upstream tests/web/http/test_rate_limits.py

test-newest: ## a short part of the tests on the newest Python that is installed
	@newest=$$(sh tests/newest_python.sh) && $(MAKE) --no-print-directory PYTHON="$$newest" test-racing

test-racing: $(VENV)/constraints.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -c $(VENV)/constraints.txt \
		pytest pytest-xdist hypothesis markupever turbohtml syrupy trustme
	@$(BIN)/python --version
	@$(BIN)/python -m pytest -m "not slow and not long" -n 2 $(RACING)

durations: $(VENV)/dev ## tests/durations.txt, measured again
	@for tier in "not long" long; do \
		echo "-m \"$$tier\", beside a load of $$(cut -d ' ' -f 1 /proc/loadavg)"; \
		$(BIN)/python -m pytest -m "$$tier" -n $(PROCESSES) --durations=0 --durations-min=1 | grep -E '^[0-9.]+s |passed'; \
	done > tests/durations.txt

fuzz: $(VENV)/dev ## the long fuzz runs (the other targets have a short form of each; FUZZ_MINUTES, STATES_SEED, TYPED_SEED)
	@FUZZ=full $(BIN)/python -m pytest tests/hostile tests/browser/test_hostile_strings.py tests/states \
		tests/web/test_fault_matrix.py tests/upstream/test_origin.py tests/fakes/test_faults.py \
		tests/batch/test_killed_server.py tests/client/test_killed_list.py tests/outages/test_rolling_restart.py \
		tests/outages/test_key_rotation.py tests/outages/test_workers.py

check: $(VENV)/dev ## ruff, mypy --strict, the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

bench: $(VENV)/dev ## ratios against nginx, Varnish, a plain app and the direct call (BENCH_SECONDS)
	@$(BIN)/python -m bench

quality: $(VENV)/dev ## axe, IBM's engine, HTML validity and weight of the pages, Lighthouse on ten, Firefox and WebKit (needs npm, Java)
	@sh tests/install_system_packages.sh chromium engines
	@$(BIN)/python -m tests.quality

pictures: $(VENV)/dev ## the README's screenshots, taken again
	@sh tests/install_system_packages.sh chromium
	@$(BIN)/python -m tests.quality.pictures

font: $(VENV)/dev ## the fonts in static/fonts, made again (needs npm)
	@$(BIN)/python -m tests.quality.font
	@$(BIN)/python -m tests.quality.plate_font

icons: $(VENV)/dev ## the icons and the social card in static/icons, drawn again
	@sh tests/install_system_packages.sh chromium
	@$(BIN)/python -m tests.quality.icons

pins: ## compile requirements*.in into exact versions with hashes (needs uv)
	@for name in requirements requirements-dev requirements-otel requirements-signing requirements-oidc; do \
		uv pip compile -q --universal --python-version 3.11 --no-emit-index-url --generate-hashes \
			--custom-compile-command "make pins" $$name.in -o $$name.txt || exit 1; \
	done

# BASE is the base image, EXTRAS are optional dependencies, as in EXTRAS="oidc signing otel". BUILDER
# is the program with its options, as in
# BUILDER="buildah --storage-driver vfs" BUILD_FLAGS="--isolation chroot".
IMAGE ?= dossie-veicular
BASE ?= docker.io/library/debian:bookworm-slim
BUILDER ?= $(firstword $(foreach each,buildah docker,$(shell command -v $(each))))
image: ## the container image of deploy/, by buildah or docker (IMAGE, BASE, EXTRAS)
	@test -n "$(BUILDER)" || { echo "make image needs buildah or docker"; exit 1; }
	$(BUILDER) build $(if $(findstring buildah,$(BUILDER)),--format docker) --build-arg BASE=$(BASE) $(if $(EXTRAS),--build-arg EXTRAS="$(EXTRAS)") \
		$(BUILD_FLAGS) --file deploy/Dockerfile --tag $(IMAGE) .

test-image: $(VENV)/dev ## builds the image on a base of Debian's packages, runs and searches it (root)
	@IMAGE_TEST=1 $(BIN)/python -m pytest tests/deploy/test_image.py

client: $(VENV)/constraints.txt ## the wheel and sdist of client/, in client/dist/
	@$(BIN)/pip install --quiet --disable-pip-version-check -c $(VENV)/constraints.txt build
	@rm -rf client/dist
	@$(BIN)/python -m build --outdir client/dist client

clean: ## drop the venv and every cache (the store in instance/ stays)
	rm -rf .venv .venv-* .quality .mypy_cache .pytest_cache .ruff_cache .hypothesis
