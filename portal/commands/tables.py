"""Formats rows as an aligned table for people, or as JSON for scripts."""

import itertools
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

# Only the first _MEASURED_ROWS rows determine the column widths, so that a table of a million rows
# need not fit into memory.
_MEASURED_ROWS: Final = 1000
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
    cells = ([_cell(each) for each in row] for row in rows)
    first = list(itertools.islice(cells, _MEASURED_ROWS))
    measured = [list(columns), *first] if header else first
    widths = [max(map(len, column)) for column in zip(*measured, strict=True)]
    places = [
        f"{{:>{width}}}" if name in numbers else f"{{:<{width}}}"
        for name, width in zip(columns, widths, strict=False)  # without rows, there are no widths
    ]
    if columns[-1] not in numbers:
        places[-1:] = ["{}"]
    line = _GAP.join(places).format
    for row in itertools.chain([list(columns)] if header else [], first, cells):
        yield line(*row)


def json_array_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of one JSON array, with one object on each line."""
    mark = "["
    for row in rows:
        yield mark + _encoder.encode(row).decode()
        mark = ","
    yield "[]" if mark == "[" else "]"


def is_terminal() -> bool:
    return sys.stdout.isatty()


def _cell(text: str) -> str:
    return (text if text.isprintable() else text.translate(_ONE_LINE)) or _EMPTY
