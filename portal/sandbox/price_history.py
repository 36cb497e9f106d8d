"""Monthly price histories: each month's change hangs on that month alone, so that the past of a
price never changes when the calendar moves on and predictions become prices."""

from dataclasses import dataclass
from datetime import date

from portal.sandbox.chance import fraction

# The month for which the families' prices are stated, as a count of months since year 0.
_REFERENCE = 2026 * 12 + 10
_LEAST_PRICE = 900


@dataclass(frozen=True, slots=True)
class Point:
    """One month's price in whole reais; ``predicted`` months lie in the future."""

    year: int
    month: int
    value: int
    predicted: bool


def price_history(key: str, level: float, today: date, months: int, tail: int) -> tuple[Point, ...]:
    """``months`` consecutive points, the last ``tail`` of them after ``today`` and predicted.

    ``level`` is the price of November 2026 in R$; ``key`` tells one series from another.
    """
    now = today.year * 12 + today.month - 1
    first, last = now + tail - months + 1, now + tail
    values = _values(key, level, first, last)
    return tuple(
        Point(month // 12, month % 12 + 1, values[month], month > now)
        for month in range(first, last + 1)
    )


def price_text(value: int) -> str:
    """As ``valorAtual`` has it: ``89325.00``."""
    return f"{value}.00"


def _values(key: str, level: float, first: int, last: int) -> dict[int, int]:
    """Prices of the months between ``first`` and ``last``, walked from the reference month."""
    exact = {_REFERENCE: level}
    for month in range(_REFERENCE + 1, last + 1):
        exact[month] = exact[month - 1] * (1 + _change(key, month))
    for month in range(_REFERENCE - 1, first - 1, -1):
        exact[month] = exact[month + 1] / (1 + _change(key, month + 1))
    return {month: max(_LEAST_PRICE, round(exact[month])) for month in range(first, last + 1)}


def _change(key: str, month: int) -> float:
    """The relative change from the month before, between −5 % and +5 %."""
    chance = fraction(key, str(month))
    if chance < 0.06:
        return 0.0
    if chance > 0.96:  # a new model year or a tax: one jump, mostly downwards
        return -0.034 if chance < 0.985 else 0.03
    # Used cars lost a third of a percent a month, and rose while factories stood still.
    drift = 0.012 if 2020 * 12 + 8 <= month <= 2022 * 12 + 2 else -0.0045
    return drift + (chance - 0.51) * 0.028
