"""Plates and the logo as SVG: every plate is drawn, small enough, and readable as text."""

import re
import string
from io import BytesIO
from itertools import product
from typing import Any
from xml.etree import ElementTree

import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st

from portal.presentation.plate_glyphs import GLYPHS, HEIGHT, WIDTH, glyph_path
from portal.vehicle.plate import Plate
from tests.presentation.rendering import ENVIRONMENT
from tests.quality import plate_font

CHARACTERS = string.ascii_uppercase + string.digits
MOST_BYTES = 2_000
LETTERS, DIGITS = st.sampled_from(string.ascii_uppercase), st.sampled_from(string.digits)
PLATES = st.builds(
    lambda *parts: Plate("".join(parts)),
    *(LETTERS, LETTERS, LETTERS, DIGITS, LETTERS | DIGITS, DIGITS, DIGITS),
)
COMPONENT: Any = ENVIRONMENT.get_template("components/plate.html").module
_POINT = re.compile(r"M(-?\d+) (-?\d+)")


def drawn(plate: Plate, **options: bool) -> ElementTree.Element:
    return ElementTree.fromstring(str(COMPONENT.plate_image(plate, **options)))


def letters(element: ElementTree.Element) -> str:
    return next(
        str(path.get("d")) for path in element.iter("path") if path.get("class") == "plate__glyphs"
    )


def test_every_character_of_a_plate_has_its_own_glyph() -> None:
    assert set(GLYPHS) == {*CHARACTERS, "-"}
    assert len({glyph_path(character) for character in CHARACTERS}) == len(CHARACTERS)


def test_font_of_the_fields_has_the_same_glyphs() -> None:
    file = BytesIO()
    plate_font.build().font.save(file)
    kept, made = TTFont(plate_font.FILE), TTFont(file)
    names, made_names = kept.getBestCmap(), made.getBestCmap()
    assert set(names) == set(made_names) == {*map(ord, CHARACTERS + CHARACTERS.lower() + "- ")}
    for character, name in names.items():
        for table in ("glyf", "hmtx"):
            assert kept[table][name] == made[table][made_names[character]], chr(character)


def test_glyph_strokes_start_inside_their_box() -> None:
    for character in CHARACTERS:
        for left, top, commands in GLYPHS[character]:
            assert 0 <= left <= WIDTH and 0 <= top <= HEIGHT, character
            assert commands == commands.lower(), "absolute commands cannot be moved"


def test_glyph_path_places_boxes_side_by_side() -> None:
    starts = [int(x) for x, _ in _POINT.findall(glyph_path("LLL", 10, 20, gap=5))]
    assert starts == [19, 19 + WIDTH + 5, 19 + 2 * (WIDTH + 5)]


@given(PLATES)
def test_every_plate_is_drawn_within_the_budget(plate: Plate) -> None:
    for small, large in ((True, False), (False, False), (False, True)):
        html = str(COMPONENT.plate_image(plate, small=small, large=large))
        element = ElementTree.fromstring(html)
        assert len(html.encode()) <= MOST_BYTES
        assert "style=" not in html and " id=" not in html
        assert "".join(element.itertext()) == plate.display
        for character in plate.text:
            assert GLYPHS[character][0][2] in letters(element)


def test_plate_holds_only_the_glyphs_it_needs() -> None:
    assert GLYPHS["Q"][1][2] not in letters(drawn(Plate("ABC1D23")))


@pytest.mark.parametrize(("text", "says"), [("ABC1D23", True), ("ABC1323", False)])
def test_grey_plate_does_not_say_brasil(text: str, says: bool) -> None:
    assert (glyph_path("BRASIL", gap=16) in str(COMPONENT.plate_image(Plate(text)))) is says


def test_small_plate_has_no_br_mark() -> None:
    mark = f'"{glyph_path("BR")}"'
    assert mark in str(COMPONENT.plate_image(Plate("ABC1D23")))
    assert mark not in str(COMPONENT.plate_image(Plate("ABC1D23"), small=True))


def test_pictures_are_hidden_from_screen_readers_and_text_is_not() -> None:
    for text, options in product(("ABC1D23", "ABC1323"), ({}, {"small": True})):
        plate = drawn(Plate(text), **options)
        svg, label = list(plate)
        assert svg.get("aria-hidden") == "true"
        assert label.get("aria-hidden") is None and label.text == Plate(text).display
