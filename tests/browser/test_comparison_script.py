"""The comparison's script loads columns one by one; a failed column says so."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

ADDRESS = "/comparar?placas=ABC1D23,LMP0A01"


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


def cells(page: "Page", row: str) -> list[str]:
    return [text.strip() for text in page.locator(f"[data-row={row}] td").all_inner_texts()]


def test_waiting_columns_arrive_and_equal_rows_can_be_hidden(
    page: "Page", portal: PortalProcess
) -> None:
    page.goto(portal.url + ADDRESS)
    page.locator("[data-column=waiting]").first.wait_for(state="detached")
    assert page.locator("[data-state=waiting]").count() == 0
    assert cells(page, "fines")[1] == "nenhuma nos registros"
    assert "Audi A3" in page.locator("thead th").first.inner_text()
    drive = page.locator("[data-row=drive]")
    assert drive.is_visible()
    page.get_by_label("Só as diferenças").check()
    assert not drive.is_visible()
    assert page.locator("[data-row=price]").is_visible()


def test_column_that_does_not_arrive_says_so_and_can_be_fetched_again(
    page: "Page", portal: PortalProcess
) -> None:
    address = "/comparar?placas=CIR0A01,TRA0A01"
    page.route("**/comparar?placas=TRA0A01*", lambda route: route.abort())
    page.goto(portal.url + address)
    retry = page.get_by_role("button", name="Tentar de novo")
    retry.wait_for()
    assert cells(page, "courts")[1] == "não carregou"
    assert "nenhuma" not in cells(page, "courts")[1]
    page.unroute("**/comparar?placas=TRA0A01*")
    retry.click()
    page.locator("[data-column=ready]").nth(1).wait_for()
    assert "1 em vigor" in cells(page, "courts")[1]


def test_comparison_is_complete_without_javascript(
    page_without_javascript: "Page", portal: PortalProcess
) -> None:
    page = page_without_javascript
    page.goto(portal.url + "/comparar?placas=FIP0A03,MES0A01")
    page.wait_for_url("**completo=1")
    assert page.locator("[data-state=waiting]").count() == 0
    assert page.locator("[data-state=known]").count() > 20


@pytest.mark.parametrize("width", [320, 360, 768])
def test_wide_comparison_scrolls_inside_its_frame(
    page: "Page", portal: PortalProcess, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(portal.url + "/comparar?placas=ABC1D23,LMP0A01,MUL0A45,FIP0A03&completo=1")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
