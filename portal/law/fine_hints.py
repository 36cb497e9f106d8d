"""What a fine, paid or not, says of the vehicle: altered, not transferred, or of a company."""

from collections.abc import Iterable, Iterator
from typing import Final

from portal.data_files import read_csv
from portal.law.assessment import AssessedFine
from portal.wording import day

_HINTS: Final = {
    line["code"]: line["hint"] for line in read_csv(__package__, "fine_hints.csv", dict[str, str])
}


def hints_of(fines: Iterable[AssessedFine]) -> Iterator[str]:
    """Yield each hint once, with the day of its first fine."""
    seen: set[str] = set()
    for fine in fines:
        code = fine.infraction.code if fine.infraction else ""
        if code in _HINTS and code not in seen:
            seen.add(code)
            on = fine.record.committed_on
            by_code = ", pelo código" if fine.wording.conflict else ""
            yield f"{_HINTS[code][:-1]} (multa{f' de {day(on)}' if on else ''}{by_code})."
