"""What devices ask of the pages: fields without zoom, safe areas, forced colours."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import PHONE, PageFactory
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long

PAGES = (
    "/",
    "/placa/ABC1D23?completo=1",
    "/placa/MUL0A45?completo=1",
    "/placa/ABC1D23/dossie",
    "/placa/ABC1D23/negociacao?reparos=1.234,56",
    "/placa/ABC1D23/negociacao?reparos=x",
    "/placa/MUL0A45/negociacao?reparos=2.000&pedido=158.000",
    "/comparar?placas=ABC1D23,MUL0A45,FOR0A02,FIP0A06",
    "/comparar",
    "/lote",
    "/historico",
    "/dossies",
    "/renavam/79831854647",
    "/api",
    "/glossario",
    "/privacidade",
    "/entrar",
    "/verificar",
    "/nada",
)
SMALL_FIELDS = """() => [...document.querySelectorAll("input, select, textarea")]
  .filter((one) => !/hidden|checkbox|radio|range|file/.test(one.type))
  .filter((one) => parseFloat(getComputedStyle(one).fontSize) < 16)
  .map((one) => one.name || one.id)"""
LINE = "(one) => getComputedStyle(one).textDecorationLine"
# What is chosen among others of its kind, and one that is not chosen.
CHOICES = (
    (".price__ranges [aria-current]", ".price__ranges a:not([aria-current])"),
    ("[name=situacao]:checked + label", "[name=situacao]:not(:checked) + label"),
    (".section-bar li [aria-current]", ".section-bar li a:not([aria-current])"),
)


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def test_pages_fit_320_px_and_no_field_is_so_small_that_a_phone_zooms_to_it(
    phone_page: "Page", portal: PortalProcess
) -> None:
    phone_page.set_viewport_size({"width": 320, "height": 640})
    for path in PAGES:
        phone_page.goto(portal.url + path)
        assert phone_page.evaluate(SMALL_FIELDS) == [], path
        width = phone_page.evaluate("document.documentElement.scrollWidth")
        assert width <= 320, (path, width)


def test_dock_stays_above_the_bar_of_the_device(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    """Without viewport-fit=cover, Safari says that a phone's safe area is the whole window."""
    page = new_page(**PHONE)
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    assert "viewport-fit=cover" in (page.get_attribute("meta[name=viewport]", "content") or "")
    session = page.context.new_cdp_session(page)
    insets = {"top": 0, "bottom": 34, "left": 44, "right": 44}
    button = page.locator(".dock__main")
    before = button.bounding_box()
    session.send("Emulation.setSafeAreaInsetsOverride", {"insets": insets})
    page.wait_for_function(
        "getComputedStyle(document.querySelector('.dock')).paddingLeft === '44px'"
    )
    after = button.bounding_box()
    assert before and after
    assert after["y"] == before["y"] - 34
    heading = page.locator("#multas-titulo").bounding_box()
    assert heading and heading["x"] >= 44


def test_forced_colours_underline_what_is_chosen(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page(forced_colors="active")
    page.goto(f"{portal.url}/placa/MUL0A45?completo=1")
    page.evaluate("document.querySelector('#multas').scrollIntoView()")
    page.wait_for_selector(".section-bar li [aria-current]")
    for chosen, other in CHOICES:
        assert page.locator(chosen).first.evaluate(LINE) == "underline", chosen
        assert page.locator(other).first.evaluate(LINE) == "none", other
