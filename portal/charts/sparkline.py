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
    """The path of a line in a box of 96 × 24 units, and the place of the line's last point.

    ``start_y`` is the height of the first point. ``band`` is the path of the area between the
    lowest and the highest of several series, whose mean the line then is, or "".
    """

    path: str
    dot_x: float
    dot_y: float
    start_y: float
    band: str = ""


# What is known of each month: the lowest, the mean and the highest share of the first price.
_Shares = dict[int, tuple[float, float, float]]


def sparklines(groups: Sequence[Sequence[Sequence[int]]]) -> list[Sparkline | None]:
    """Return a line for each group of series, or None if fewer than three months are known.

    A series has a price for each month. A price of 0 is unknown. All lines have one scale, in parts
    of the first known price of each series, so that their slopes can be compared. A group of
    several series has a band and its mean.
    """
    shares = [_shares(series) for series in groups]
    values = [value for known in shares for month in known.values() for value in month]
    if not values:
        return [None] * len(shares)
    low, high = scale.widen(min(values), max(values))
    down = scale.LinearScale(low, high, HEIGHT - _MARGIN, _MARGIN)
    return [
        _line(known, max(map(len, series)), down) if known else None
        for known, series in zip(shares, groups, strict=True)
    ]


def _shares(series: Sequence[Sequence[int]]) -> _Shares:
    parts = [_parts(prices) for prices in series]
    common = set.intersection(*map(set, parts)) if parts else set()
    if len(common) < _LEAST_POINTS:
        return {}
    months = {month: [known[month] for known in parts] for month in sorted(common)}
    return {
        month: (min(values), sum(values) / len(values), max(values))
        for month, values in months.items()
    }


def _parts(prices: Sequence[int]) -> dict[int, float]:
    known = {month: price for month, price in enumerate(prices) if price > 0}
    first = next(iter(known.values()), 1)
    return {month: price / first for month, price in known.items()}


def _line(known: _Shares, months: int, down: scale.LinearScale) -> Sparkline:
    across = scale.LinearScale(0, months - 1, _MARGIN, WIDTH - _MARGIN)
    # The line is drawn across missing months, because a gap in such a small line looks like a
    # printing fault.
    low, mean, high = (
        [(across(month), down(values[tick])) for month, values in known.items()]
        for tick in range(3)
    )
    x, y = mean[-1]
    band = f"{paths.line_path([[*high, *reversed(low)]])}z" if low != high else ""
    path = paths.line_path([mean])
    return Sparkline(path, round(x, 1), round(y, 1), round(mean[0][1], 1), band)
