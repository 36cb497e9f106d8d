"""Compute the geometry of stacked bars: one bar a day upright, or one row lying.

All coordinates are percentages of the plot, so that a template needs no width and no style.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from portal.charts import scale
from portal.charts.geometry import Anchor

# The bar's share of its slot, and its widest in per cent of the plot: three bars are no walls.
_BAR_SHARE: Final = 0.68
_WIDEST: Final = 7.0
_TICKS: Final = 6
# Days are labelled by their distance to the last one, which always has its label.
_MOST_LABELS: Final = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """The values of one bar, from the base up; ``tick`` is its label on the axis."""

    tick: str
    text: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a bar; ``series`` is the position of its value."""

    series: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """A bar, with the text that says its values."""

    text: str
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Level:
    """A grid line and its label."""

    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A label below a bar; a minor one is left out on narrow screens."""

    x: float
    text: str
    anchor: Anchor
    is_minor: bool


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars over a base line, with a grid, and a dashed limit if there is one."""

    bars: tuple[DrawnBar, ...]
    levels: tuple[Level, ...]
    ticks: tuple[Tick, ...]
    limit_y: float | None = None


def bar_chart(
    bars: Sequence[Bar], axis: Callable[[float], str], limit: float | None = None
) -> BarChart | None:
    """Return the chart of some bars in their order; None if every value is zero.

    ``axis`` formats the value of a grid line. ``limit`` is drawn only where it is not far above
    the highest bar, because it would flatten all of them.
    """
    highest = max((sum(bar.values) for bar in bars), default=0.0)
    if highest <= 0:
        return None
    shown_limit = limit if limit is not None and limit <= 2 * highest else None
    levels = scale.nice_ticks(0.0, max(highest, shown_limit or 0.0), _TICKS)
    y = scale.LinearScale(0.0, levels[-1], 100.0, 0.0)
    slot = 100.0 / len(bars)
    width = min(slot * _BAR_SHARE, _WIDEST)
    return BarChart(
        bars=tuple(
            DrawnBar(bar.text, tuple(_parts(bar, (n + 0.5) * slot - width / 2, width, y)))
            for n, bar in enumerate(bars)
        ),
        levels=tuple(Level(round(y(level), 2), axis(level)) for level in levels),
        ticks=tuple(_ticks(bars, slot, width)),
        limit_y=None if shown_limit is None else round(y(shown_limit), 2),
    )


def row_parts(values: Sequence[float], whole: float) -> tuple[Part, ...]:
    """Return the parts of a lying bar whose full width is ``whole``; empty if that is zero."""
    if whole <= 0:
        return ()
    x = scale.LinearScale(0.0, whole, 0.0, 100.0)
    so_far, parts = 0.0, []
    for series, value in enumerate(values):
        start, so_far = so_far, so_far + max(0.0, value)
        if so_far > start:
            left = round(x(start), 2)
            parts.append(Part(series, left, 0.0, round(x(so_far) - left, 2), 100.0))
    return tuple(parts)


def _parts(bar: Bar, left: float, width: float, y: scale.LinearScale) -> list[Part]:
    so_far, parts = 0.0, []
    for series, value in enumerate(bar.values):
        start, so_far = so_far, so_far + max(0.0, value)
        if so_far > start:
            top = round(y(so_far), 2)
            height = round(y(start) - top, 2)
            parts.append(Part(series, round(left, 2), top, round(width, 2), height))
    return parts


def _ticks(bars: Sequence[Bar], slot: float, width: float) -> list[Tick]:
    """Return labels at equal distances; that of a narrow last bar ends inside the plot."""
    step = -(-len(bars) // _MOST_LABELS)
    last = len(bars) - 1
    ticks = []
    for n in range(last % step, last + 1, step):
        centre = (n + 0.5) * slot
        ends = n == last and slot < _WIDEST
        x = centre + width / 2 if ends else centre
        anchor: Anchor = "end" if ends else "middle"
        ticks.append(Tick(round(x, 2), bars[n].tick, anchor, (last - n) // step % 2 == 1))
    return ticks
