"""SVG path texts from points: lines that break at gaps, and the shapes of markers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

Marker = Literal["circle", "square", "triangle", "diamond", "cross", "wedge"]

# In the order of the series' numbers.
MARKERS: tuple[Marker, ...] = ("circle", "square", "triangle", "diamond", "cross", "wedge")

_SHAPES: Mapping[Marker, str] = {
    "circle": "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    "square": "m-3.2-3.2h6.4v6.4h-6.4z",
    "triangle": "m0-4.2l4 7.2h-8z",
    "diamond": "m0-4.4l4.4 4.4l-4.4 4.4l-4.4-4.4z",
    "cross": "m-4.2-1.4h2.8v-2.8h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8z",
    "wedge": "m0 4.2l4-7.2h-8z",
}

Point = tuple[float, float]


def number(value: float) -> str:
    """Format with one decimal at most and no trailing zero, to save bytes."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def line_path(runs: Iterable[Sequence[Point]]) -> str:
    """Return a path with one sub-path per run of two points or more."""
    return "".join(
        "M" + "L".join(f"{number(x)} {number(y)}" for x, y in run) for run in runs if len(run) > 1
    )


def marker_path(marker: Marker, points: Iterable[Point]) -> str:
    """Return one path with the marker's shape around each point."""
    shape = _SHAPES[marker]
    return "".join(f"M{number(x)} {number(y)}{shape}" for x, y in points)
