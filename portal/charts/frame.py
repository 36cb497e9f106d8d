"""The plot of a price chart: its size for each layout, and its scales."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from portal.charts import paths, scale
from portal.charts.geometry import Layout, Plotted


@dataclass(frozen=True, slots=True)
class Canvas:
    """The size of a plot, and of the margins for the texts around it.

    ``is_fixed`` is false in the layout "screen", whose units are percentages.
    """

    plot_width: float
    plot_height: float
    left: float = 0
    top: float = 0
    right: float = 0
    bottom: float = 0
    font_size: float = 14
    is_fixed: bool = True

    @property
    def path_scale(self) -> int:
        """The number of SVG path units in a unit of the plot."""
        return 1 if self.is_fixed else 10


# In the layout "paper", one unit is a quarter of a millimetre, so letters of 12 units measure 8.5
# points. The layout "compact" is for phones. Its drawing is 332 units wide. The smallest supported
# screen (320 px) shows the drawing 286 px wide, so letters of 14 units measure 12 px.
CANVASES: Final = MappingProxyType[Layout, Canvas](
    {
        "screen": Canvas(100, 100, is_fixed=False),
        "paper": Canvas(342, 110, left=74, top=22, right=96, bottom=22, font_size=12),
        "compact": Canvas(222, 190, left=38, top=26, right=72, bottom=24),
    }
)


@dataclass(frozen=True, slots=True)
class Frame:
    """The scales of a plot.

    ``first`` and ``last`` are the ``month_index`` of the first and of the last month. This index
    counts months since January of year 0.

    ``levels`` are the prices of the grid lines, the lowest first. ``is_broken`` is true if the
    price axis does not begin at zero.
    """

    canvas: Canvas
    first: int
    last: int
    x: scale.LinearScale
    y: scale.LinearScale
    levels: tuple[float, ...]
    is_broken: bool

    def at(self, index: int, point: Plotted) -> paths.Point:
        return self.x(index), self.y(float(point.value))

    def rounded(self, coordinate: float) -> float:
        """Round a coordinate to 0.1 unit, or to 0.01 per cent in the layout "screen"."""
        return round(coordinate, 1 if self.canvas.is_fixed else 2)

    def dot(self, index: int, point: Plotted) -> paths.Point:
        x, y = self.at(index, point)
        return self.rounded(x), self.rounded(y)

    def drawn(self, known: Mapping[int, Plotted]) -> dict[int, paths.Point]:
        """Return the points by month index, in the units of SVG paths.

        They are rounded to integers in the layout "screen", otherwise to one decimal.
        """
        units, digits = self.canvas.path_scale, int(self.canvas.is_fixed)
        return {
            index: (
                round(self.x(index) * units, digits),
                round(self.y(float(point.value)) * units, digits),
            )
            for index, point in known.items()
        }


# The points of a series by ``month_index``, the earliest month first.
Known = dict[int, Plotted]


def last_real(known: Known) -> int | None:
    return next((index for index in reversed(known) if not known[index].predicted), None)
