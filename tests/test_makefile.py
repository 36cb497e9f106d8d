"""The Makefile's virtual environment, and its messages during an installation."""

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[1]
# The environment without make's own variables, which ``make test`` exports to the tests.
ALONE = {
    name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))
}


@pytest.mark.slow
def test_failed_environment_is_removed(tmp_path: Path) -> None:
    """On Debian without python3-venv, ``venv`` fails but leaves an environment."""
    for name in ("Makefile", "requirements.txt"):
        shutil.copy(CHECKOUT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\ncase "$2" in\n'
        'venv) mkdir -p "$3/bin"; ln -s /bin/true "$3/bin/python"; exit 1;;\n'
        f'esac\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    done = subprocess.run(
        ["make", "run", f"PYTHON={python}"],
        cwd=tmp_path,
        env=ALONE,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert list(tmp_path.glob(".venv*")) == []


# A fake pip for 23 packages. The last one cannot be found if the file ``broken`` exists.
PIP = """#!/bin/sh
for number in $(seq 22); do echo "Collecting package-$number==1.0 (from -r requirements.txt)"; done
echo "Processing /wheels/last-1.0-py3-none-any.whl"
if [ -e "$(dirname "$0")/../../broken" ]; then echo "ERROR: no package-23" >&2; exit 1; fi
echo "Installing collected packages: package-1, package-2"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a fake pip and a fake server."""
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    packages = "".join(f"package-{number}==1.0\n    # via x\n" for number in range(1, 24))
    (tmp_path / "requirements.txt").write_text(packages)
    folder = tmp_path / ".venv/bin"
    folder.mkdir(parents=True)
    for name, text in (("pip", PIP), ("python", "#!/bin/sh\necho served\n")):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return tmp_path


def make_run(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "run", f"PYTHON={sys.executable}", "VENV=.venv"],
        cwd=folder,
        env=ALONE,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
def test_run_says_what_it_installs_once(checkout: Path) -> None:
    first = make_run(checkout)
    assert first.stdout.splitlines() == [
        "Installing requirements.txt into .venv, once.",
        "10 of 23",
        "20 of 23",
        "Unpacking",
        "served",
    ]
    assert (first.returncode, first.stderr) == (0, "")
    assert make_run(checkout).stdout == "served\n"


@pytest.mark.slow
def test_failed_installation_says_why_and_serves_nothing(checkout: Path) -> None:
    (checkout / "broken").touch()
    failed = make_run(checkout)
    assert failed.returncode != 0
    assert "ERROR: no package-23" in failed.stderr
    assert "served" not in failed.stdout
    (checkout / "broken").unlink()
    assert make_run(checkout).stdout.endswith("served\n")


@pytest.mark.slow
def test_terminal_shows_one_line_that_moves(checkout: Path) -> None:
    end, terminal = pty.openpty()
    with os.fdopen(end, "rb", 0) as shown:
        subprocess.run(
            ["make", "run", f"PYTHON={sys.executable}", "VENV=.venv"],
            cwd=checkout,
            env=ALONE,
            stdout=terminal,
            timeout=60,
            check=True,
        )
        os.close(terminal)
        text = shown.read(1 << 16).decode()
    assert "\r\x1b[K3 of 23  package-3\r\x1b[K4 of 23  package-4" in text
    assert "23 of 23  last\r" in text
    assert text.splitlines()[-1].endswith("\x1b[Kserved")
    assert text.count("\n") == 2


@pytest.mark.parametrize(
    "name", ["requirements", "requirements-dev", "requirements-otel", "requirements-signing"]
)
def test_each_pin_has_hashes(name: str) -> None:
    text = (CHECKOUT / f"{name}.txt").read_text().replace("\\\n", " ")
    pins = [line for line in text.splitlines() if "==" in line and not line.startswith("#")]
    assert pins and all("--hash=sha256:" in line for line in pins)


def test_every_installation_of_pins_compares_hashes() -> None:
    for path in ("Makefile", "deploy/Dockerfile", "docs/operating.md", "README.md"):
        for line in (CHECKOUT / path).read_text().splitlines():
            if "-r $(1)" in line or re.search(r"-r \S*requirements", line):
                assert "--require-hashes" in line, f"{path}: {line}"


@pytest.mark.slow
def test_constraints_have_the_versions_alone(tmp_path: Path) -> None:
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(CHECKOUT / name, tmp_path)
    folder = tmp_path / ".venv"
    folder.mkdir()
    (folder / "runtime").touch()
    subprocess.run(
        ["make", ".venv/constraints.txt", "VENV=.venv"], cwd=tmp_path, env=ALONE, check=True
    )
    text = (folder / "constraints.txt").read_text()
    assert "--hash" not in text and "\\" not in text
    assert re.search(r"^pytest==[0-9.]+$", text, re.MULTILINE)
