"""The comparison's script loads rows one by one; a failed row says so."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.found import box_of
from tests.browser.widths import at_each_width
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def cell(page: "Page", plate: str, name: str) -> str:
    return page.locator(f"#veiculo-{plate} .vehicles__{name}").inner_text().strip()


def test_waiting_rows_arrive_and_the_chart_follows(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + "/comparar?placas=ABC1D23,MUL0A45")
    page.locator("[data-waits]").first.wait_for(state="detached")
    page.locator("#indice .price-chart").wait_for()
    assert page.locator(".skeleton").count() == 0
    assert cell(page, "ABC1D23", "debt").startswith("R$")
    assert "Audi A3" in cell(page, "ABC1D23", "car")
    assert "MUL0A45" in str(page.locator("#indice .price-chart__end").text_content())


def test_row_that_does_not_arrive_says_so_and_can_be_fetched_again(
    page: "Page", portal: PortalProcess
) -> None:
    address = "/comparar?placas=CIR0A01,TRA0A01"
    page.route("**/comparar?placas=TRA0A01*", lambda route: route.abort())
    page.goto(portal.url + address)
    retry = page.get_by_role("button", name="Tentar de novo")
    retry.wait_for()
    assert cell(page, "TRA0A01", "debt") == "não carregou"
    page.unroute("**/comparar?placas=TRA0A01*")
    retry.click()
    page.get_by_text("1 ordem").nth(1).wait_for()
    assert cell(page, "TRA0A01", "debt").startswith("R$")


def test_comparison_is_complete_without_javascript(
    page_without_javascript: "Page", portal: PortalProcess
) -> None:
    page = page_without_javascript
    page.goto(portal.url + "/comparar?placas=FIP0A03,MES0A01")
    page.wait_for_url("**completo=1")
    assert page.locator(".skeleton").count() == 0
    assert page.locator(".vehicles__finding b").count() == 2


def test_wide_comparison_fits(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url + "/comparar?placas=ABC1D23,LMP0A01,MUL0A45,FIP0A03&completo=1")
    for width in at_each_width(page, 320, 360, 768, 1024):
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_part_of_a_third_vehicle_says_that_there_are_more(
    page: "Page", portal: PortalProcess
) -> None:
    page.goto(portal.url + "/comparar?placas=ABC1D23,LMP0A01,MUL0A45&completo=1")
    third = page.locator(".duel thead th").nth(2)
    for width in at_each_width(page, 360, 390, 768):
        assert 16 <= width - box_of(third)["x"] <= 40, width
