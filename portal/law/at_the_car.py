"""What a person sees at the vehicle, beside what the records say of it.

A divergence is no record: it betters no verdict, and a row that agrees proves nothing by itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, get_args

from portal.law.findings import CarRow, SeenDifference

CAR_ROWS: Final[tuple[CarRow, ...]] = get_args(CarRow)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a person saw of one row.

    ``what`` is what is there instead of what the record says, or "". ``who`` is the caller's name,
    and ``on`` the day.
    """

    row: CarRow
    state: Literal["match", "differs"]
    who: str
    on: date
    what: str = ""


def by_row(seen: Iterable[Seen]) -> Mapping[CarRow, Seen]:
    """Return what was seen of each row, in the order of CAR_ROWS."""
    by_row = {one.row: one for one in seen}
    return {row: by_row[row] for row in CAR_ROWS if row in by_row}


def seen_findings(seen: Iterable[Seen]) -> Iterator[SeenDifference]:
    """Yield a finding for each row in which the vehicle differs from the record."""
    for one in by_row(seen).values():
        if one.state == "differs":
            yield SeenDifference(one.row, one.what, one.who, one.on)
