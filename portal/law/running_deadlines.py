"""The deadlines of a fine that still run: the days of the calendar, and the next of them."""

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Final, Literal

from msgspec import Struct

from portal.law.assessment import AssessedFine
from portal.law.deadlines import Deadline, Step

# The last day to pay a toll alone, which no article of law sets.
DeadlineName = Literal["toll"] | Step
_STEPS: Final[tuple[Step, ...]] = (
    "notice",
    "prior_defence",
    "driver_nomination",
    "penalty",
    "appeal",
    "prescription",
)


class RunningDeadline(Struct, frozen=True):
    """A last day that has not passed. ``deadline`` is None for a toll."""

    fine: AssessedFine
    name: DeadlineName
    last_day: date
    deadline: Deadline | None = None


def running_deadlines(fine: AssessedFine) -> Iterator[RunningDeadline]:
    """Yield the deadlines that have not passed and whose step is not in the record."""
    if not fine.is_open:
        return
    if fine.toll_until:
        yield RunningDeadline(fine, "toll", fine.toll_until)
    for step in _STEPS:
        deadline: Deadline = getattr(fine, step)
        is_step = step in ("notice", "penalty")
        if deadline not in fine.deadlines or (is_step and deadline.days_used is not None):
            continue
        if deadline.ends_on is not None and fine.today <= deadline.ends_on < date.max:
            yield RunningDeadline(fine, step, deadline.ends_on, deadline)


def next_deadline(fines: Iterable[AssessedFine]) -> RunningDeadline | None:
    """Return the deadline that ends first, or None if none runs."""
    running = (deadline for fine in fines for deadline in running_deadlines(fine))
    return min(running, key=lambda deadline: deadline.last_day, default=None)
