"""What a fine, paid or not, says of the vehicle: altered, not transferred, or of a company."""

import csv
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Final

from portal.law.assessment import AssessedFine
from portal.wording import day

_HINTS: Final = {
    line["code"]: line["hint"]
    for line in csv.DictReader(
        resources.files(__package__).joinpath("fine_hints.csv").read_text("utf-8").splitlines()
    )
}


def hints_of(fines: Iterable[AssessedFine]) -> Iterator[str]:
    """Yield each hint once, with the day of its first fine."""
    seen: set[str] = set()
    for fine in fines:
        code = fine.infraction.code if fine.infraction else ""
        if code in _HINTS and code not in seen:
            seen.add(code)
            on = fine.record.committed_on
            yield f"{_HINTS[code][:-1]} (multa{f' de {day(on)}' if on else ''})."
