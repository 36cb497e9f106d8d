"""README, the reference and ``make help`` agree with the code."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from portal.settings import Settings, SettingsError

CHECKOUT = Path(__file__).resolve().parents[1]
README = (CHECKOUT / "README.md").read_text("utf-8")
REFERENCE = (CHECKOUT / "docs/reference.md").read_text("utf-8")
MOST_LINES = 120  # that a newcomer reads to the end
PROSE = {"data_dir": "instance", "mask_names": "on"}
JSON_PATHS = ("/detran/", "/api/v1/")  # the reference's section "JSON API" and /api document them
# Browsers and scripts fetch these paths. People do not open them as pages.
ASSETS = {"/favicon.ico", "/manifest.webmanifest", "/placa/<>/painel/<>", "/static/<>"}
COMPUTED = {"secret_key", "database_url"}  # the reference describes their defaults in words


def documented_settings() -> dict[str, str]:
    table = REFERENCE.split("## Configuration")[1].split("\n## ")[0]
    found: dict[str, str] = {}
    for line in filter(lambda line: line.startswith("|"), table.splitlines()):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = re.findall(r"`([A-Z_]+)`", cells[0])
        if not names:
            continue
        plain = cells[1].replace("`", "")
        defaults = plain.split() if len(names) > 1 and plain != "none" else [plain]
        if len(defaults) == 1:
            defaults *= len(names)
        found |= dict(zip(names, defaults, strict=True))
    return found


def test_reference_documents_every_setting_with_its_default() -> None:
    documented = documented_settings()
    assert documented.keys() == {name.upper() for name in Settings.__struct_fields__}
    defaults = Settings()
    for name in Settings.__struct_fields__:
        if name in COMPUTED:
            continue
        value = getattr(defaults, name)
        shown = documented[name.upper()]
        if name in PROSE:
            assert shown == PROSE[name]
        elif value is None or value == ():
            assert shown == "none", name
        elif isinstance(value, str):
            assert shown == value
        else:
            assert Decimal(shown) == Decimal(str(value)), name


def test_reference_names_every_setting_that_may_come_from_a_file(tmp_path: Path) -> None:
    listed = REFERENCE.split("`PORTAL_<NAME>_FILE`:")[1].split("\n\n")[0]
    missing = str(tmp_path / "none")
    secrets = set()
    for field in Settings.__struct_fields__:
        with pytest.raises(SettingsError) as refused:
            Settings.from_environment({f"PORTAL_{field.upper()}_FILE": missing}, tmp_path)
        if "cannot be read" in str(refused.value):
            secrets.add(field.upper())
    assert set(re.findall(r"`([A-Z_]+)`", listed)) == secrets


def test_makefile_help_lists_every_target() -> None:
    makefile = (CHECKOUT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):(?!=)", makefile, re.MULTILINE))
    documented = set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))
    assert {"run", "test", "check", "sandbox", "help"} <= targets
    assert targets == documented


def test_reference_documents_every_page() -> None:
    routes = (CHECKOUT / "tests/golden/routes.txt").read_text("utf-8").splitlines()
    table = REFERENCE.split("## Pages")[1].split("\n## ")[0]
    documented = {nameless(path) for path in re.findall(r"`(/[^`?]*)[^`]*`", table)}
    pages = {nameless(rule) for rule in routes if not rule.startswith(JSON_PATHS)}
    assert documented == pages - ASSETS


def nameless(path: str) -> str:
    return re.sub(r"<[\w:]+>", "<>", path)


def test_readme_contains_no_local_path() -> None:
    assert not re.search(r"/(work|tmp|root|home)/", README + REFERENCE)


def test_newcomer_reads_the_readme_to_its_end() -> None:
    assert len(README.splitlines()) <= MOST_LINES
