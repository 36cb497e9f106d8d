"""Sparklines: small lines without axes, which show a series' direction but not its values."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts import paths, scale

WIDTH, HEIGHT = 96, 24
# A margin on each side, so that the box does not cut off the line or the dot of the last point.
_MARGIN = 3.0
_LEAST_POINTS = 3


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The path of a line in a box of 96 × 24 units, and the place of the line's last point."""

    path: str
    dot_x: float
    dot_y: float


def sparklines(series: Sequence[Sequence[int]]) -> list[Sparkline | None]:
    """Return a line for each series of monthly prices, or None if fewer than three are known.

    A price of 0 is unknown. All lines have one scale, in parts of the first known price of each
    series, so that their slopes can be compared.
    """
    shares = [_shares(prices) for prices in series]
    values = [value for known in shares for value in known.values()]
    if not values:
        return [None] * len(shares)
    low, high = scale.widen(min(values), max(values))
    down = scale.LinearScale(low, high, HEIGHT - _MARGIN, _MARGIN)
    return [
        _line(known, len(prices), down) if known else None
        for known, prices in zip(shares, series, strict=True)
    ]


def _shares(prices: Sequence[int]) -> dict[int, float]:
    known = {month: price for month, price in enumerate(prices) if price > 0}
    if len(known) < _LEAST_POINTS:
        return {}
    first = next(iter(known.values()))
    return {month: price / first for month, price in known.items()}


def _line(known: dict[int, float], months: int, down: scale.LinearScale) -> Sparkline:
    across = scale.LinearScale(0, months - 1, _MARGIN, WIDTH - _MARGIN)
    # The line is drawn across missing months, because a gap in such a small line looks like a
    # printing fault.
    places = [(across(month), down(value)) for month, value in known.items()]
    x, y = places[-1]
    return Sparkline(paths.line_path([places]), round(x, 1), round(y, 1))
