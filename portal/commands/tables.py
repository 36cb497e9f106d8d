"""Prints rows as an aligned table for people, or as CSV or JSON for scripts."""

import csv
import itertools
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from portal.presentation.exports.tables import safe_text

# Only the first _MEASURED_ROWS rows determine the column widths, so that a table of a million rows
# need not fit into memory.
_MEASURED_ROWS: Final = 1000
_BLOCK: Final = 1000  # lines
_GAP: Final = "  "
_EMPTY: Final = "-"
# Replaces control characters by spaces, because they could break the line or change the terminal's
# state.
_encoder = msgspec.json.Encoder(decimal_format="number")
_ONE_LINE: Final = dict.fromkeys((*range(32), *range(127, 160), 0x2028, 0x2029), " ")


def table_lines(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Collection[str] = (),
    *,
    header: bool = True,
) -> Iterator[str]:
    """Yield the lines of a table, with the columns in ``numbers`` aligned to the right.

    An empty cell is shown as a hyphen.
    """
    cells = ([_cell(cell) for cell in row] for row in rows)
    first = list(itertools.islice(cells, _MEASURED_ROWS))
    measured = [list(columns), *first] if header else first
    widths = [max(map(len, column)) for column in zip(*measured, strict=True)]
    places = [
        f"%{width}s" if name in numbers else f"%-{width}s"
        for name, width in zip(columns, widths, strict=False)  # without rows, there are no widths
    ]
    if columns[-1] not in numbers:
        places[-1:] = ["%s"]
    line = _GAP.join(places)
    for row in itertools.chain([columns] if header else [], first, cells):
        yield line % tuple(row)


def csv_lines(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a comma-separated table. No cell is a formula for a spreadsheet."""
    line = csv.writer(_Line(), lineterminator="").writerow
    for row in itertools.chain([columns], rows):
        yield line(map(safe_text, row))


def json_array_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of one JSON array, with one object on each line."""
    mark = "["
    for row in rows:
        yield mark + _encoder.encode(row).decode()
        mark = ","
    yield "[]" if mark == "[" else "]"


def print_lines(lines: Iterable[str]) -> None:
    """Print lines in blocks, because with PYTHONUNBUFFERED each write is a system call."""
    rest = iter(lines)
    while block := list(itertools.islice(rest, _BLOCK)):
        print("\n".join(block))


def is_terminal() -> bool:
    return sys.stdout.isatty()


class _Line:
    """Makes ``writerow`` of a CSV writer return the line."""

    def write(self, line: str) -> str:
        return line


def _cell(text: str) -> str:
    return (text if text.isprintable() else text.translate(_ONE_LINE)) or _EMPTY
