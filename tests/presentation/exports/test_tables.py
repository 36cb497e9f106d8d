"""CSV, JSON Lines and XLSX of typed cells, read by Python's csv, by LibreOffice and openpyxl."""

import csv
import io
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.presentation.exports.tables import (
    Cell,
    Column,
    Dialect,
    Format,
    Table,
    csv_lines,
    json_lines,
    safe_text,
    write_table,
    write_workbook,
)
from tests.hostile.strings import STRINGS

COLUMNS = (
    Column("text", "text"),
    Column("integer", "integer"),
    Column("money", "money"),
    Column("date", "date"),
    Column("moment", "moment"),
    Column("flag", "flag"),
)
MOMENT = datetime(2026, 11, 23, 2, 5, 7, tzinfo=UTC)
ROWS: list[list[Cell]] = [
    ['João; "Ana", 1', 1234, Decimal("-1234.50"), date(2026, 1, 31), MOMENT, True],
    [None, None, None, None, None, None],
    ["=1+1", 0, Decimal("0.00"), None, None, False],
]


def table(rows: list[list[Cell]] = ROWS) -> Table:
    return Table("tabela", COLUMNS, rows)


def text_of(dialect: Dialect, rows: list[list[Cell]] = ROWS) -> str:
    return "".join(csv_lines(table(rows), dialect))


def test_csv_for_brazilian_spreadsheets() -> None:
    assert text_of("brazil") == (
        "\ufefftext;integer;money;date;moment;flag\r\n"
        '"João; ""Ana"", 1";1234;-1234,50;31/01/2026;22/11/2026 23:05:07;sim\r\n'
        ";;;;;\r\n"
        "'=1+1;0;0,00;;;não\r\n"
    )


def test_csv_by_rfc_4180() -> None:
    assert text_of("rfc4180") == (
        "text,integer,money,date,moment,flag\r\n"
        '"João; ""Ana"", 1",1234,-1234.50,2026-01-31,2026-11-22 23:05:07,true\r\n'
        ",,,,,\r\n"
        "'=1+1,0,0.00,,,false\r\n"
    )


def test_json_lines_keep_exact_numbers_and_the_time_zone() -> None:
    lines = list(json_lines(table()))
    assert b'"money":-1234.50' in lines[0]
    assert json.loads(lines[0])["moment"] == "2026-11-22T23:05:07-03:00"
    assert json.loads(lines[1]) == dict.fromkeys(column.name for column in COLUMNS)


def test_hostile_texts_are_one_cell_and_no_formula() -> None:
    for text in STRINGS:
        check_cell(text)


@given(st.text())
def test_any_text_is_one_cell_and_no_formula(text: str) -> None:
    check_cell(text)


def check_cell(text: str) -> None:
    for dialect, separator in (("brazil", ";"), ("rfc4180", ",")):
        lines = text_of(dialect, [[text, *[None] * 5]])  # type: ignore[arg-type]
        (row,) = list(csv.reader(io.StringIO(lines, newline=""), delimiter=separator))[1:]
        assert len(row) == len(COLUMNS), text
        assert not row[0].startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize(
    "hidden", ["\u200b", "\u202e", "\ufeff", "\x00", "\xad\u2060", "\t", "\u200b\t"]
)
@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_formula_behind_an_invisible_character_gets_an_apostrophe(
    hidden: str, formula: str
) -> None:
    assert safe_text(hidden + formula).replace(" ", "") == f"'{formula}"


@pytest.mark.parametrize(
    "text",
    ["0123", "00", "123456789012", "1234567890123456", "1.000", "0,5", "12E3", "1-2", "1/2/2020"],
)
def test_text_that_a_spreadsheet_would_change_gets_an_apostrophe(text: str) -> None:
    assert text_of("brazil", [[text, *[None] * 5]]).endswith(f"\r\n'{text};;;;;\r\n")
    rfc4180 = list(csv.reader(io.StringIO(text_of("rfc4180", [[text, *[None] * 5]]))))
    assert rfc4180[1][0] == text


@pytest.mark.parametrize(
    "text",
    ["0", "7455", "12345678901", "2012/2013", "2026-11", "08:30", "004278-1", "Art. 5.", "."],
)
def test_text_that_a_spreadsheet_shows_as_it_is_stays_unmarked(text: str) -> None:
    assert text_of("brazil", [[text, *[None] * 5]]).endswith(f"\r\n{text};;;;;\r\n")


def test_workbook_has_typed_cells() -> None:
    file = io.BytesIO()
    write_workbook(table(), file)
    (sheet,) = openpyxl.load_workbook(file).worksheets
    first = [cell.value for cell in sheet[2]]
    assert first[:3] == ['João; "Ana", 1', 1234, -1234.5]
    assert first[3] == datetime(2026, 1, 31)  # noqa: DTZ001 - a cell has no time zone
    assert first[4] == datetime(2026, 11, 22, 23, 5, 7)  # noqa: DTZ001
    assert first[5] is True
    assert [cell.value for cell in sheet[3]] == [None] * 6
    assert sheet["A4"].data_type == "s"
    assert sheet.freeze_panes == "B2"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
def test_libreoffice_reads_the_same_cells(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(text_of("rfc4180"), "utf-8")
    subprocess.run(
        [
            "soffice",
            "--headless",
            f"-env:UserInstallation=file://{tmp_path}/profile",
            *("--convert-to", "csv", "--outdir", tmp_path / "out", "in.csv"),
        ],
        cwd=tmp_path,
        check=True,
        timeout=120,
    )
    read = list(csv.reader((tmp_path / "out/in.csv").read_text("utf-8").splitlines()))
    assert read[1][0] == 'João; "Ana", 1'
    assert read[3][0].lstrip("'") == "=1+1"


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_rows_are_written_one_by_one(ending: Format) -> None:
    """A file that holds the first bytes in memory writes the rest to the disk meanwhile."""
    on_disk = []

    def rows() -> Iterator[list[Cell]]:
        for _ in range(200):
            yield ["x" * 100]
            on_disk.append(file.name is not None)

    with tempfile.SpooledTemporaryFile(max_size=10_000) as file:
        write_table(Table("table", [Column("text", "text")], rows()), file, ending)
    assert 80 < on_disk.index(True) < 105
