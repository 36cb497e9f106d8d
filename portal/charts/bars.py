"""Compute the geometry of vertical or horizontal stacked bars.

All coordinates are percentages of the plot, so that the style sheet can set the plot's size.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from portal.charts import scale
from portal.charts.geometry import Anchor

# The plot is divided into slots of equal width, one for each bar. A bar fills the share _BAR_SHARE
# of its slot. If there are only a few bars, each fills at most _WIDEST per cent of the plot.
_BAR_SHARE: Final = 0.68
_WIDEST: Final = 7.0
_TICKS: Final = 6
_MOST_LABELS: Final = 8  # below the bars


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart.

    ``values`` are stacked from the base upwards. ``text`` states the values in words. ``tick`` is
    the label below the bar.
    """

    tick: str
    text: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A rectangle in a bar, for the value ``Bar.values[series]``."""

    series: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A label below a bar. Narrow screens hide a label if ``is_minor`` is true."""

    x: float
    text: str
    anchor: Anchor
    is_minor: bool


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars with a grid.

    ``bars`` has the text and the parts of each bar. ``levels`` has the y coordinate and the label
    of each grid line. ``limit_y`` is the y coordinate of the dashed limit line, or None if no limit
    line is drawn.
    """

    bars: tuple[tuple[str, tuple[Part, ...]], ...]
    levels: tuple[tuple[float, str], ...]
    ticks: tuple[Tick, ...]
    limit_y: float | None = None


def bar_chart(
    bars: Sequence[Bar], axis: Callable[[float], str], limit: float | None = None
) -> BarChart | None:
    """Return the chart of ``bars`` in the given order, or None if every value is zero.

    ``axis`` formats the value of a grid line. A dashed line is drawn at ``limit``. If the limit is
    more than twice as high as the highest bar, the line is omitted, because a scale up to the limit
    would make all bars very low.
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
            (bar.text, tuple(_parts(bar, (n + 0.5) * slot - width / 2, width, y)))
            for n, bar in enumerate(bars)
        ),
        levels=tuple((round(y(level), 2), axis(level)) for level in levels),
        ticks=tuple(_ticks(bars, slot, width)),
        limit_y=None if shown_limit is None else round(y(shown_limit), 2),
    )


def row_parts(values: Sequence[float], whole: float) -> tuple[Part, ...]:
    """Return the parts of a horizontal bar whose full width represents ``whole``."""
    if whole <= 0:
        return ()
    x = scale.LinearScale(0.0, whole, 0.0, 100.0)
    return tuple(
        Part(series, round(x(start), 2), 0.0, round(x(end) - round(x(start), 2), 2), 100.0)
        for series, start, end in _stacked(values)
    )


def _parts(bar: Bar, left: float, width: float, y: scale.LinearScale) -> Iterator[Part]:
    for series, start, end in _stacked(bar.values):
        top = round(y(end), 2)
        yield Part(series, round(left, 2), top, round(width, 2), round(y(start) - top, 2))


def _stacked(values: Sequence[float]) -> Iterator[tuple[int, float, float]]:
    """Yield the index, start and end of each positive value, stacked from zero."""
    end = 0.0
    for series, value in enumerate(values):
        start, end = end, end + max(0.0, value)
        if end > start:
            yield series, start, end


def _ticks(bars: Sequence[Bar], slot: float, width: float) -> list[Tick]:
    """Return evenly spaced labels, including one for the last bar.

    Labels are centred below their bars. If bars are narrow (``slot`` < ``_WIDEST``), the last label
    ends at the right edge of its bar, because a centred label could extend beyond the plot.
    """
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
