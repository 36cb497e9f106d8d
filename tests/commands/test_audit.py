"""The commands ``audit``, ``audit verify`` and ``subject``, and what other commands write."""

import json

import pytest
from sqlalchemy import update

from portal.storage.tables import trail as table
from tests.commands.test_ledger_and_purge import run_command
from tests.conftest import PortalFactory
from tests.fakes.in_process import InProcessPortal

PLATE = "ABC1D23"
COLUMNS = ["at", "who", "act", "face", "plate", "purpose", "number"]


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    here = portal()
    for plate in (PLATE, "LMP0A01"):
        assert here.get(f"/detran/v1/decode/{plate}").status_code == 200
    here.parts.trail.flush()
    return here


def test_audit_prints_each_row_as_a_table_csv_and_json(here: InProcessPortal) -> None:
    rows = json.loads(run_command(here, "audit", "--json").output)
    assert [(row["who"], row["act"], row["face"], row["plate"]) for row in rows] == [
        ("settings:1", "asked", "api", PLATE),
        ("settings:1", "asked", "api", "LMP0A01"),
    ]
    assert all([*row] == COLUMNS for row in rows)
    header, *lines = run_command(here, "audit", "--csv").output.splitlines()
    assert header.split(",") == COLUMNS
    assert lines == [",".join(row.values()) for row in rows]
    assert len(run_command(here, "audit").output.splitlines()) == 2


@pytest.mark.parametrize(
    ("words", "plates"),
    [
        (("--plate", "abc-1d23"), [PLATE]),
        (("--plate", "ABC1323"), [PLATE]),  # the other form of the plate
        (("--person", "settings:1"), [PLATE, "LMP0A01"]),
        (("--person", "bia"), []),
        (("--month", "2020-01"), []),
    ],
)
def test_audit_filters(here: InProcessPortal, words: tuple[str, ...], plates: list[str]) -> None:
    rows = json.loads(run_command(here, "audit", "--json", *words).output)
    assert [row["plate"] for row in rows] == plates


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit", "--person", "nix"), "No row by nix. The trail begins on {}."),
        (("audit", "--month", "2020-01"), "No row of 2020-01. The trail begins on {}."),
        (
            ("subject", "QQQ1A11"),
            "No row about QQQ1A11 or QQQ1011. The trail begins on {}; the rows of a purged vehicle "
            "do not name it.",
        ),
        (
            ("audit", "--person", "nix", "--plate", PLATE),
            "No row by nix about ABC1D23 or ABC1323. The trail begins on {}; the rows of a purged "
            "vehicle do not name it.",
        ),
    ],
)
def test_empty_answer_names_what_was_searched_on_stderr(
    here: InProcessPortal, words: tuple[str, ...], said: str
) -> None:
    first = json.loads(run_command(here, "audit", "--json").stdout)[0]
    done = run_command(here, *words)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"{said.format(first['at'][:10])}\n"
    for form in ("--csv", "--json"):
        assert run_command(here, *words, form).stderr == ""


def test_rows_are_printed_without_a_note(here: InProcessPortal) -> None:
    for words in (("audit",), ("subject", PLATE)):
        done = run_command(here, *words)
        assert (bool(done.stdout), done.stderr) == (True, "")


def test_empty_trail_is_named(portal: PortalFactory) -> None:
    done = run_command(portal(), "subject", PLATE)
    assert done.stderr.startswith("No row about ABC1D23 or ABC1323. The trail is empty; ")


@pytest.mark.parametrize(
    "words", [("--month", "11-2026"), ("--plate", "X"), ("--csv", "--json"), ("verify", "x")]
)
def test_wrong_words_exit_2(here: InProcessPortal, words: tuple[str, ...]) -> None:
    assert run_command(here, "audit", *words).exit_code == 2


def test_verify_names_the_first_changed_row(here: InProcessPortal) -> None:
    done = run_command(here, "audit", "verify")
    assert done.exit_code == 0
    assert done.output.startswith("2 rows: none is missing or changed. The last is 2, ")
    with here.parts.database.writing() as db:
        db.execute(update(table).where(table.c.id == 2).values(who="bia"))
    done = run_command(here, "audit", "verify")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "Row 2 was changed, or is not of this portal.\n"
    done = run_command(here, "audit", "verify", "--json")
    assert done.exit_code == 1
    assert json.loads(done.output)["fault"] == "Row 2 was changed, or is not of this portal."


def test_purge_prints_a_receipt_without_the_plate_and_leaves_the_rows(
    here: InProcessPortal,
) -> None:
    done = run_command(here, "purge", PLATE, "--json")
    assert done.exit_code == 0, done.output
    receipt = json.loads(done.stdout)
    assert receipt["by"].startswith("command")
    rows = json.loads(run_command(here, "audit", "--json").output)
    assert [(row["act"], row["plate"], row["number"]) for row in rows] == [
        ("asked", "", ""),
        ("asked", "LMP0A01", ""),
        ("purged", "", str(receipt["number"])),
    ]
    assert rows[-1]["who"] == receipt["by"]
    assert PLATE not in done.stdout
    assert json.loads(run_command(here, "subject", PLATE, "--json").output) == []
    assert run_command(here, "audit", "verify").exit_code == 0
    again = run_command(here, "purge", PLATE)
    assert f"Receipt: purge {receipt['number'] + 2}, " in again.stderr


def test_commands_without_a_trail_say_so(portal: PortalFactory) -> None:
    here = portal(AUDIT_DAYS="0")
    done = run_command(here, "subject", PLATE)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "PORTAL_AUDIT_DAYS is 0: no trail is kept.\n"
