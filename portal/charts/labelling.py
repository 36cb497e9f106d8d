"""Where a text goes so that it stays inside the picture and covers neither text nor line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]

# The mean advance of digits and lower-case letters in the system fonts, in em; a little wide,
# so that a narrow guess never lets two labels touch.
_EM_PER_CHARACTER = 0.56
_ASCENT, _DESCENT = 0.8, 0.25
_GAP = 8.0


@dataclass(frozen=True, slots=True)
class Area:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Area") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def holds(self, other: "Area") -> bool:
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )

    def covers(self, point: tuple[float, float]) -> bool:
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom


@dataclass(frozen=True, slots=True)
class Place:
    """A text's anchor point (y is the baseline) and the area it is thought to fill."""

    x: float
    y: float
    anchor: Anchor
    area: Area


def text_width(text: str, font_size: float) -> float:
    return len(text) * font_size * _EM_PER_CHARACTER


def text_area(x: float, y: float, anchor: Anchor, text: str, font_size: float) -> Area:
    width = text_width(text, font_size)
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    return Area(left, y - _ASCENT * font_size, left + width, y + _DESCENT * font_size)


def place_beside(
    point: tuple[float, float],
    text: str,
    font_size: float,
    *,
    bounds: Area,
    taken: Sequence[Area],
    line: Iterable[tuple[float, float]],
) -> Place | None:
    """The free place beside ``point`` that covers least of ``line``; None if there is none."""
    places = []
    for x, y, anchor in _candidates(point, font_size):
        area = text_area(x, y, anchor, text, font_size)
        if bounds.holds(area) and not any(area.overlaps(other) for other in taken):
            places.append(Place(x, y, anchor, area))
    if not places:
        return None
    # Most of a line is far away: it is looked through once, not once a place.
    within = _around([place.area for place in places])
    near = [drawn for drawn in line if within.covers(drawn)]
    return min(places, key=lambda place: sum(map(place.area.covers, near)))


def _around(areas: Sequence[Area]) -> Area:
    return Area(
        min(area.left for area in areas),
        min(area.top for area in areas),
        max(area.right for area in areas),
        max(area.bottom for area in areas),
    )


def _candidates(
    point: tuple[float, float], font_size: float
) -> Iterable[tuple[float, float, Anchor]]:
    x, y = point
    anchors: tuple[Anchor, ...] = ("middle", "start", "end")
    for distance in (_GAP, _GAP + font_size * 1.3, _GAP + font_size * 2.6):
        for baseline in (y - distance, y + distance + _ASCENT * font_size):
            for anchor in anchors:
                yield x, baseline, anchor
