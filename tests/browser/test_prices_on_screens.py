"""Prices and chart letters are legible at every screen width."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

WIDTHS = (320, 360, 640, 700, 760, 1024, 1280, 1920)
SMALLEST_PX = 11.9
# The font size in pixels of each visible chart. A chart within an img element would not count: its
# letters would not be the page's, and its texts could not be selected.
LETTERS = """() => [...document.querySelectorAll("svg.price-chart")]
  .filter((svg) => svg.checkVisibility())
  .map((svg) => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width
    * parseFloat(getComputedStyle(svg).fontSize))"""
# The texts of the price tables that extend beyond the paper's edges.
CUT = """() => {
  const out = [];
  const parts = "#precos, .price-table caption, .price-table td, .versions td";
  for (const part of document.querySelectorAll(parts)) {
    const edge = document.querySelector(".paper").getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(part);
    for (const box of range.getClientRects())
      if (box.right > edge.right || box.left < edge.left) { out.push(part.textContent); break; }
  }
  return out;
}"""


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def test_chart_letters_in_dossier_are_twelve_pixels(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/ABC1D23/dossie")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        letters = page.evaluate(LETTERS)
        assert len(letters) == 1, width
        assert min(letters) >= SMALLEST_PX, (width, letters)


def test_chart_letters_on_vehicle_page_are_fourteen_pixels(
    page: "Page", portal: PortalProcess
) -> None:
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        # A stretched drawing would change the font size or the scale of its texts.
        sizes = page.evaluate(
            """() => [...document.querySelectorAll(".price-chart text")]
              .filter((text) => text.checkVisibility() && text.getBBox().width)
              .map((text) => [parseFloat(getComputedStyle(text).fontSize),
                text.getCTM().a, text.getCTM().d])"""
        )
        assert len(sizes) > 10
        assert {tuple(size) for size in sizes} == {(14, 1, 1)}, width


def test_dossier_price_tables_need_no_scrolling(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/ABC1D23/dossie")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(CUT) == [], width
        wide = page.evaluate(
            "[...document.querySelectorAll('.scroll:not(.timeline-scroll), .versions')]"
            ".map((part) => part.scrollWidth - part.clientWidth)"
        )
        assert wide == [0, 0], width


def test_print_shows_only_flat_chart(page: "Page", portal: PortalProcess) -> None:
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(f"{portal.url}/placa/ABC1D23/dossie")
        page.emulate_media(media="print")
        assert page.locator("svg.price-chart--paper:visible").count() == 1
        assert page.locator("svg.price-chart--compact:visible").count() == 0
