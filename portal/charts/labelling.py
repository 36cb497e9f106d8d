"""Place labels inside a chart, on no other text and, if possible, off the line."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]

# The mean advance width of digits and lower-case letters in the system fonts, in em. The value is
# slightly high, because labels of underestimated width could touch.
_EM_PER_CHARACTER = 0.56
# Labels are bold; this is the mean advance width in the bold weight of the widest system font.
_EM_PER_BOLD_CHARACTER = 0.63
_ASCENT, _DESCENT = 0.8, 0.25
_GAP = 8.0
# Half a stroke plus the halo around letters. A text nearer to the line than this covers part of it.
_CLEARANCE = 3.0


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

    def grown(self, by: float) -> "Area":
        return Area(self.left - by, self.top - by, self.right + by, self.bottom + by)


@dataclass(frozen=True, slots=True)
class Place:
    """A text, its anchor point (y is the baseline) and its estimated area."""

    text: str
    x: float
    y: float
    anchor: Anchor
    area: Area


def text_width(text: str, font_size: float, *, bold: bool = False) -> float:
    return len(text) * font_size * (_EM_PER_BOLD_CHARACTER if bold else _EM_PER_CHARACTER)


def text_area(
    x: float, y: float, anchor: Anchor, text: str, font_size: float, *, bold: bool = False
) -> Area:
    width = text_width(text, font_size, bold=bold)
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    return Area(left, y - _ASCENT * font_size, left + width, y + _DESCENT * font_size)


def place_beside(
    point: tuple[float, float],
    texts: Sequence[str],
    font_size: float,
    *,
    bounds: Area,
    taken: Sequence[Area],
    line: Iterable[tuple[float, float]],
    must_show: bool,
) -> Place | None:
    """Place the first of ``texts`` that fits beside ``point`` and off ``line``.

    ``texts`` are bold and in order of preference; ``line`` holds points a few units apart. Nearer
    places come first. If every free place covers part of the line, the result with ``must_show``
    is the place that covers least of it, otherwise None. Without a free place the result is None.
    Without ``must_show`` the farthest places are not tried, because there the text could be taken
    for the label of another point.
    """
    distances = (_GAP, _GAP + font_size * 1.3, _GAP + font_size * 2.6)[: 3 if must_show else 2]
    places = []
    for text in texts:
        for x, y, anchor in _candidates(point, text, font_size, bounds, distances):
            area = text_area(x, y, anchor, text, font_size, bold=True)
            if bounds.holds(area) and not any(area.overlaps(other) for other in taken):
                places.append(Place(text, x, y, anchor, area))
    if not places:
        return None
    # Most of the line is far from every place, so it is filtered once, not once per place.
    within = _around([place.area for place in places]).grown(_CLEARANCE)
    near = [drawn for drawn in line if within.covers(drawn)]
    covered = [sum(map(place.area.grown(_CLEARANCE).covers, near)) for place in places]
    least = min(covered)
    return places[covered.index(least)] if must_show or not least else None


def _around(areas: Sequence[Area]) -> Area:
    return Area(
        min(area.left for area in areas),
        min(area.top for area in areas),
        max(area.right for area in areas),
        max(area.bottom for area in areas),
    )


def _candidates(
    point: tuple[float, float],
    text: str,
    font_size: float,
    bounds: Area,
    distances: Sequence[float],
) -> Iterable[tuple[float, float, Anchor]]:
    x, y = point
    across: list[tuple[float, Anchor]] = [(x, "middle"), (x, "start"), (x, "end")]
    # If an edge is nearer than the text's width, a text aligned with it still covers the point's x.
    width = text_width(text, font_size, bold=True)
    if x + width > bounds.right:
        across.append((bounds.right, "end"))
    if x - width < bounds.left:
        across.append((bounds.left, "start"))
    for distance in distances:
        for baseline in (y - distance, y + distance + _ASCENT * font_size):
            for at, anchor in across:
                yield at, baseline, anchor
