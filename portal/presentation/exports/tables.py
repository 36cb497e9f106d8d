"""Tables as CSV, JSON Lines, and XLSX with typed cells.

The functions handle one row at a time, so a long table needs little memory.
"""

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from io import StringIO
from typing import IO, Any, Final, Literal

import msgspec

from portal.system.local_time import local_time
from portal.wording import IGNORABLE, Removal, day, is_shown

Cell = str | int | Decimal | date | datetime | bool | None
Dialect = Literal["brazil", "rfc4180"]
Format = Literal["csv", "jsonl", "xlsx"]
Kind = Literal["text", "subject", "integer", "money", "date", "moment", "flag"]

BYTE_ORDER_MARK: Final = "\ufeff"
# A spreadsheet treats a text that starts with one of these characters as a formula.
_FORMULA_STARTS: Final = ("=", "+", "-", "@")
# A spreadsheet with Brazilian settings changes every text that matches this pattern. It drops
# leading zeros and dots between thousands. It shows 12 digits or more as "1,23E+11", and loses all
# digits after the 15th. It reads "12E3" as a number, and "1-2" as a day.
_NUMBER_OR_DAY: Final = re.compile(
    r"0[0-9]+|[0-9]{12,}"
    r"|(?:[0-9]+[.,]|[.,][0-9])[0-9.,]*(?:E[+-]?[0-9]+)?|[0-9]+E[+-]?[0-9]+"
    r"|[0-9]{1,2}[-/.][0-9]{1,2}(?:[-/.][0-9]{2,4})?",
    re.ASCII | re.IGNORECASE,
)
_WITHOUT_INVISIBLE: Final = Removal(
    lambda c: unicodedata.category(c) in ("Cc", "Cf") or IGNORABLE.match(c), "\r\n\t"
)
_RENAVAM_LENGTH: Final = 11
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
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True, slots=True)
class Column:
    """A column. ``name`` is the title in CSV and the member name in JSON Lines.

    ``kind`` is the format of the cells in XLSX. In CSV, only the kind "subject" (a plate or a
    Renavam, the registration number) has an effect. JSON Lines ignores ``kind``.
    """

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A table. A caller can iterate over ``rows`` only once."""

    name: str
    columns: Sequence[Column]
    rows: Iterable[Sequence[Cell]]


def csv_lines(table: Table, dialect: Dialect = "brazil") -> Iterator[str]:
    """Yield the lines of a CSV file.

    The dialect "brazil" is for spreadsheets with Brazilian settings. It has a byte order mark,
    semicolons between cells, decimal commas, and dates as DD/MM/YYYY. The dialect "rfc4180" is for
    programs. It has commas between cells, decimal points and ISO 8601 dates.

    A spreadsheet would convert a Renavam to a number and drop its leading zeros. The dialect
    "brazil" therefore puts a hyphen before the check digit ("0012345678-9"). It puts an apostrophe
    before any other text that a spreadsheet would change. The dialect "rfc4180" puts an apostrophe
    only before a text that looks like a formula.
    """
    if dialect == "brazil":
        yield BYTE_ORDER_MARK
    former: Sequence[Cell] = [column.name for column in table.columns]
    texts = list(map(str, former))
    yield _csv_line(texts, dialect)
    for cells in table.rows:
        # Many cells repeat the cell above, as in the rows of one version's months.
        texts = [
            text if cell is above else csv_text(cell, column, dialect)
            for cell, above, text, column in zip(cells, former, texts, table.columns, strict=True)
        ]
        former = cells
        yield _csv_line(texts, dialect)


def json_lines(table: Table) -> Iterator[bytes]:
    """Yield each row as a JSON object that ends with a line feed."""
    names = [column.name for column in table.columns]
    for cells in table.rows:
        record = dict(zip(names, (_json(cell) for cell in cells), strict=True))
        yield _encoder.encode(record) + b"\n"


def csv_text(cell: Cell, column: Column, dialect: Dialect) -> str:
    """Format one cell, or return "" for a missing value."""
    match cell:
        case None:
            return ""
        case bool():
            return ("sim" if cell else "não") if dialect == "brazil" else str(cell).lower()
        case int():
            return str(cell)
        case Decimal():
            return f"{cell:f}".replace(".", ",") if dialect == "brazil" else f"{cell:f}"
        case datetime():
            moment = _naive(cell)
            if dialect == "brazil":
                return f"{day(moment.date())} {moment:%H:%M:%S}"
            return moment.isoformat(sep=" ", timespec="seconds")
        case date():
            return day(cell) if dialect == "brazil" else cell.isoformat()
        case _:
            text = safe_text(cell)
            if dialect == "rfc4180":
                return text
            if column.kind == "subject" and len(text) == _RENAVAM_LENGTH:
                return f"{text[:-1]}-{text[-1]}"
            return f"'{text}" if _NUMBER_OR_DAY.fullmatch(text.strip()) else text


def safe_text(text: str) -> str:
    """Remove invisible characters, and put an apostrophe before a formula.

    Line breaks and tabs become spaces. A text counts as a formula if it starts with ``=``, ``+``,
    ``-`` or ``@``, even after spaces.
    """
    if not is_shown(text):
        text = text.translate(_WITHOUT_INVISIBLE)
    return f"'{text}" if text.lstrip().startswith(_FORMULA_STARTS) else text


def _csv_line(cells: Sequence[str], dialect: Dialect) -> str:
    line = StringIO(newline="")
    csv.writer(line, delimiter=";" if dialect == "brazil" else ",").writerow(cells)
    return line.getvalue()


def _json(cell: Cell) -> Cell:
    return local_time(cell) if isinstance(cell, datetime) and cell.tzinfo else cell


def _naive(moment: datetime) -> datetime:
    return (local_time(moment) if moment.tzinfo else moment).replace(tzinfo=None)


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
            sheet.write_datetime(row, column, _naive(cell), cell_format)
        case date():
            sheet.write_datetime(row, column, cell, cell_format)
        case _:
            sheet.write_string(row, column, safe_text(cell)[:_LONGEST_TEXT])
