"""The data classes of a price chart.

A template prints the coordinates and SVG paths unchanged. The plot's top left corner is 0,0. In the
layout "screen", whose size the style sheet sets, coordinates are percentages of the plot. Its paths
are in tenths of a per cent, for a box of 1000 × 1000 that the template stretches. The other layouts
have a fixed size in the units of ``view_box``. A path text is the value of an SVG path's attribute
``d``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final, Literal, Protocol

Layout = Literal["screen", "paper", "mini", "compact"]
Anchor = Literal["start", "middle", "end"]

# More than any car costs. The source sends a larger price only by mistake, and drawing this price
# would flatten every line.
_TOO_MUCH: Final = Decimal(100_000_000)


class Plotted(Protocol):
    """A point of a series. ``month`` is the first day of the month."""

    @property
    def month(self) -> date: ...
    @property
    def value(self) -> Decimal: ...
    @property
    def predicted(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One series to draw.

    The points may be in any order, and a month may occur more than once. A line stores its hash,
    because ``price_chart`` uses lines as cache keys and hashing many points each time is slow.
    """

    name: str
    points: Sequence[Plotted]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        drawable = tuple(point for point in self.points if _is_drawable(point.value))
        object.__setattr__(self, "points", drawable)
        object.__setattr__(self, "_hash", hash((self.name, drawable)))

    def __hash__(self) -> int:
        return self._hash


def _is_drawable(value: Decimal) -> bool:
    # Test finiteness first, because comparing a signalling NaN raises an error.
    return value.is_finite() and -_TOO_MUCH < value < _TOO_MUCH


@dataclass(frozen=True, slots=True)
class Band:
    """A vertical strip of the plot, from ``x`` to ``x + width``."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class PriceTick:
    """A grid line and its label ``text``. Narrow screens show only ``short``."""

    y: float
    before: str
    short: str
    after: str

    @property
    def text(self) -> str:
        return f"{self.before}{self.short}{self.after}"


@dataclass(frozen=True, slots=True)
class MonthTick:
    """A label below the plot.

    Narrow screens hide ``before`` (the "20" of "2022"), and hide labels with ``is_minor``
    completely.
    """

    x: float
    before: str
    text: str
    anchor: Anchor
    is_minor: bool


@dataclass(frozen=True, slots=True)
class Dot:
    """A point without a neighbouring month, which no line reaches."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn series.

    ``number`` is the position of the series in the caller's list, from 1. ``real_path`` is drawn
    solid and ``predicted_path`` dashed. Either may be "".
    """

    number: int
    name: str
    real_path: str
    predicted_path: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with a text above it. ``text_y`` is the baseline of the text."""

    x: float
    y: float
    text_x: float
    text_y: float
    anchor: Anchor
    month: str
    price: str


@dataclass(frozen=True, slots=True)
class Flag:
    """The label of the chosen series' last real price, at the plot's right edge.

    ``y`` is the middle of the label, without its line for ``month``. ``dot_x`` and ``dot_y`` locate
    the point itself. ``month`` is "" if ``Words.now`` is true.
    """

    y: float
    dot_x: float
    dot_y: float
    price: str
    month: str


@dataclass(frozen=True, slots=True)
class EndLabel:
    """The label of another series' last real price, beside the plot's right edge."""

    number: int
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Months:
    """Every month of the chosen series, from its first to its last, as data for the page's script.

    ``first`` is a ``month_index``. ``values`` are whole amounts: 0 for a month without a price,
    negative for a prediction. ``x`` are the x coordinates of the first and last month. ``y`` are
    the y coordinates of the lowest and highest grid line, and ``levels`` their values. ``peak`` is
    the highest real price, and ``last_real`` the index of the last real price in ``values``.
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

    ``bands`` are the strips behind every second year. ``zone`` is the hatched strip after the last
    real month of all series. ``break_y`` is the top of the axis break, or None if the axis starts
    at zero. ``hatch_path`` and ``break_path`` draw the hatching and the axis break. In the layout
    "screen" they are "", because the template draws both as patterns. ``unit`` is the unit of all
    short price labels ("mil"), or "". ``is_long`` is true if the texts at the sides need a wider
    margin.
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
