"""Writes tables to files: CSV, JSON Lines, and XLSX with typed cells."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import IO, Any, Final, Literal

from portal.presentation.exports.tables import (
    Cell,
    Dialect,
    Kind,
    Table,
    csv_lines,
    json_lines,
    safe_text,
)
from portal.system.local_time import local_time

Format = Literal["csv", "jsonl", "xlsx"]

# The width of a column of each kind, and the format of its numbers.
_STYLES: Final[Mapping[Kind, tuple[int, str]]] = {
    "text": (22, ""),
    "subject": (22, ""),
    "integer": (10, ""),
    "money": (14, '"R$" #,##0.00'),
    "date": (12, "dd/mm/yyyy"),
    "moment": (17, "dd/mm/yyyy hh:mm"),
    "flag": (8, ""),
}
_LONGEST_TEXT: Final = 32_767  # the most characters that XLSX allows in a cell


def write_table(
    table: Table, file: IO[bytes], file_format: Format, dialect: Dialect = "brazil"
) -> None:
    if file_format == "xlsx":
        write_workbook(table, file)
        return
    csv = (line.encode() for line in csv_lines(table, dialect))
    # A SpooledTemporaryFile compares its size with its limit only after ``writelines``.
    for line in csv if file_format == "csv" else json_lines(table):
        file.write(line)


def write_workbook(table: Table, file: IO[bytes]) -> None:
    """Write a table as an XLSX file, one row at a time, to save memory."""
    import xlsxwriter  # imported only when needed, because most requests write no XLSX

    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    book = xlsxwriter.Workbook(file, options)
    sheet = book.add_worksheet(table.name)
    title = book.add_format({"bold": True, "bottom": 1})
    formats = {
        kind: book.add_format({"num_format": text}) for kind, (_, text) in _STYLES.items() if text
    }
    for number, column in enumerate(table.columns):
        sheet.set_column(number, number, _STYLES[column.kind][0])
        sheet.write_string(0, number, column.name, title)
    sheet.freeze_panes(1, 1)
    last = 0
    for last, cells in enumerate(table.rows, start=1):
        for number, (column, cell) in enumerate(zip(table.columns, cells, strict=True)):
            _write(sheet, last, number, cell, formats.get(column.kind))
    sheet.autofilter(0, 0, last, len(table.columns) - 1)
    book.close()


def _write(sheet: Any, row: int, column: int, cell: Cell, cell_format: Any) -> None:
    match cell:
        case None:
            return
        case bool():
            sheet.write_boolean(row, column, cell)
        case int() | Decimal():
            sheet.write_number(row, column, cell, cell_format)
        case datetime():
            moment = local_time(cell) if cell.tzinfo else cell
            sheet.write_datetime(row, column, moment.replace(tzinfo=None), cell_format)
        case date():
            sheet.write_datetime(row, column, cell, cell_format)
        case _:
            sheet.write_string(row, column, safe_text(cell)[:_LONGEST_TEXT])
