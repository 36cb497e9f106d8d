"""Exports as spreadsheet programs open them: LibreOffice, Python's csv, openpyxl."""

import csv
import io
import shutil
import subprocess
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from portal.batch.typed_list import read_list
from portal.presentation.exports.batches import COLUMNS
from portal.presentation.exports.tables import Cell, Table, csv_lines, json_lines, write_workbook

MOMENT = datetime(2026, 11, 23, 15, 4, 5, tzinfo=UTC)  # 12:04:05 in São Paulo
LOCAL = datetime.fromisoformat("2026-11-23T12:04:05")
# Every kind of column, texts that look like formulas, and a text with separators.
FIRST: dict[str, Cell] = {
    "plate": "ABC1D23",
    "state": "done",
    "verdict": "blocked",
    "headline": '=HYPERLINK("http://example.invalid";"x")',
    "vehicle": 'Fiat "Uno"; 1,0 ção',
    "year": "2012/2013",
    "fines_open": 45,
    "fines_amount": Decimal("13016.50"),
    "fines_enforceable": 3,
    "restrictions": 0,
    "fipe_code": "+004",
    "fipe_low": Decimal("-1.00"),
    "fipe_high": Decimal("1234567.89"),
    "fetched_at": MOMENT,
    "missing": "@SUM(1)",
    "expired": "-1+1",
}
# A Renavam, and texts that a spreadsheet would read as numbers or dates.
SECOND: dict[str, Cell] = {
    "plate": "00000000191",
    "state": "pending",
    "headline": "00012345620218260100",
    "vehicle": "1.000",
    "year": "1/2",
    "fipe_code": "12E3",
    "missing": "0123",
    "expired": "1,5",
    "cause": "1234567890123456",
    "not_asked": "004278-1",
}


def table() -> Table:
    names = [column.name for column in COLUMNS]
    return Table("resultados", COLUMNS, [[row.get(n) for n in names] for row in (FIRST, SECOND)])


def content() -> str:
    return "".join(csv_lines(table()))


def python_cells() -> list[list[str]]:
    text = content().removeprefix("\ufeff")
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=";"))


def test_csv_module_reads_the_cells() -> None:
    titles, first, second = python_cells()
    assert titles == [column.name for column in COLUMNS]
    found = dict(zip(titles, first, strict=True))
    assert found["vehicle"] == FIRST["vehicle"]
    assert (found["fines_amount"], found["fipe_high"]) == ("13016,50", "1234567,89")
    assert found["fetched_at"] == "23/11/2026 12:04:05"
    found = dict(zip(titles, second, strict=True))
    assert found["plate"] == "0000000019-1"
    texts = {name: cell for name, cell in found.items() if name not in ("plate", "state") and cell}
    assert texts.pop("not_asked") == "004278-1"  # a spreadsheet keeps this text
    assert texts == {name: f"'{SECOND[name]}" for name in texts}


def test_exported_csv_is_the_list_of_a_new_batch() -> None:
    found = read_list("", content().encode())
    assert [subject.text for subject in found.subjects] == ["ABC1D23", "00000000191"]
    assert found.wrong == ()


def test_programs_get_a_renavam_of_eleven_digits() -> None:
    *_, second = csv.reader(csv_lines(table(), "rfc4180"))
    assert [cell for cell in second if cell] == list(SECOND.values())
    *_, last = json_lines(table())
    assert b'"plate":"00000000191"' in last


@pytest.fixture(scope="module")
def opened_by_libreoffice(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The CSV, opened by LibreOffice with Brazilian settings and saved as XLSX.

    The options are those of a file opened by hand: semicolons, quotation marks, UTF-8, from line 1,
    and automatic detection of the columns' types.
    """
    program = shutil.which("soffice")
    if program is None:
        pytest.skip("LibreOffice is not installed")
    folder: Path = tmp_path_factory.mktemp("office")
    (folder / "lote.csv").write_text(content(), "utf-8", newline="")
    subprocess.run(
        [
            program,
            "--headless",
            f"-env:UserInstallation=file://{folder}/profile",
            "--infilter=Text - txt - csv (StarCalc):59,34,76,1,,1046,false,true,false,false,false",
            "--convert-to",
            "xlsx:Calc MS Excel 2007 XML",
            "--outdir",
            str(folder / "out"),
            str(folder / "lote.csv"),
        ],
        check=True,
        capture_output=True,
        timeout=300,
    )
    return openpyxl.load_workbook(folder / "out" / "lote.xlsx").active


@pytest.mark.slow
@pytest.mark.long
def test_libreoffice_opens_the_csv_with_the_same_cells(opened_by_libreoffice: Any) -> None:
    sheet = opened_by_libreoffice
    assert sheet.dimensions == "A1:AA3"
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    for row, expected in zip(rows, python_cells(), strict=True):
        assert [_as_csv(value) for value in row] == [_number_or_text(text) for text in expected]
    first = dict(zip(rows[0], sheet[2], strict=True))
    assert first["plate"].value == "ABC1D23"
    second = dict(zip(rows[0], rows[2], strict=True))
    assert [second[name] for name in SECOND] == python_cells()[2][:2] + [
        text for text in python_cells()[2][2:] if text
    ]
    assert first["fines_amount"].value == 13016.5
    assert first["fipe_high"].value == 1234567.89
    assert first["fetched_at"].value == LOCAL


@pytest.mark.slow
@pytest.mark.long
def test_libreoffice_finds_no_formula(opened_by_libreoffice: Any) -> None:
    types = {cell.data_type for row in opened_by_libreoffice.iter_rows() for cell in row}
    assert "f" not in types
    assert "e" not in types


def test_workbook_has_typed_cells_and_no_formula(tmp_path: Path) -> None:
    file = io.BytesIO()
    write_workbook(table(), file)
    (sheet,) = openpyxl.load_workbook(file).worksheets
    titles, first, second = sheet.iter_rows()
    found = {title.value: cell for title, cell in zip(titles, first, strict=True)}
    kinds = {name: cell.data_type for name, cell in found.items()}
    assert kinds["fines_open"] == kinds["fines_amount"] == kinds["fipe_low"] == "n"
    assert found["fetched_at"].value == LOCAL
    assert found["fipe_low"].value == -1
    assert found["fipe_low"].number_format == '"R$" #,##0.00'
    assert {cell.data_type for row in (titles, first, second) for cell in row} <= {"s", "n", "d"}
    assert (second[0].value, second[0].data_type) == ("00000000191", "s")  # with the leading zeros
    assert found["vehicle"].value == FIRST["vehicle"]


def _as_csv(value: Any) -> Any:
    """Return a cell's value as the CSV file writes it, but a number as a float."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%d/%m/%Y %H:%M:%S")
    return float(value) if isinstance(value, int | float) else value


def _number_or_text(text: str) -> Any:
    """Return the number that a Brazilian spreadsheet reads in a text, or the text."""
    try:
        return float(text.replace(".", "").replace(",", "."))
    except ValueError:
        return text
