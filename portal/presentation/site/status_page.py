"""The page on the availability of each source, from the portal's own calls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import ClassVar, Final, Literal

from portal.dossier.lookups import OPERATION_TEXTS
from portal.gateway.usage import OriginCalls
from portal.vehicle.operation_name import OPERATION_NAMES, OperationName

DAYS: Final = 90
# A day is good if so much of its calls was answered, and poor below the second share.
_GOOD: Final = 0.99
_FAIR: Final = 0.9
Level = Literal["none", "good", "fair", "poor"]


@dataclass(frozen=True, slots=True)
class SourceDay:
    """The calls of one day to one source, and how many got no answer."""

    day: date
    calls: int
    failed: int

    @property
    def level(self) -> Level:
        """How well the source answered on this day: "none" without a call."""
        if not self.calls:
            return "none"
        share = 1 - self.failed / self.calls
        return "good" if share >= _GOOD else "fair" if share >= _FAIR else "poor"

    @property
    def words(self) -> str:
        if not self.calls:
            return f"{self.day:%d/%m}: sem consultas"
        answered = self.calls - self.failed
        return f"{self.day:%d/%m}: {answered} de {self.calls} respondidas"


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The days of one source, the oldest first."""

    name: OperationName
    days: Sequence[SourceDay]

    @property
    def title(self) -> str:
        return OPERATION_TEXTS[self.name].long_title

    @property
    def calls(self) -> int:
        return sum(day.calls for day in self.days)

    @property
    def failed(self) -> int:
        return sum(day.failed for day in self.days)

    @property
    def share(self) -> float | None:
        """The share of calls that were answered, or None without a call."""
        return None if not self.calls else 1 - self.failed / self.calls

    @property
    def troubled(self) -> Sequence[SourceDay]:
        """The days with calls that got no answer, the newest first."""
        return [day for day in reversed(self.days) if day.failed]


@dataclass(frozen=True, slots=True)
class StatusPage:
    """The page ``/situacao``. It names no plate and no caller."""

    template: ClassVar[str] = "pages/status.html"
    sources: Sequence[SourceStatus]

    @property
    def first_day(self) -> date:
        return self.sources[0].days[0].day


def status_page(calls: Mapping[tuple[date, str], OriginCalls], today: date) -> StatusPage:
    """Return the page of the last DAYS days. ``found`` has the calls of a day and an operation."""
    days = [today - timedelta(days=ago) for ago in reversed(range(DAYS))]
    none = OriginCalls(0, 0)
    return StatusPage(
        [
            SourceStatus(name, [SourceDay(day, *calls.get((day, name), none)) for day in days])
            for name in OPERATION_NAMES
        ]
    )
