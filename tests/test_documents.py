"""README, CONTRIBUTING and docs/ name only files and code that exist."""

import re
from functools import cache
from pathlib import Path

import pytest

from portal.settings import Settings

CHECKOUT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    CHECKOUT / "README.md",
    CHECKOUT / "CONTRIBUTING.md",
    *sorted((CHECKOUT / "docs").rglob("*.md")),
]
PACKAGES = [path.name for path in (CHECKOUT / "portal").iterdir() if path.is_dir()]
# The documents may omit portal/ in a package's path, and templates/ in a template's path.
ROOTS = ("", "portal/", "templates/")
OURS = re.compile(
    r"(portal|tests|templates|static|bench|deploy|docs|components|panels|"
    rf"{'|'.join(PACKAGES)})/[\w./*-]*"
)
NAMED = re.compile(r"`(?:\w+\.)?(?!portal_)(_?[A-Za-z]\w*)(?:\(\))?`")
# Names of at least two words: of constants, classes, functions and modules. NAMED omits metrics
# (portal_…), because prometheus-client appends a suffix to their names.
IDENTIFIER = re.compile(r"_?[A-Z][A-Z0-9]*(_[A-Z0-9]+)+|([A-Z][a-z]+){2,}|_?[a-z]+(_[a-z0-9]+)+")
# Names that belong to Debian, nginx, Caddy, Go, Kubernetes, SQLAlchemy or Linux.
FOREIGN = {
    *("SCHED_BATCH", "SCHED_IDLE", "proxy_cache_lock", "close_notify", "create_all"),
    *("client_body_timeout", "reverse_proxy", "ReverseProxy", "response_header_timeout"),
    *("proxy_read_timeout", "RollingUpdate", "batch_alter_table"),
    *("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER", "OTEL_TRACES_SAMPLER"),
    "OTEL_SERVICE_NAME",
}
SUFFIXES = {".py", ".html", ".js", ".yml", ".yaml", ".env", ".conf", ".sh", ".toml", ".service"}
MADE_LATER = {"deploy/secrets"}  # made by deploy/make_secrets.sh
BESIDE = re.compile(r"`(\w+)`(?: and `(\w+)`)?,?\s+(?:of|in|from|at)\s+`([\w./-]+\.py)`")


def prose(document: Path) -> str:
    return re.sub(r"^```.*?^```", "", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def words() -> set[str]:
    """Return all words in code, templates and deployment files, and all settings."""
    files = [
        path
        for folder in ("portal", "tests", "bench", "deploy", "templates", "static/js")
        for path in (CHECKOUT / folder).rglob("*")
        if path.suffix in SUFFIXES and path != Path(__file__).resolve()
    ]
    text = "\n".join(path.read_text("utf-8") for path in [*files, CHECKOUT / "Makefile"])
    settings = {name.upper() for name in Settings.__struct_fields__}
    secrets = {f"{name}_FILE" for name in settings}
    return set(re.findall(r"\w+", text)) | settings | secrets


def exists(path: str) -> bool:
    return any(True for root in ROOTS for _ in CHECKOUT.glob(f"{root}{path}".rstrip("/")))


def defines(source: str, name: str) -> bool:
    """Return whether a source defines a class, function, constant or field of that name."""
    return bool(
        re.search(rf"^\s*(?:class |(?:async )?def )?{name}\b\s*[(:=\[]", source, re.MULTILINE)
    )


def missing(text: str) -> list[str]:
    """Return the paths and names in backticks that the source tree lacks."""
    quoted = re.findall(r"`([^`\n]+)`", text)
    paths = {each for each in quoted if OURS.fullmatch(each)} - MADE_LATER
    absent = sorted(path for path in paths if not exists(path))
    names = {name for name in NAMED.findall(text) if IDENTIFIER.fullmatch(name)} - FOREIGN
    absent += sorted(names - words())
    for *beside, path in BESIDE.findall(text):
        files = [CHECKOUT / root / path for root in ROOTS if (CHECKOUT / root / path).exists()]
        absent += [
            f"{name} in {path}"
            for name in filter(None, beside)
            if files and not defines(files[0].read_text("utf-8"), name)
        ]
    return absent


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_document_names_what_exists(document: Path) -> None:
    assert missing(prose(document)) == []


def test_absent_names_are_found() -> None:
    assert missing("`FACT_LABELS`") == ["FACT_LABELS"]
    assert missing("`COOLDOWN_S` in `portal/presentation/vehicle/facts.py`") != []
    assert missing("`portal/vehicle/panel.py` and `vehicle/query.py`") == [
        *("portal/vehicle/panel.py", "vehicle/query.py")
    ]
    assert (
        missing("`COOLDOWN_S` in `portal/upstream/breaker.py`, `tests/upstream/test_b*.py`") == []
    )
