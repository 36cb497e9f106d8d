"""The geometry of a price chart, with every coordinate and path computed.

A template prints these values unchanged. Coordinates are user units of ``view_box``, rounded to
one decimal; path texts are values of SVG's ``d`` attribute.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, Protocol

from portal.charts.labelling import Anchor

Layout = Literal["wide", "compact", "paper"]


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

    A missing month is a gap; order and duplicates do not matter.
    """

    name: str
    points: Sequence[Plotted]


@dataclass(frozen=True, slots=True)
class Box:
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line at ``at`` (x of a month, y of a price); x, y anchor its text."""

    at: float
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Label:
    """A text beside a point. ``anchor`` is SVG's text-anchor; y is the baseline."""

    kind: str  # "start", "peak", "now", or several joined by a blank
    x: float
    y: float
    anchor: Anchor
    text: str
    dot_x: float
    dot_y: float


@dataclass(frozen=True, slots=True)
class Dot:
    """A point without neighbours, which no line shows."""

    x: float
    y: float
    predicted: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A point to hover or focus: its position and its text ("jan/25: R$ 89.325")."""

    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """A drawn series. ``number`` is 1 to 6 and selects its colour and its shape.

    ``real_path`` is solid, ``predicted_path`` dashed; either may be "". ``markers_path`` holds
    the filled shapes that distinguish series without colour, "" where there is one series.
    ``swatch_path`` is the same shape around 0,0, for the key. ``now`` is the formatted last real
    price, "" where every price is a prediction.
    """

    number: int
    name: str
    now: str
    real_path: str
    predicted_path: str
    markers_path: str
    swatch_path: str
    dots: tuple[Dot, ...]
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class PriceChart:
    """A whole chart.

    ``zone`` is the shaded rectangle of predictions, from the last real month.

    ``labels`` are set only for a single series; with several, the key shows each ``now``.
    """

    layout: Layout
    width: int
    height: int
    view_box: str
    font_size: int
    plot: Box
    zone: Box | None
    zone_label: Label | None
    months: tuple[Tick, ...]
    prices: tuple[Tick, ...]
    series: tuple[Series, ...]
    labels: tuple[Label, ...]
