"""Make static/fonts/plate.woff2: the strokes of a plate's letters and digits as a font.

Fields for a plate show what one types as the plate draws it. An em is the width of 80 units of a
plate, so that text at a fifth of the plate's width is as large as the drawn letters.
"""

from itertools import pairwise
from math import hypot
from pathlib import Path
from typing import Any, Final

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.cu2quPen import Cu2QuPen
from fontTools.pens.recordingPen import RecordingPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.svgLib.path import parse_path

from portal.presentation.plate_glyphs import GLYPHS, HEIGHT, PEN, WIDTH, Stroke

FILE: Final = Path(__file__).parents[2] / "static" / "fonts" / "plate.woff2"
MOST_BYTES: Final = 4_000
EM: Final = 80
# Coordinates of a font are integers.
SCALE: Final = 10
# Half the space between two glyphs.
BEARING: Final = 4
MITER_LIMIT: Final = 3
# Seconds since 1904. It is fixed, so that the same glyphs give the same file.
MADE_S: Final = 3_860_000_000

Point = tuple[float, float, bool]  # x, y, and whether the curve passes through it


def build() -> FontBuilder:
    """Return the font. A hyphen is the plate's dot; small letters are the capitals."""
    glyphs = {".notdef": TTGlyphPen(None).glyph(), "space": TTGlyphPen(None).glyph()}
    widths = {".notdef": EM // 2, "space": EM // 4}
    characters = {0x20: "space"}
    for character, strokes in GLYPHS.items():
        name = f"u{ord(character)}"
        pen = TTGlyphPen(None)
        for stroke in strokes:
            for line in _lines(stroke):
                for contour in _contours(line):
                    _draw(contour, pen)
        glyphs[name] = pen.glyph()
        widths[name] = 2 * BEARING + (10 if character == "-" else WIDTH)
        characters |= {ord(character): name, ord(character.lower()): name}
    font = FontBuilder(EM * SCALE)
    font.setupGlyphOrder(list(glyphs))
    font.setupCharacterMap(characters)
    font.setupGlyf(glyphs)
    font.setupHorizontalMetrics(
        {name: (widths[name] * SCALE, glyph.xMin) for name, glyph in glyphs.items()}
    )
    top, bottom = (EM + HEIGHT) // 2 * SCALE, (EM - HEIGHT) // 2 * SCALE
    font.setupHorizontalHeader(ascent=top, descent=-bottom)
    font.setupOS2(
        sTypoAscender=top,
        sTypoDescender=-bottom,
        sTypoLineGap=0,
        usWinAscent=top,
        usWinDescent=bottom,
    )
    font.setupNameTable({"familyName": "Placa", "styleName": "Regular"})
    font.setupPost(keepGlyphNames=False)
    font.updateHead(created=MADE_S, modified=MADE_S)
    font.font.recalcTimestamp = False
    return font


def _lines(stroke: Stroke) -> list[list[Point]]:
    """The points of each line of a stroke. Those off the curve control its quadratic curves."""
    left, top, commands = stroke
    record = RecordingPen()
    parse_path(f"M{left} {top}{commands}", Cu2QuPen(record, max_err=0.5))
    lines: list[list[Point]] = []
    for command, values in record.value:
        if command == "moveTo":
            lines.append([])
        elif command == "closePath":
            values = (lines[-1][0][:2],)
        for number, (x, y) in enumerate(values, 1):
            if not lines[-1] or (x, y) != lines[-1][-1][:2]:
                lines[-1].append((x, y, command != "qCurveTo" or number == len(values)))
    return lines


def _contours(points: list[Point]) -> list[list[Point]]:
    """The outline of a stroke: one contour, or an outer and an inner one where it is closed."""
    is_closed = points[0][:2] == points[-1][:2]
    left, right = (_beside(points, side * PEN / 2, is_closed) for side in (-1, 1))
    if is_closed:
        return [left[:-1], right[:0:-1]]
    return [[*left, *reversed(right)]]


def _beside(points: list[Point], distance: float, is_closed: bool) -> list[Point]:
    """The points moved sideways: to where the moved edges beside each of them meet."""
    edges = []
    for (x, y, _), (to_x, to_y, _) in pairwise(points):
        length = hypot(to_x - x, to_y - y)
        edges.append(((y - to_y) / length * -distance, (to_x - x) / length * -distance))
    around = [edges[-1] if is_closed else edges[0], *edges, edges[0] if is_closed else edges[-1]]
    moved: list[Point] = []
    for (x, y, is_on), (before, after) in zip(points, pairwise(around), strict=True):
        sum_x, sum_y = before[0] + after[0], before[1] + after[1]
        miter = 2 * abs(distance) / (hypot(sum_x, sum_y) or 1)
        if is_on and miter > MITER_LIMIT:
            moved += [(x + dx, y + dy, True) for dx, dy in (before, after)]
        else:
            moved.append((x + sum_x * miter**2 / 2, y + sum_y * miter**2 / 2, is_on))
    return moved


def _draw(contour: list[Point], pen: Any) -> None:
    placed = [
        (round((x + BEARING) * SCALE), round((HEIGHT - y) * SCALE), is_on)
        for x, y, is_on in contour
    ]
    pen.moveTo(placed[0][:2])
    controls: list[tuple[int, int]] = []
    for x, y, is_on in [*placed[1:], placed[0]]:
        if not is_on:
            controls.append((x, y))
        elif controls:
            pen.qCurveTo(*controls, (x, y))
            controls = []
        else:
            pen.lineTo((x, y))
    pen.closePath()


def main() -> None:
    """Write the font; fail if it exceeds MOST_BYTES."""
    font = build().font
    font.flavor = "woff2"
    font.save(FILE)
    assert FILE.stat().st_size <= MOST_BYTES


if __name__ == "__main__":
    main()
