"""Which pages ``make test`` looks at, and which of them ``make test-long`` adds."""

from collections.abc import Iterable

from _pytest.mark import ParameterSet

from tests.effort import long
from tests.quality.visits import DAILY, Visit


def daily_first(visits: Iterable[Visit]) -> list[ParameterSet | Visit]:
    """Return the visits as values of a parameter. Those that are not daily are ``long``."""
    listed = list(visits)
    return [
        *(visit for visit in listed if visit.name in DAILY),
        *long(*(visit for visit in listed if visit.name not in DAILY)),
    ]
