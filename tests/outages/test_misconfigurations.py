"""A misconfigured portal exits with status 1 and prints one line without secrets."""

import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from portal.serving import process as serving
from tests.effort import long
from tests.fakes import FaultUpstream, free_port
from tests.fakes.in_process import managed
from tests.fakes.processes import PortalProcess
from tests.outages.stored import PLATE, SECRET, lookup

pytestmark = pytest.mark.long

HIDDEN = "hunter2hunter2"
UPSTREAM = {"PORTAL_UPSTREAM_URL": "https://upstream.invalid"}
Arrange = Callable[[Path], object]


def write(name: str, content: bytes = b"") -> Arrange:
    def arrange(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)

    return arrange


def make_directory(name: str) -> Arrange:
    return lambda folder: (folder / name).mkdir(parents=True)


def nothing(_folder: Path) -> None: ...


# By name: the settings, and a function that prepares {folder}, an empty directory.
CASES: Mapping[str, tuple[Mapping[str, str], Arrange]] = {
    "port is no number": ({"PORT": "http"}, nothing),
    "port out of range": ({"PORT": "65536"}, nothing),
    "port zero": ({"PORT": "0"}, nothing),
    "host unknown": ({"HOST": "no-such-host.invalid"}, nothing),
    "host of another machine": ({"HOST": "192.0.2.1"}, nothing),
    "unknown setting": ({"PORTAL_UPSTREAM_TOKN": HIDDEN}, nothing),
    "no worker": ({"PORTAL_WORKERS": "0"}, nothing),
    "workers in words": ({"PORTAL_WORKERS": "two"}, nothing),
    "negative deadline": ({"PORTAL_DEADLINE": "-1"}, nothing),
    "endless deadline": ({"PORTAL_DEADLINE": "inf"}, nothing),
    "days of the trail in words": ({"PORTAL_AUDIT_DAYS": "a year"}, nothing),
    "privacy contact of two lines": ({"PORTAL_PRIVACY_CONTACT": "a\nb"}, nothing),
    "price is no number": ({"PORTAL_PRICE_DECODE": "R$ 0,30"}, nothing),
    "negative proxies": ({"PORTAL_TRUSTED_PROXIES": "-1"}, nothing),
    "limit without a period": ({"PORTAL_RATE_LIMIT_TOKEN": "600"}, nothing),
    "address of another kind": ({"PORTAL_UPSTREAM_URL": "ftp://upstream.invalid"}, nothing),
    "address with a query": ({"PORTAL_UPSTREAM_URL": f"https://u.invalid/?at={HIDDEN}"}, nothing),
    "address with a password": (
        {"PORTAL_UPSTREAM_URL": f"https://ana:{HIDDEN}@upstream.invalid"},
        nothing,
    ),
    "secondary alone": ({"PORTAL_UPSTREAM_SECONDARY_URL": "https://b.invalid"}, nothing),
    "credential with a line break": (UPSTREAM | {"PORTAL_UPSTREAM_TOKEN": f"{HIDDEN}\nx"}, nothing),
    "tokens in pass-through mode": (UPSTREAM | {"PORTAL_ACCESS_TOKENS": HIDDEN}, nothing),
    "signing key missing": (
        {"PORTAL_SIGNING_KEY_FILE": "{folder}/none", "PORTAL_SIGNING_KEY_PASSWORD": HIDDEN},
        nothing,
    ),
    "signing key junk": (
        {"PORTAL_SIGNING_KEY_FILE": "{folder}/key.p12", "PORTAL_SIGNING_KEY_PASSWORD": HIDDEN},
        write("key.p12", b"junk"),
    ),
    "signing password alone": ({"PORTAL_SIGNING_KEY_PASSWORD": HIDDEN}, nothing),
    "signing authority alone": ({"PORTAL_SIGNING_TSA_URL": "https://tsa.invalid/"}, nothing),
    "secret file missing": (UPSTREAM | {"PORTAL_UPSTREAM_TOKEN_FILE": "{folder}/none"}, nothing),
    "secret file empty": (
        UPSTREAM | {"PORTAL_UPSTREAM_TOKEN_FILE": "{folder}/token"},
        write("token"),
    ),
    "secret twice": (
        UPSTREAM
        | {"PORTAL_UPSTREAM_TOKEN": HIDDEN, "PORTAL_UPSTREAM_TOKEN_FILE": "{folder}/token"},
        write("token", HIDDEN.encode()),
    ),
    "redis address of another kind": ({"PORTAL_REDIS_URL": f"http://:{HIDDEN}@r.invalid"}, nothing),
    "redis without a key": ({"PORTAL_REDIS_URL": f"redis://:{HIDDEN}@127.0.0.1:1"}, nothing),
    "database of another kind": ({"PORTAL_DATABASE_URL": f"mysql://a:{HIDDEN}@d.invalid"}, nothing),
    "database out of reach": (
        {"PORTAL_DATABASE_URL": f"postgresql://ana:{HIDDEN}@127.0.0.1:1/portal"},
        nothing,
    ),
    "data directory is a file": ({"PORTAL_DATA_DIR": "{folder}/data"}, write("data")),
    "data directory cannot be made": ({"PORTAL_DATA_DIR": "/proc/none/data"}, nothing),
    "secret key of another form": (UPSTREAM, write("data/secret_key", HIDDEN.encode())),
    "database corrupt": (UPSTREAM, write("data/portal.sqlite", b"no database" * 1000)),
    "database is a directory": (UPSTREAM, make_directory("data/portal.sqlite")),
    "authorities missing": ({"SSL_CERT_FILE": "{folder}/none.pem"}, nothing),
    "authorities empty": ({"SSL_CERT_FILE": "{folder}/empty.pem"}, write("empty.pem")),
    "authorities junk": ({"SSL_CERT_FILE": "{folder}/junk.pem"}, write("junk.pem", b"junk")),
}


def settings_of(case: str, folder: Path) -> dict[str, str]:
    """Prepare the folder for a case and return its settings."""
    settings, arrange = CASES[case]
    arrange(folder)
    named = {name: value.replace("{folder}", str(folder)) for name, value in settings.items()}
    return {"PORTAL_DATA_DIR": str(folder / "data"), "PORTAL_WORKERS": "1", **named}


@pytest.mark.parametrize("case", CASES)
def test_misconfiguration_ends_the_start_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(serving, "serve", None)
    monkeypatch.setattr(serving, "set_up_logging", lambda *_: None)
    monkeypatch.setenv("HOST", "127.0.0.1")
    monkeypatch.setenv("PORT", str(free_port()))
    for name, value in settings_of(case, tmp_path).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as end:
        serving.main()
    line = str(end.value.code)
    assert line.startswith("dossie-veicular: ")
    assert "\n" not in line
    assert HIDDEN not in line


# One case for each part of the start that refuses.
@pytest.mark.parametrize(
    "case", ["port out of range", "secret twice", "database corrupt", "authorities junk"]
)
def test_misconfigured_process_exits_with_status_1_and_the_line(tmp_path: Path, case: str) -> None:
    with closing(PortalProcess(settings_of(case, tmp_path), workers=1)) as portal:
        with pytest.raises(AssertionError, match="ended with 1:"):
            portal.start()
        assert portal.output.startswith("dossie-veicular: "), portal.output
        assert portal.output.count("\n") == 1, portal.output
        assert HIDDEN not in portal.output


class FreshPortal(PortalProcess):
    """A portal in a new interpreter, because Python reads its own variables at start."""

    preloaded = False


@pytest.mark.parametrize(
    ("program", "settings"),
    [
        (PortalProcess, {"HOST": "localhost"}),
        *long(
            (FreshPortal, {"PYTHONIOENCODING": "ascii"}),
            (FreshPortal, {"PYTHONTZPATH": ""}),
        ),
        (FreshPortal, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),
        (
            PortalProcess,
            {"PORTAL_REDIS_URL": f"redis://:{HIDDEN}@127.0.0.1:1", "PORTAL_SECRET_KEY": SECRET},
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_odd_environment_serves(
    upstream: FaultUpstream, program: type[PortalProcess], settings: dict[str, str]
) -> None:
    with program(managed(upstream.url) | settings, workers=1) as portal:
        assert lookup(portal, PLATE).status == 200
        assert "Traceback" not in portal.output
        assert HIDDEN not in portal.output


def test_data_is_private_whatever_the_umask(upstream: FaultUpstream) -> None:
    made = FreshPortal(managed(upstream.url), workers=1)
    made.command = ["sh", "-c", 'umask 000; exec "$0" app.py', sys.executable]
    with made as portal:
        assert lookup(portal, PLATE).status == 200
        paths = [portal.data_dir, *portal.data_dir.rglob("*")]
        modes = {path.name: path.stat().st_mode & 0o077 for path in paths}
        assert set(modes.values()) == {0}, modes


def test_short_access_token_is_warned_of_and_not_printed(upstream: FaultUpstream) -> None:
    short = {**managed(upstream.url), "PORTAL_ACCESS_TOKENS": f"{'a' * 16},h7x"}
    for settings, warnings in ((short, 1), (managed(upstream.url), 0)):
        with PortalProcess(settings) as server:
            assert server.output.count("PORTAL_ACCESS_TOKENS has fewer than 16") == warnings
            assert "h7x" not in server.output
