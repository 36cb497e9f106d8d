"""The letters and digits of a plate as SVG strokes.

The shapes were drawn for this project and imitate FE-Schrift, the typeface of new Brazilian
plates ("Mercosul").

The strokes need no font, so a plate looks the same in every browser, in print and in the PDF. Each
glyph fills a box of WIDTH × HEIGHT units. A stroke is a line of width PEN with flat ends. A
``Stroke`` holds the x and y of the line's first point, and then relative SVG path commands. Where a
diagonal meets the top or bottom of the box, a short vertical piece prevents a slanted end.

As on real plates, no letter looks like a digit. For example, 0 has straight sides and O is round.
"""

from typing import Final

from portal.data_files import read_toml

Stroke = tuple[int, int, str]

WIDTH: Final = 40
HEIGHT: Final = 66
PEN: Final = 10

GLYPHS: Final = read_toml(__package__, "plate_glyphs.toml", dict[str, tuple[Stroke, ...]])
_GAP: Final = 8
_DOT: Final = 10  # width of the glyph "-", which is drawn as a dot


def glyph_path(text: str, x: int = 0, y: int = 0, gap: int = _GAP) -> str:
    """Return the SVG path data of a text.

    ``x`` and ``y`` are the top left corner of the first glyph. ``gap`` is the space between two
    glyphs. Raises KeyError for a character that is not in GLYPHS.
    """
    strokes = []
    for character in text:
        strokes += [f"M{x + left} {y + top}{rest}" for left, top, rest in GLYPHS[character]]
        x += (_DOT if character == "-" else WIDTH) + gap
    return "".join(strokes)
