"""Axis ticks, and scales that map values and months to coordinates."""

import math
import sys
from dataclasses import dataclass
from datetime import date

# Two values count as equal if their relative difference is at most this.
_FLAT = 1e-6
# The smallest normal float. A fraction of a smaller number may be rounded to 0.
_LEAST = sys.float_info.min
_MOST_TICKS = 12


def month_index(month: date) -> int:
    """Return the number of months since January of year 0."""
    return month.year * 12 + month.month - 1


def month_of(index: int) -> date:
    """Return the first day of the month that has the given ``month_index``."""
    return date(index // 12, index % 12 + 1, 1)


@dataclass(frozen=True, slots=True)
class LinearScale:
    """Maps ``low..high`` linearly to ``start..end``.

    Values outside ``low..high`` are mapped to the nearer end, ``start`` or ``end``.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        if self.high <= self.low:
            return (self.start + self.end) / 2
        share = (value - self.low) / (self.high - self.low)
        return self.start + min(max(share, 0.0), 1.0) * (self.end - self.start)


def widen(low: float, high: float) -> tuple[float, float]:
    """Return the interval, with its ends moved apart if they are (almost) equal.

    Each end is moved by 5 % of the larger absolute value, or by 1 if this value is (almost) zero.
    """
    size = max(abs(low), abs(high))
    if high - low > max(_FLAT * size, _LEAST):
        return low, high
    room = size * 0.05 if size * 0.05 > _LEAST else 1.0
    return low - room, high + room


def nice_ticks(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return about ``count`` ticks around the interval, in steps of 1, 2 or 5 × 10ⁿ."""
    low, high = widen(low, high)
    raw = (high - low) / max(count - 1, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= raw * 0.999)
    first = math.floor(low / step + 1e-9)
    last = min(math.ceil(high / step - 1e-9), first + _MOST_TICKS)
    return tuple(k * step for k in range(first, last + 1))
