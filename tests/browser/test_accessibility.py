"""Accessibility tests: axe, keyboard, text size, reduced motion and forced colours.

`make quality` checks every page in every medium; these tests cover the most important pages.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PageFactory
from tests.effort import long
from tests.fakes.processes import PortalProcess
from tests.quality import axe, tools
from tests.quality.visits import SETTINGS, VISITS, dress, open_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

BY_NAME = {visit.name: visit for visit in VISITS}


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(SETTINGS, workers=1) as running:
        yield running


@pytest.fixture(scope="module")
def axe_source() -> str:
    try:
        return tools.axe_source()
    except tools.ToolMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize(
    "name",
    [
        *("vehicle", "dossier", "deciding", "comparison, three"),
        *long("search", "negotiation", "deciding, end", "vehicle in a list", "batch, done"),
        *long("history", "vehicle, unavailable", "api", "operations"),
    ],
)
def test_axe_finds_no_violation_in_light_and_dark(
    page: "Page", portal: PortalProcess, axe_source: str, name: str
) -> None:
    open_page(page, portal.url, BY_NAME[name])
    for medium in ("light", "dark"):
        dress(page, medium)
        of_colour = medium == "dark"
        assert axe.violations(page, axe_source, of_colour=of_colour) == [], medium


def test_axe_reports_known_violation(page: "Page", axe_source: str) -> None:
    page.set_content('<html lang="pt-BR"><title>t</title><main><h1>t</h1><img src="data:,"></main>')
    assert [line.partition(":")[0] for line in axe.violations(page, axe_source)] == ["image-alt"]


def test_vehicle_page_is_usable_by_keyboard(page: "Page", portal: PortalProcess) -> None:
    """Tab reaches every usable element. A focused element is in view and marked."""
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    usable = page.evaluate(
        """() => [...document.querySelectorAll(
             'a[href], button, input, summary, select, textarea, [tabindex="0"]')]
           .filter((e) => e.type !== 'hidden' && !e.disabled && e.checkVisibility())
           .filter((e) => e.type !== 'radio' || e.checked).length"""
    )
    stops = 0
    for _ in range(usable + 5):
        page.keyboard.press("Tab")
        seen = page.evaluate(
            """() => {
              const e = document.activeElement;
              if (e === document.body) return null;
              const box = e.getBoundingClientRect(), style = getComputedStyle(e);
              const shown = e.type === 'radio' ? document.querySelector(`label[for="${e.id}"]`) : e;
              return {
                what: e.outerHTML.slice(0, 80),
                marked: getComputedStyle(shown).outlineStyle !== 'none' || e.type === 'search',
                inside: box.bottom > 0 && box.top < innerHeight && box.right > 0,
              };
            }"""
        )
        if seen is None:
            break
        stops += 1
        assert seen["marked"], seen["what"]
        assert seen["inside"], seen["what"]
    assert stops == usable


def test_doubled_text_size_fits_640_px(new_page: PageFactory, portal: PortalProcess) -> None:
    """WCAG 1.4.4 and 1.4.10: no horizontal scrolling at 640 px with doubled text."""
    page = new_page(viewport={"width": 640, "height": 800})
    for path in ("/", "/placa/ABC1D23?completo=1", "/api", "/glossario"):
        page.goto(portal.url + path)
        # Set the root element's size, because Playwright cannot set Chromium's font size.
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 640, (path, width)


def test_reduced_motion_disables_animations(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(reduced_motion="reduce")
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    longest = page.evaluate(
        """() => Math.max(...[...document.querySelectorAll('*')].map((e) => {
          const { animationDuration, transitionDuration } = getComputedStyle(e);
          return Math.max(parseFloat(animationDuration), parseFloat(transitionDuration));
        }))"""
    )
    assert longest <= 0.001


def test_forced_colours_keep_icons_and_borders(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    """With system colours, status icons keep their shapes and boxes their borders."""
    page = new_page(forced_colors="active")
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    # The system's colours of text and of links.
    inks = page.evaluate(
        "['body', 'main a'].map((one) => getComputedStyle(document.querySelector(one)).color)"
    )
    for part in (".hero .icon", ".act .icon"):
        assert page.locator(part).first.is_visible()
        stroke = page.evaluate(f"getComputedStyle(document.querySelector('{part}')).stroke")
        assert stroke in inks, part
    edges = page.evaluate(
        """() => ['.hero', '.acts'].map((name) => {
          const style = getComputedStyle(document.querySelector(name));
          return parseFloat(style.borderTopWidth);
        })"""
    )
    assert min(edges) > 0
