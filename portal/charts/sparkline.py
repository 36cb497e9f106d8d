"""A sparkline: a small line without axes, which shows a series' direction but not its values."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts import paths, scale
from portal.charts.geometry import Plotted

WIDTH, HEIGHT = 96, 24
# A margin on each side, so that the box does not cut off the line or the dot of the last point.
_MARGIN = 3.0


@dataclass(frozen=True, slots=True)
class Sparkline:
    """The path of a line in a box of 96 × 24 units, and the coordinates of the line's last point.

    ``months`` is the number of months from the first point to the last, both included.
    """

    path: str
    dot_x: float
    dot_y: float
    months: int


def sparkline(points: Sequence[Plotted], months: int = 60) -> Sparkline | None:
    """Return the line of the last ``months`` months.

    Return None if these months have fewer than three real prices.
    """
    real = {scale.month_index(p.month): float(p.value) for p in points if not p.predicted}
    last = max(real, default=0)
    known = {index: real[index] for index in sorted(real) if index > last - months}
    if len(known) < 3:
        return None
    low, high = scale.widen(min(known.values()), max(known.values()))
    across = scale.LinearScale(min(known), last, _MARGIN, WIDTH - _MARGIN)
    down = scale.LinearScale(low, high, HEIGHT - _MARGIN, _MARGIN)
    places = {index: (across(index), down(value)) for index, value in known.items()}
    x, y = places[last]
    # The line is drawn across missing months, because a gap in such a small line looks like a
    # printing fault.
    path = paths.line_path([list(places.values())])
    return Sparkline(path, round(x, 1), round(y, 1), last - min(known) + 1)
