"""The data classes of a price chart.

The plot's top left corner is 0,0. In the layout "screen", coordinates are percentages of the plot,
and the style sheet sets the plot's size. SVG paths of this layout are for a box of 1000 × 1000
units, which the template stretches to the plot. The other layouts have a fixed size in the units of
``view_box``. Fields such as ``area_path`` contain the attribute ``d`` of an SVG path.

The chosen series is the main series of a chart. A real price is a price that is not a prediction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final, Literal, NamedTuple, Protocol

from portal.charts.paths import Point

Layout = Literal["screen", "paper", "compact"]
Anchor = Literal["start", "middle", "end"]

# No car costs this many R$, so a price of this amount or more is an error of the source. Such
# prices are not drawn, because they would make every line look flat.
_TOO_MUCH: Final = Decimal(100_000_000)


class Plotted(Protocol):
    """A point of a series: the price of one month. ``month`` is the first day of that month."""

    @property
    def month(self) -> date: ...
    @property
    def value(self) -> Decimal: ...
    @property
    def predicted(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One series to draw.

    The points may be in any order, and a month may occur more than once. ``is_mean`` is true if the
    points are the mean of several series. ``price_chart`` uses lines as cache keys. A line stores
    its hash, because hashing many points at each use is slow.
    """

    name: str
    points: Sequence[Plotted]
    is_mean: bool = False
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Test finiteness first, because comparing a signalling NaN raises an error.
        drawable = tuple(
            [one for one in self.points if one.value.is_finite() and abs(one.value) < _TOO_MUCH]
        )
        object.__setattr__(self, "points", drawable)
        object.__setattr__(self, "_hash", hash((self.name, drawable, self.is_mean)))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Band:
    """A vertical strip of the plot, from ``x`` to ``x + width``."""

    x: float
    width: float


class PriceTick(NamedTuple):
    """A grid line and its label, such as "R$ 90 mil".

    Narrow screens show only ``short`` ("90").
    """

    y: float
    before: str
    short: str
    after: str

    @property
    def text(self) -> str:
        return f"{self.before}{self.short}{self.after}"


class MonthTick(NamedTuple):
    """A label below the plot.

    Narrow screens hide ``before`` (the "20" of "2022"). If ``is_minor`` is true, narrow screens
    hide the whole label.
    """

    x: float
    before: str
    text: str
    anchor: Anchor
    is_minor: bool


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn series.

    ``number`` is the position of the series in the caller's list, from 1. ``real_path`` is a solid
    line, and ``predicted_path`` a dashed line. Either path may be "". ``dots`` are the coordinates
    of points without a line, because the months before and after have no price. A series that
    ``is_mean`` is drawn dashed.
    """

    number: int
    name: str
    real_path: str
    predicted_path: str
    dots: tuple[Point, ...]
    is_mean: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """The point of the first or the highest price, and the label above the point.

    ``x`` and ``y`` are the coordinates of the point. ``x`` is also the x coordinate of the label.
    ``text_y`` is the label's baseline, and ``anchor`` is its SVG attribute ``text-anchor``.
    """

    x: float
    y: float
    text_y: float
    anchor: Anchor
    month: str
    price: str


@dataclass(frozen=True, slots=True)
class Flag:
    """The label of the chosen series' last real price, at the plot's right edge.

    The label consists of ``price`` and, below it, ``month``. ``y`` is the middle of the text
    ``price``. ``month`` is "" if the price is the current price. ``dot_x`` and ``dot_y`` are the
    coordinates of the price's point in the chart.
    """

    y: float
    dot_x: float
    dot_y: float
    price: str
    month: str


@dataclass(frozen=True, slots=True)
class EndLabel:
    """A label at the right edge: the last real price of a series that is not chosen.

    ``name`` tells the series from the others of the chart, or is "". ``dot_x`` and ``dot_y`` are
    the coordinates of the price's point. The asking price has such a label too, of number 0.
    """

    number: int
    y: float
    text: str
    name: str
    dot_x: float
    dot_y: float


@dataclass(frozen=True, slots=True)
class Months:
    """The months of the chosen series, as data for the script static/js/chart.js.

    ``first`` is the ``month_index`` of the first month. ``values`` lists the price of each month in
    whole reais. A negative value is a predicted price, and 0 means that the month has no price.
    ``x`` has the x coordinates of the first and last month. ``y`` has the y coordinates of the
    lowest and highest grid line, and ``levels`` the prices at these two lines. ``peak`` is the
    highest real price, or 0 if there is no real price. ``last_real`` is the index in ``values`` of
    the last real price, or of the last price if there is no real price.
    """

    first: int
    values: tuple[int, ...]
    x: tuple[float, float]
    y: tuple[float, float]
    levels: tuple[float, float]
    peak: int
    last_real: int


@dataclass(frozen=True, slots=True)
class PriceChart:
    """A whole chart: the chosen series, and the other series on the same scale.

    ``bands`` are background strips, one for every second year. ``zone`` is the hatched strip to the
    right of all real prices, or None if no prediction follows the real prices. If the price axis
    leaves out the prices between zero and the lowest grid line, a zigzag (the axis break) marks the
    gap. ``break_y`` is the top of the axis break, or None if there is no axis break. ``hatch_path``
    and ``break_path`` draw the hatching and the axis break. In the layout "screen" both paths are
    "", because the template draws patterns instead. ``unit`` is the unit that ``PriceTick.short``
    leaves out, such as "mil" (thousand), or "" if no unit is left out. ``is_long`` is true if a
    label beside the plot needs a wider margin. ``asking`` is the label of the asking price, or None
    if the chart does not show one.
    """

    layout: Layout
    width: float
    height: float
    view_box: str
    font_size: float
    plot_width: float
    plot_height: float
    bands: tuple[Band, ...]
    zone: Band | None
    zone_label: str
    hatch_path: str
    prices: tuple[PriceTick, ...]
    unit: str
    months: tuple[MonthTick, ...]
    break_y: float | None
    break_path: str
    area_path: str
    chosen: Curve
    others: tuple[Curve, ...]
    start: Mark | None
    peak: Mark | None
    now: Flag | None
    ends: tuple[EndLabel, ...]
    is_long: bool
    read: Months
    asking: EndLabel | None
