"""What is owed, and until when: a picture of the open fines on one axis with today.

Left of today a bar says since when a fine is overdue, right of it until when it may still change.
Many fines are stacked by month. Coordinates are percentages of the picture's width, and heights
pixels, so that text keeps its size at every width.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Final, Literal

from portal import formats, wording
from portal.charts.scale import month_index, month_of
from portal.law.assessment import AssessedFine, one_per_notice, sum_of
from portal.law.running_deadlines import RunningDeadline, next_deadline
from portal.law.standing import Standing
from portal.phrasebook.fines import status_word

MOST_BARS: Final = 6
STACK_PX: Final = 60
_FEWEST_DAYS: Final = 90
_DAYS_BACK, _DAYS_AHEAD = 300, 400
_OVERDUE: Final = (Standing.ENFORCEABLE, Standing.PROBABLY_DUE)
# A label stands inside its bar if the bar has at least this share of the width, of which a phone
# has some 320 px.
_ROOM: Final = 46.0
_LEAST: Final = 1.5
_EDGE: Final = 16.0
_TICKS: Final = 5


@dataclass(frozen=True, slots=True)
class DueBar:
    """The bar of a fine: solid or hatched until ``today``, and a dashed outline after it.

    ``label`` is in the bar if ``is_inside``, else beside it. ``ring`` is the day on which the time
    for a prior defence has passed or passes, or None.
    """

    fine: AssessedFine
    x: float
    width: float
    ahead: float
    label: str
    label_x: float
    is_inside: bool
    is_before: bool
    ring: float | None

    @property
    def standing(self) -> Standing:
        return self.fine.standing


@dataclass(frozen=True, slots=True)
class DuePart:
    standing: Standing
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class DueMonth:
    """The fines of a month, stacked by standing. ``words`` say the month and the sum."""

    x: float
    width: float
    parts: tuple[DuePart, ...]
    words: str


@dataclass(frozen=True)
class DueAxis:
    """The picture of the open fines. Those without a day are in the ledger alone."""

    fines: tuple[AssessedFine, ...]
    today: date

    @cached_property
    def owed(self) -> tuple[AssessedFine, ...]:
        return tuple(fine for fine in one_per_notice(self.fines) if fine.is_open)

    @cached_property
    def next(self) -> RunningDeadline | None:
        """The deadline that ends first."""
        return next_deadline(self.owed)

    @property
    def oldest_overdue(self) -> tuple[int, date] | None:
        """How many fines are overdue, and since when the first of them is."""
        days = [on for fine in self.owed if fine.standing in _OVERDUE and (on := _due(fine))]
        return (len(days), min(days)) if days else None

    @cached_property
    def _spans(self) -> tuple[tuple[AssessedFine, date, date], ...]:
        placed = ((fine, _span(fine, self.today)) for fine in self.owed)
        spans = [(fine, *span) for fine, span in placed if span]
        return tuple(sorted(spans, key=lambda bar: (bar[0].standing not in _OVERDUE, bar[1])))

    @property
    def is_stacked(self) -> bool:
        return len(self._spans) > MOST_BARS

    @cached_property
    def _window(self) -> tuple[date, date]:
        """The first and the last day of the axis."""
        starts, ends = [one[1] for one in self._spans], [one[2] for one in self._spans]
        first, last = min((*starts, self.today)), max((*ends, self.today))
        if not self.is_stacked:
            first = max(first, _shifted(self.today, -_DAYS_BACK))
            last = min(last, _shifted(self.today, _DAYS_AHEAD))
        first = min(first, _shifted(self.today, -_FEWEST_DAYS))
        return first, max(_shifted(last, 20), _shifted(self.today, _FEWEST_DAYS))

    def x(self, day: date) -> float:
        first, last = self._window
        share = 100 * (day - first).days / (last - first).days
        return round(min(max(share, 0), 100), 1)

    @property
    def today_x(self) -> float:
        return self.x(self.today)

    @property
    def today_anchor(self) -> Literal["start", "middle", "end"]:
        """Where the words on today stand, so that they stay within the picture."""
        if self.today_x > 100 - _EDGE:
            return "end"
        return "start" if self.today_x < _EDGE else "middle"

    @property
    def bars(self) -> Iterator[DueBar]:
        for fine, start, end in () if self.is_stacked else self._spans:
            yield self._bar(fine, start, end)

    def _bar(self, fine: AssessedFine, start: date, end: date) -> DueBar:
        left, now, right = self.x(start), self.today_x, self.x(end)
        left = min(left, now - _LEAST)
        is_inside = now - left >= _ROOM
        edge = max(now, right)
        is_before = not is_inside and edge > 100 - _ROOM
        label_x = now if is_inside else (left if is_before and left >= _ROOM else edge)
        passed = fine.prior_defence.ends_on if fine.standing is Standing.NOTICE else None
        return DueBar(
            fine,
            x=left,
            width=round(now - left, 1),
            ahead=round(max(right - now, 0), 1),
            label=_label(fine, end, self.today),
            label_x=label_x,
            is_inside=is_inside,
            is_before=is_before,
            ring=self.x(passed) if passed and passed >= self._window[0] else None,
        )

    @property
    def months(self) -> Iterator[DueMonth]:
        """The columns of a stacked picture."""
        if not self.is_stacked:
            return
        by_month: dict[int, list[AssessedFine]] = defaultdict(list)
        for fine, start, end in self._spans:
            by_month[month_index(start if fine.standing in _OVERDUE else end)].append(fine)
        sums = {
            month: sum_of(one.amount.value for one in fines) for month, fines in by_month.items()
        }
        top = max((*sums.values(), Decimal(1)))
        first, last = self._window
        width = max(round(100 * 24 / (last - first).days, 2), 0.8)
        for month, fines in sorted(by_month.items()):
            on = month_of(month)
            words = f"{formats.month(on)}: {formats.brl(sums[month])}"
            yield DueMonth(self.x(on), width, tuple(_stacked(fines, top)), words)

    @property
    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield the place and the name of some months, clear of each other."""
        first, last = self._window
        months = month_index(last) - month_index(first)
        step = max(1, -(-months // _TICKS))
        step = next(length for length in (1, 2, 3, 4, 6, 12, 24, 48, 96, 192) if length >= step)
        for month in range(month_index(first) + 1, month_index(last) + 1):
            on = month_of(month)
            if (on.month - 1 + 12 * on.year) % step == 0 and 4 < self.x(on) < 94:
                yield self.x(on), formats.month(on) if step < 12 else str(on.year)


def _stacked(fines: Sequence[AssessedFine], top: Decimal) -> Iterator[DuePart]:
    y = float(STACK_PX)
    for standing in Standing:
        group = [one for one in fines if one.standing is standing]
        if group:
            share = sum_of(one.amount.value for one in group) / top
            height = max(round(float(share) * (STACK_PX - 4), 1), 3.0)
            y -= height
            yield DuePart(standing, max(round(y, 1), 0.0), height)


def _due(fine: AssessedFine) -> date | None:
    return fine.appeal.ends_on


def _span(fine: AssessedFine, today: date) -> tuple[date, date] | None:
    """Return since when and until when a fine is as it is, or None if that is not known."""
    record, due = fine.record, _due(fine)
    if fine.standing in _OVERDUE:
        return (min(due, today), today) if due else None
    start = record.penalty_on or record.notified_on or record.committed_on
    if start is None or start > today:
        return None
    end = due if fine.standing is Standing.DUE else fine.penalty.ends_on
    if fine.standing not in (Standing.DUE, Standing.NOTICE) or end is None:
        return start, today
    return start, max(end, today)


def _label(fine: AssessedFine, end: date, today: date) -> str:
    if fine.standing in _OVERDUE and (due := _due(fine)):
        probably = "" if fine.standing is Standing.ENFORCEABLE else "talvez "
        return f"{probably}vencida {wording.since(due, today)}"
    if fine.standing in (Standing.DUE, Standing.NOTICE) and end > today:
        return f"até {formats.short_date(end)}"
    return status_word(fine.status)


def _shifted(day: date, days: int) -> date:
    """Add days, within the calendar's bounds."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return date.max if days > 0 else date.min
