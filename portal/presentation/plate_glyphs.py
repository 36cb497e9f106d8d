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

Stroke = tuple[int, int, str]

WIDTH: Final = 40
HEIGHT: Final = 66
PEN: Final = 10

_O: Final = (5, 33, "c0-20 5-28 15-28s15 8 15 28-5 28-15 28-15-8-15-28z")

GLYPHS: Final[dict[str, tuple[Stroke, ...]]] = {
    "A": ((5, 66, "v-3l11-58h8l11 58v3"), (9, 47, "h22")),
    "B": ((2, 5, "h19q12 0 12 13t-12 13h-12m12 0q14 0 14 15t-14 15h-19"), (9, 5, "v56")),
    "C": ((35, 21, "q0-16-15-16t-15 17v22q0 17 15 17t15-16"),),
    "D": ((2, 5, "h17q16 0 16 17v22q0 17-16 17h-17"), (9, 5, "v56")),
    "E": ((35, 5, "h-26v56h27"), (9, 32, "h22")),
    "F": ((35, 5, "h-26v61"), (9, 34, "h21")),
    "G": ((35, 20, "q0-15-15-15t-15 17v22q0 17 15 17t15-16v-11h-14"),),
    "H": ((7, 0, "v66"), (33, 0, "v66"), (7, 32, "h26")),
    "I": ((9, 5, "h22"), (20, 5, "v56"), (9, 61, "h22")),
    "J": ((13, 5, "h18v39q0 17-14 17-13 0-13-13"),),
    "K": ((8, 0, "v66"), (34, 0, "v4l-25 33"), (17, 28, "l18 34v4")),
    "L": ((9, 0, "v61h26"),),
    "M": ((6, 66, "v-61h3l11 33 11-33h3v61"),),
    "N": ((7, 66, "v-61h3l20 56h3v-61"),),
    "O": (_O,),
    "P": ((9, 66, "v-61h11q15 0 15 16t-15 16h-11"),),
    "Q": (_O, (16, 38, "l20 24")),
    "R": ((9, 66, "v-61h11q15 0 15 15t-15 15h-11"), (19, 35, "l16 27v4")),
    "S": ((34, 20, "q0-15-14-15t-14 13q0 10 14 14 15 5 15 15 0 14-15 14t-15-15"),),
    "T": ((3, 5, "h34"), (20, 5, "v61")),
    "U": ((6, 0, "v44q0 17 14 17t14-17v-44"),),
    "V": ((5, 0, "v3l13 58h4l13-58v-3"),),
    "W": ((4, 0, "v3l7 58h2l7-36 7 36h2l7-58v-3"),),
    "X": ((6, 0, "v4l28 58v4"), (34, 0, "v4l-28 58v4")),
    "Y": ((5, 0, "v4l15 31 15-31v-4"), (20, 35, "v31")),
    "Z": ((7, 5, "h25l-24 56h27"),),
    "0": ((8, 16, "q0-11 12-11t12 11v34q0 11-12 11t-12-11z"),),
    "1": ((9, 21, "l14-16"), (24, 0, "v66")),
    "2": ((6, 21, "q0-16 14-16t14 14q0 8-6 16l-17 26h25"),),
    "3": ((7, 5, "h23l-12 22q17 0 17 17t-15 17-15-14"),),
    "4": ((23, 0, "v4l-15 43h31"), (29, 28, "v38")),
    "5": ((34, 5, "h-25l-2 25q5-6 13-6 15 0 15 18t-15 19-15-13"),),
    "6": ((27, 0, "v2l-16 27q-6 9-6 16 0 16 15 16t15-16-15-16q-8 0-12 5"),),
    "7": ((5, 5, "h28l-15 57v4"),),
    "8": ((20, 31, "q-13 0-13-13t13-13 13 13-13 13-15 15 15 15 15-15-15-15z"),),
    "9": ((34, 31, "q-4 7-14 7-15 0-15-17t15-16 15 16v23q0 17-15 17t-15-13"),),
    "-": ((0, 33, "h10"),),
}
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
