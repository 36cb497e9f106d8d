"""The price history of one entry of FIPE, the table of average vehicle prices."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cached_property
from operator import attrgetter

from msgspec.structs import replace

from portal.vehicle.decode import FipeEntry, PricePoint
from portal.vehicle.field import Field

_CODE_WEIGHTS = (7, 6, 5, 4, 3, 2)
_CODE = re.compile(r"[0-9]{1,6}-?[0-9]", re.ASCII)
_TENTH = Decimal("0.1")
# A yearly change is computed only if first and last price are at least _LEAST_MONTHS months apart.
_LEAST_MONTHS = 12
_ABSURD = 10_000


@dataclass(frozen=True, slots=True)
class FipeCode:
    """A code such as "008190-6". ``is_verified`` is true if its check digit is right."""

    text: str
    is_verified: bool

    def __str__(self) -> str:
        return self.text


def fipe_code(fipe_id: Field) -> FipeCode | None:
    """Return the code of ``fipe_id``, which may lack leading zeros and the hyphen.

    The check digit is (−Σ digit × weight) mod 11, with the weights 7 6 5 4 3 2. If the result is
    10, the check digit is 0. The formula is right for all 8,125 public codes that were tested.
    """
    text = fipe_id.value.strip()
    if not _CODE.fullmatch(text):
        return None
    digits = text.replace("-", "").zfill(7)
    if not int(digits):
        return None
    total = sum(w * int(d) for w, d in zip(_CODE_WEIGHTS, digits, strict=False))
    holds = int(digits[6]) == -total % 11 % 10
    return FipeCode(f"{digits[:6]}-{digits[6]}", holds)


@dataclass(frozen=True)
class PriceSeries:
    """The price history of a price-table entry, and its changes.

    A change is a percentage with one decimal, and negative if the price fell. A "real" price is a
    price that is not a prediction. ``points`` has at most one point for each month, sorted by
    month. ``contradicted`` are the months for which the source sends two real prices; the later
    one in the source's order counts. ``is_unread`` is true if the source sends a history in which
    no month can be read.
    """

    points: tuple[PricePoint, ...]
    contradicted: tuple[date, ...] = ()
    is_unread: bool = False

    @classmethod
    def of(cls, entry: FipeEntry, today: date) -> "PriceSeries":
        """Build a series from months that may be unordered or repeated.

        A month after the month of ``today`` is a prediction, because the table has no price of it.
        """
        history = [
            replace(sent, predicted=True) if sent.month > today else sent for sent in entry.history
        ]
        is_unread = bool(entry.sent_history) and not history
        return cls(_in_order(history), _contradicted(history), is_unread)

    def __bool__(self) -> bool:
        return bool(self.points)

    @cached_property
    def real(self) -> tuple[PricePoint, ...]:
        return tuple([point for point in self.points if not point.predicted])

    @property
    def first_real(self) -> PricePoint | None:
        return self.real[0] if self.real else None

    @property
    def last_real(self) -> PricePoint | None:
        return self.real[-1] if self.real else None

    @cached_property
    def peak(self) -> PricePoint | None:
        """The point with the highest real price, or the latest of several such points."""
        return max(self.real, key=attrgetter("value", "month"), default=None)

    @cached_property
    def gaps(self) -> tuple[date, ...]:
        """The months without a price between the first and the last point."""
        known = {_index(point.month) for point in self.points}
        if not known:
            return ()
        missing = (i for i in range(min(known), max(known)) if i not in known)
        return tuple(date(i // 12, i % 12 + 1, 1) for i in missing)

    @property
    def twelve_month_change(self) -> Decimal | None:
        """The change over the 12 months up to the last real price, or None if unknown."""
        return _change(self._year_before, self.last_real)

    @property
    def monthly_change(self) -> Decimal | None:
        """The mean change a month, in R$, of the 12 months up to the last real price, or None."""
        before, last = self._year_before, self.last_real
        if before is None or last is None or self.twelve_month_change is None:
            return None
        return (last.value - before.value) / 12

    @property
    def _year_before(self) -> PricePoint | None:
        """The point of the month 12 months before the last real price."""
        last = self.last_real
        if last is None:
            return None
        wanted = last.month.replace(year=last.month.year - 1)
        return next((point for point in reversed(self.real) if point.month == wanted), None)

    @property
    def change_since_peak(self) -> Decimal | None:
        """The change from the peak to the last real price, which is zero or negative."""
        return _change(self.peak, self.last_real)

    @property
    def yearly_change(self) -> Decimal | None:
        """The compound yearly change, or None if the real prices span under 12 months."""
        first, last = self.first_real, self.last_real
        if first is None or last is None:
            return None
        months = _index(last.month) - _index(first.month)
        if months < _LEAST_MONTHS:
            return None
        rate = (float(last.value) / float(first.value)) ** (12 / months) - 1
        return _percent(Decimal(rate))

    def last_month_at(self, amount: Decimal, *, or_more: bool) -> PricePoint | None:
        """The latest month whose price is ``amount`` or more (else: or less), or None."""
        reached = (
            point
            for point in reversed(self.real)
            if (point.value >= amount if or_more else point.value <= amount)
        )
        return next(reached, None)

    @cached_property
    def predicted_tail(self) -> tuple[PricePoint, ...]:
        """The predictions after the last real price, or all points if no price is real."""
        last = self.last_real
        return tuple(
            p for p in self.points if p.predicted and (last is None or p.month > last.month)
        )

    @property
    def predicted_change(self) -> Decimal | None:
        """The change from the last real price to the last prediction (None if unknown)."""
        return _change(self.last_real, self.predicted_tail[-1] if self.predicted_tail else None)


def _in_order(history: Iterable[PricePoint]) -> tuple[PricePoint, ...]:
    by_month: dict[date, PricePoint] = {}
    for sent in history:
        known = by_month.get(sent.month)
        # If a month occurs twice, the later price in the list replaces the earlier price. A
        # prediction never replaces a real price.
        if known is None or known.predicted or not sent.predicted:
            by_month[sent.month] = sent
    return tuple([by_month[month] for month in sorted(by_month)])


def _contradicted(history: Iterable[PricePoint]) -> tuple[date, ...]:
    real = [sent for sent in history if not sent.predicted]
    if len({sent.month for sent in real}) == len(real):  # as of most entries
        return ()
    prices: dict[date, set[Decimal]] = {}
    for sent in real:
        prices.setdefault(sent.month, set()).add(sent.value)
    return tuple(sorted(month for month, values in prices.items() if len(values) > 1))


def _index(month: date) -> int:
    return month.year * 12 + month.month - 1


def _change(before: PricePoint | None, after: PricePoint | None) -> Decimal | None:
    if before is None or after is None:
        return None
    return _percent(after.value / before.value - 1)


def _percent(change: Decimal) -> Decimal | None:
    """Convert a relative change between two prices to per cent, with one decimal.

    Returns None if one price is at least _ABSURD times the other price. One of the two prices must
    then be wrong.
    """
    ratio = 1 + change
    return (change * 100).quantize(_TENTH) if 1 < ratio * _ABSURD < _ABSURD**2 else None
