"""The geometry of a price chart, with every coordinate and path computed.

A template prints these values unchanged. Coordinates are units of the plot, whose top left corner
is 0,0. In the layout "screen" they are percentages of the plot, whose size is the style sheet's;
its paths are in tenths of a per cent, for a box of 1000 × 1000 that the template stretches. The
other layouts have a fixed size. Path texts are values of SVG's ``d`` attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final, Literal, Protocol

Layout = Literal["screen", "paper", "mini", "compact"]
Anchor = Literal["start", "middle", "end"]

# No car costs as much. A larger number is a mistake of the source and would flatten every line.
_TOO_MUCH: Final = Decimal(100_000_000)


class Plotted(Protocol):
    """A month (its first day), its value, and whether the value is a prediction."""

    @property
    def month(self) -> date: ...
    @property
    def value(self) -> Decimal: ...
    @property
    def predicted(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Line:
    """One series to draw.

    A missing month is a gap; order and duplicates do not matter. Points that cannot be drawn are
    left out. A drawing is looked up by its lines, so the hash of many points is computed once.
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
    # A signalling NaN cannot be compared, so that finiteness comes first.
    return value.is_finite() and -_TOO_MUCH < value < _TOO_MUCH


@dataclass(frozen=True, slots=True)
class Band:
    """A part of the plot's width."""

    x: float
    width: float


@dataclass(frozen=True, slots=True)
class PriceTick:
    """A grid line. Narrow screens show ``short`` only: ``before``, ``short``, ``after``."""

    y: float
    before: str
    short: str
    after: str

    @property
    def text(self) -> str:
        return f"{self.before}{self.short}{self.after}"


@dataclass(frozen=True, slots=True)
class MonthTick:
    """A text below the plot.

    Narrow screens leave out ``before`` ("20" of "2022") and all of a ``is_minor`` tick.
    """

    x: float
    before: str
    text: str
    anchor: Anchor
    is_minor: bool


@dataclass(frozen=True, slots=True)
class Dot:
    """A point without neighbours, which no line shows."""

    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A drawn series, with its position among the given ones, from 1.

    ``real_path`` is solid, ``predicted_path`` dashed; either may be "".
    """

    number: int
    name: str
    real_path: str
    predicted_path: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A point with a text above it. ``text_y`` is the baseline."""

    x: float
    y: float
    text_x: float
    text_y: float
    anchor: Anchor
    month: str
    price: str


@dataclass(frozen=True, slots=True)
class Flag:
    """The last real price, at the plot's right edge.

    ``y`` is the flag's middle, ``dot_x`` and ``dot_y`` the point. ``month`` is "" where the price
    is the current one.
    """

    y: float
    dot_x: float
    dot_y: float
    price: str
    month: str


@dataclass(frozen=True, slots=True)
class EndLabel:
    """The last real price of another series, beside the plot's right edge."""

    number: int
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Months:
    """Every month of the chosen series from the first one, for a script that reads them.

    ``values`` are whole amounts: 0 for a month without a price, negative for a prediction.
    ``x`` and ``y`` are the plot's coordinates of the first and last month, and of the lowest and
    highest value of ``levels``.
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
    """A whole chart: one chosen series, and the other ones on the same scale.

    ``bands`` are every second year. ``zone`` is the hatched part, after the last real month of all
    series; ``hatch_path`` are its lines in a fixed layout. ``break_y`` is the top of the axis
    break, None where the axis starts at zero; ``break_path`` are its lines in a fixed layout.
    ``is_long``: the texts at the sides need more room.
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
