"""The data classes of a price chart. All coordinates and SVG paths are computed in advance.

A template prints these values unchanged. Coordinates are in units of the plot, whose top left
corner is 0,0. In the layout "screen", coordinates are percentages, because the style sheet sets the
plot's size. The paths of the layout "screen" are in tenths of a per cent, for a box of 1000 × 1000
that the template stretches. The other layouts have a fixed size. Path texts are values of SVG's
``d`` attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final, Literal, Protocol

Layout = Literal["screen", "paper", "mini", "compact"]
Anchor = Literal["start", "middle", "end"]

# No car costs this much in reais. A larger number is an error of the source, and drawing it would
# flatten every line.
_TOO_MUCH: Final = Decimal(100_000_000)


class Plotted(Protocol):
    """A point of a series: its month (the first day), its value, and whether it is a prediction."""

    @property
    def month(self) -> date: ...
    @property
    def value(self) -> Decimal: ...
    @property
    def predicted(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One series to draw.

    A missing month leaves a gap. The points may come in any order and more than once. Points that
    cannot be drawn are left out. ``price_chart`` caches drawings by their lines, so a line stores
    its hash instead of computing it from many points each time.
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
    # Finiteness is tested first, because comparing a signalling NaN raises an error.
    return value.is_finite() and -_TOO_MUCH < value < _TOO_MUCH


@dataclass(frozen=True, slots=True)
class Band:
    """A vertical strip of the plot, from ``x`` to ``x + width``."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class PriceTick:
    """A grid line with its label: ``before``, ``short`` and ``after`` joined.

    Narrow screens show only ``short``.
    """

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

    Narrow screens hide ``before`` (the "20" of "2022"). Narrow screens also hide ``is_minor``
    labels completely.
    """

    x: float
    before: str
    text: str
    anchor: Anchor
    is_minor: bool


@dataclass(frozen=True, slots=True)
class Dot:
    """A point without a neighbouring month.

    No line reaches it, so the chart draws a dot.
    """

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn series. ``number`` is the position among the given series, from 1.

    ``real_path`` is drawn solid and ``predicted_path`` dashed. Either may be "".
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

    ``y`` is the middle of the label; ``dot_x`` and ``dot_y`` locate the point itself. ``month`` is
    "" if the last real price is the current one.
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
    """Every month of the chosen series from its first one, as data for the page's script.

    ``values`` are whole amounts: 0 for a month without a price, negative for a prediction. ``x``
    holds the plot's coordinates of the first and last month. ``y`` holds the coordinates of the
    lowest and highest grid line, and ``levels`` their values.
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
    real month of all series, and ``hatch_path`` its hatching in a fixed layout. ``break_y`` is the
    top of the axis break, or None if the axis starts at zero. ``break_path`` draws the break in a
    fixed layout. ``is_long`` is true if the texts at the sides need a wider margin.
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
