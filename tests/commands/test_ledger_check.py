"""``ledger check`` and ``ledger --plate``, ``token set`` and ``token rotate``, on a real ledger."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.fakes.answers import path_of
from tests.fakes.in_process import PRICED, InProcessPortal

PRICES = {name.removeprefix("PORTAL_"): price for name, price in PRICED.items()}


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    found = portal(**PRICES)
    for plate in ("ABC1D23", "LMP0A01"):
        assert found.get(path_of("decode", plate)).status_code == 200
    assert found.get(path_of("renajud")).status_code == 200
    return found


def run(here: InProcessPortal, *words: str) -> Any:
    return here.app.test_cli_runner().invoke(args=[*words])


def statement(here: InProcessPortal, file: Path) -> list[str]:
    rows = json.loads(run(here, "ledger", "--json").stdout)
    lines = ["time,operation,price"]
    lines += [f"{each['sent_at']},{each['operation']},0.30" for each in rows]
    file.write_text("\n".join(lines))
    return lines


def test_equal_statement_has_no_difference(here: InProcessPortal, tmp_path: Path) -> None:
    file = tmp_path / "statement.csv"
    statement(here, file)
    done = run(here, "ledger", "check", str(file))
    assert (done.exit_code, done.stdout) == (0, "3 rows, 3 of them in the ledger.\n")


def test_differences_are_listed(here: InProcessPortal, tmp_path: Path) -> None:
    file = tmp_path / "statement.csv"
    lines = statement(here, file)
    file.write_text("\n".join([lines[0], lines[1].replace("0.30", "0.45"), lines[2], lines[2]]))
    done = run(here, "ledger", "check", str(file), "--json")
    assert done.exit_code == 1
    assert sorted(each["what"] for each in json.loads(done.stdout)) == [
        *("not_billed", "price", "twice")
    ]
    text = run(here, "ledger", "check", str(file))
    assert (text.exit_code, text.stdout.count("\n")) == (1, 8)
    assert "1: billed twice." in text.stdout


@pytest.mark.parametrize(
    ("content", "columns", "why"),
    [
        ("a,b\n1,2\n", "when=x", "time=NAME,operation=NAME"),
        ("a,b\n1,2\n", "time=nothing", "the header has no column 'nothing'"),
        ("a,b\n1,2\n", None, "--columns time=NAME,operation=NAME,price=NAME"),
        ("", None, "the file is empty"),
        ("time,operation,price\n", None, "the file has no rows"),
        ("time,operation,price\nx,decode,1\n", None, "line 2: 'x' is no time"),
    ],
)
def test_unreadable_statement_is_wrong_words(
    here: InProcessPortal, tmp_path: Path, content: str, columns: str | None, why: str
) -> None:
    file = tmp_path / "statement.csv"
    file.write_text(content)
    words = () if columns is None else ("--columns", columns)
    done = run(here, "ledger", "check", str(file), *words)
    assert done.exit_code == 2
    assert why in done.output
    assert "Traceback" not in done.output


def test_ledger_of_a_plate_has_its_calls_alone(here: InProcessPortal) -> None:
    rows = json.loads(run(here, "ledger", "--plate", "lmp-0a01", "--json").stdout)
    assert [each["operation"] for each in rows] == ["decode"]
    assert run(here, "ledger", "--plate", "XX").exit_code == 2


def test_token_is_changed_and_replaced(here: InProcessPortal) -> None:
    assert run(here, "token", "issue", "ana").exit_code == 0
    changed = run(here, "token", "set", "ana", "--daily-limit", "3", "--monthly-budget", "9")
    assert (changed.exit_code, changed.stdout) == (0, "Changed ana.\n")
    rotated = run(here, "token", "rotate", "ana", "--overlap", "1h")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", rotated.stdout.splitlines()[-1])
    former, later = json.loads(run(here, "token", "list", "--json").stdout)
    assert (former["name"], later["name"]) == ("ana#1", "ana")
    assert (later["daily_limit"], later["monthly_budget"]) == (3, 9)
    assert run(here, "token", "set", "ana").exit_code == 2
    assert run(here, "token", "set", "nobody", "--daily-limit", "3").exit_code == 1
    assert run(here, "token", "rotate", "nobody").exit_code == 1
