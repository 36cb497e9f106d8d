"""A line without axes, as small as a word: the direction of a series, not its values."""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.charts import paths, scale
from portal.charts.geometry import Plotted

WIDTH, HEIGHT = 96, 24
# Half the line's width and the radius of the last point's dot stay inside the box.
_MARGIN = 3.0


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Paths inside a box of 96 × 24 units, the last real point, and the months of the period."""

    path: str
    dot_x: float
    dot_y: float
    months: int


def sparkline(points: Sequence[Plotted], months: int = 60) -> Sparkline | None:
    """Return the line of the real prices of the last ``months``; None for fewer than three."""
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
    # A gap is bridged here: at this size it could be taken for a break in the paper.
    path = paths.line_path([list(places.values())])
    return Sparkline(path, round(x, 1), round(y, 1), last - min(known) + 1)
