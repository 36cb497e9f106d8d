"""Plates as drawn: glyphs differ, stay in their boxes, and can be selected and found as text."""

import io
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from PIL import Image, ImageChops, ImageFilter

from portal.presentation.plate_glyphs import GLYPHS, HEIGHT, PEN, WIDTH, glyph_path
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

MARGIN = 8
BOX = (WIDTH + 2 * MARGIN, HEIGHT + 2 * MARGIN)
CHARACTERS = [character for character in GLYPHS if character != "-"]


@pytest.fixture(scope="module")
def demo() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def glyphs(page: "Page") -> dict[str, Image.Image]:
    """Draw each glyph black on white at one pixel per unit, with MARGIN around it."""
    width, height = BOX
    page.set_viewport_size({"width": width * len(CHARACTERS), "height": height})
    path = "".join(
        glyph_path(character, MARGIN + number * width, MARGIN)
        for number, character in enumerate(CHARACTERS)
    )
    page.set_content(
        f"<body style='margin:0'><svg width='{width * len(CHARACTERS)}' height='{height}'>"
        f"<path d='{path}' fill='none' stroke='#000' stroke-width='{PEN}'"
        " stroke-miterlimit='3'/></svg>"
    )
    sheet = Image.open(io.BytesIO(page.screenshot())).convert("L")
    return {
        character: sheet.crop((number * width, 0, (number + 1) * width, height))
        for number, character in enumerate(CHARACTERS)
    }


def ink(picture: Image.Image) -> float:
    """Return a picture's ink as a number of black pixels."""
    return sum(number * (255 - level) for level, number in enumerate(picture.histogram())) / 255


def test_glyphs_stay_in_their_boxes(page: "Page") -> None:
    for character, picture in glyphs(page).items():
        left, top, right, bottom = ImageChops.invert(picture).getbbox() or (0, 0, 0, 0)
        assert left >= MARGIN - 2 and right <= MARGIN + WIDTH + 2, character
        assert top >= MARGIN - 1 and bottom <= MARGIN + HEIGHT + 1, character
        assert bottom - top >= HEIGHT - 1, character


def test_any_two_glyphs_differ_at_a_glance(page: "Page") -> None:
    """Blurred as on a small plate, two glyphs differ by at least 12 % of their ink."""
    pictures = {
        character: picture.filter(ImageFilter.GaussianBlur(2))
        for character, picture in glyphs(page).items()
    }
    alike = {}
    for one, other in combinations(pictures, 2):
        differing = ink(ImageChops.invert(ImageChops.difference(pictures[one], pictures[other])))
        share = differing / max(ink(pictures[one]), ink(pictures[other]))
        if share < 0.12:
            alike[one + other] = round(share, 2)
    assert not alike


def test_plate_text_can_be_selected_and_copied(page: "Page", demo: PortalProcess) -> None:
    page.goto(f"{demo.url}/placa/ABC1D23?completo=1")
    text = page.locator(".plate__text").first
    text.dblclick()
    assert page.evaluate("getSelection().toString()") == "ABC1D23"
    inside = page.evaluate(
        """() => {
          const [plate, box] = ['.plate', '.plate__text'].map(
            (name) => document.querySelector(name).getBoundingClientRect());
          return box.left >= plate.left && box.right <= plate.right && box.bottom <= plate.bottom;
        }"""
    )
    assert inside


def test_typed_plate_looks_as_the_drawn_one(page: "Page", demo: PortalProcess) -> None:
    page.goto(demo.url)
    plate = page.locator(".search-plate__plate")

    def letters() -> Image.Image:
        picture = Image.open(io.BytesIO(plate.screenshot(caret="hide"))).convert("L")
        width, height = picture.size
        # Below the band and beside the mark BR. The example is grey.
        inside = picture.crop((width // 10, height * 3 // 10, width * 95 // 100, height * 9 // 10))
        return inside.point(lambda level: 255 if level < 190 else 0)

    drawn = letters()
    page.fill("#placa", "ABC1D23")
    page.evaluate("document.fonts.ready")
    typed = letters()
    differing = ImageChops.difference(drawn, typed).histogram()[255]
    assert differing < 0.2 * drawn.histogram()[255]


def test_typed_plate_replaces_the_example(page: "Page", demo: PortalProcess) -> None:
    page.goto(demo.url)
    example = page.locator(".search-plate .plate__glyphs")
    assert example.is_visible()
    page.fill("#placa", "MUL0A45")
    assert not example.is_visible()
    page.fill("#placa", "79831854647")
    field = "document.querySelector('#placa')"
    for width in (320, 360, 768, 1440):
        page.set_viewport_size({"width": width, "height": 740})
        assert page.evaluate(f"{field}.scrollWidth <= {field}.clientWidth"), width
