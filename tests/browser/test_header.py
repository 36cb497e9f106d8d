"""The header at every width, by keyboard and without JavaScript."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PageFactory
from tests.browser.found import box_of
from tests.browser.test_hostile_strings import sign_in
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes import FaultUpstream
from tests.fakes.in_process import managed
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

WIDTHS = (320, 360, 480, 640, 768, 1023, 1024, 1440)
# Visible texts and controls of the header that overlap each other or leave the window.
FAULTS = """() => {
  const parts = [...document.querySelectorAll(
    '.demo-banner p, .brand, .site-header input, .site-header button, .site-header li a, h1')]
    .filter(one => one.checkVisibility());
  const boxes = parts.map(one => [one.outerHTML.slice(0, 60), one.getBoundingClientRect()]);
  const faults = boxes.filter(([, box]) => box.left < 0 || box.right > innerWidth);
  for (const [i, [name, a]] of boxes.entries())
    for (const [other, b] of boxes.slice(i + 1))
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
          && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1)
        faults.push([name, other]);
  return faults.map(String);
}"""
HEIGHTS = """() => ['.demo-banner', '.site-header'].map(
  (name) => document.querySelector(name).getBoundingClientRect().height)"""


@pytest.fixture(scope="module")
def demo() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


# One template has the header of all pages.
on_pages = pytest.mark.parametrize("path", ["/", *long("/placa/ABC1D23?completo=1", "/glossario")])


@on_pages
def test_header_has_no_overlap_and_no_overflow(
    page: "Page", demo: PortalProcess, path: str
) -> None:
    page.goto(demo.url + path)
    for width in at_each_width(page, *WIDTHS):
        assert page.evaluate(FAULTS) == [], width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_header_of_signed_in_visitor_fits(page: "Page") -> None:
    with FaultUpstream() as upstream, PortalProcess(managed(upstream.url), workers=1) as portal:
        page.goto(f"{portal.url}/glossario")
        assert page.locator(".site-nav a[href='/entrar']").is_visible()
        sign_in(page, portal)
        page.goto(f"{portal.url}/glossario")
        for width in at_each_width(page, *WIDTHS):
            assert page.evaluate(FAULTS) == [], width
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert box_of(page.locator(".site-header"))["height"] <= 65, width  # one row
        assert page.locator(".site-nav__visitor").is_visible()
        assert page.locator(".site-nav__visitor button").is_visible()


@on_pages
def test_banner_and_header_take_72_px_on_a_phone(
    page: "Page", demo: PortalProcess, path: str
) -> None:
    page.goto(demo.url + path)
    for width in at_each_width(page, 320, 360, 430):
        banner, header = page.evaluate(HEIGHTS)
        assert (banner, round(header - 1)) == (24, 48), width


def test_phone_opens_search_and_menu_without_javascript(
    new_page: PageFactory, demo: PortalProcess
) -> None:
    page = new_page(java_script_enabled=False, viewport={"width": 360, "height": 740})
    page.goto(f"{demo.url}/historico")
    menu, search = page.locator(".site-nav"), page.locator(".site-search")
    assert not menu.is_visible() and not search.is_visible()
    page.click("[popovertarget=menu]")
    assert menu.is_visible()
    assert menu.locator("[aria-current=page]").inner_text() == "Histórico"
    page.keyboard.press("Escape")
    assert not menu.is_visible()
    page.click("[popovertarget=pesquisa]")
    page.fill("#busca", "abc1d23")
    page.keyboard.press("Enter")
    page.wait_for_url("**/placa/ABC1D23**")


def test_keyboard_reaches_opened_menu_next(new_page: PageFactory, demo: PortalProcess) -> None:
    page = new_page(viewport={"width": 360, "height": 740})
    page.goto(f"{demo.url}/glossario")
    page.focus("[popovertarget=menu]")
    page.keyboard.press("Enter")
    seen = []
    for _ in range(5):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.textContent"))
    assert seen == ["Comparar", "Lote", "Histórico", "Verificar dossiê", "API"]


def test_open_popover_starts_below_the_header(new_page: PageFactory, demo: PortalProcess) -> None:
    page = new_page(viewport={"width": 360, "height": 740})
    page.goto(f"{demo.url}/glossario")
    for name in ("menu", "pesquisa"):
        page.click(f"[popovertarget={name}]")
        header, popover = page.evaluate(
            f"""['.site-header', '#{name}'].map(
              (one) => document.querySelector(one).getBoundingClientRect())"""
        )
        assert popover["top"] == pytest.approx(header["bottom"], abs=1)
        assert (popover["left"], popover["right"]) == (0, 360)
        page.keyboard.press("Escape")


def test_desk_shows_search_and_menu_without_buttons(page: "Page", demo: PortalProcess) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{demo.url}/glossario")
    assert page.locator("#busca").is_visible()
    assert page.locator(".site-nav a").all_inner_texts() == [
        *("Comparar", "Lote", "Histórico", "Verificar dossiê", "API")
    ]
    assert not page.locator(".site-header__button").first.is_visible()


@pytest.mark.parametrize("width", [390, *long(1280)])
def test_notice_stands_apart_above_the_answer(
    page: "Page", demo: PortalProcess, width: int
) -> None:
    """Below the answer, the bar of sections would touch it, and a phone's dock would hide it."""
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{demo.url}/placa/ABC1D23?completo=1")
    page.locator("form[action$='/atualizar'] button").first.evaluate("(one) => one.click()")
    page.wait_for_selector(".notices [role=status]")
    top, bottom, hero = page.evaluate(
        """() => {
          const notice = document.querySelector(".notices .notice").getBoundingClientRect();
          const header = document.querySelector(".site-header").getBoundingClientRect();
          const hero = document.querySelector(".hero").getBoundingClientRect();
          return [notice.top - header.bottom, hero.top - notice.bottom, notice.bottom];
        }"""
    )
    assert top >= 12 and bottom >= 16 and hero < 400
