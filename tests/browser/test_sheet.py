"""The shop's sheet and declared lines in a browser: few taps, and without a script too."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from portal.law.checklist import LINES, UNVERIFIED
from tests.browser.conftest import PHONE, PageFactory
from tests.browser.widths import at_each_width
from tests.effort import long
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    with PortalProcess(workers=1) as running:
        yield running


PLATES = " ".join(["ABC1D23 LMP0A01 RNJ4A04 MUL0A45", *(f"DEF{at}G{at}{at}" for at in range(8))])


@pytest.mark.parametrize("has_script", [True, *long(False)])
def test_line_is_declared_in_two_taps_and_stands_on_the_sheet_after_one_more(
    new_page: PageFactory, portal: PortalProcess, has_script: bool
) -> None:
    page = new_page(**PHONE, java_script_enabled=has_script)
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    line = page.locator("#verificar-gravame")
    line.locator("summary").tap()
    line.get_by_role("button", name="Conferi: nada consta").tap()
    page.wait_for_url("**#verificar-gravame")
    assert "declarado por demo" in page.locator("#verificar-gravame").inner_text()
    assert f"de {len(LINES)}" in page.locator(".trust").inner_text()
    page.locator("#nao-verificado").get_by_role("link", name="Folha para o comprador").tap()
    page.wait_for_url("**/placa/ABC1D23/folha")
    text = page.inner_text("main")
    assert "Lei 13.111/2015" in text and "declarado por demo" in text
    assert f"{len(UNVERIFIED) - 1} linhas não verificadas" in text


@pytest.mark.parametrize("has_script", [True, *long(False)])
def test_sheet_of_a_car_takes_one_tap_and_its_pdf_one_more(
    new_page: PageFactory, portal: PortalProcess, has_script: bool
) -> None:
    page = new_page(**PHONE, java_script_enabled=has_script)
    page.goto(f"{portal.url}/placa/LMP0A01?completo=1")
    page.locator("#nao-verificado").get_by_role("link", name="Folha para o comprador").tap()
    page.wait_for_url("**/placa/LMP0A01/folha")
    assert "Faltam 13 de 15 linhas" in page.locator(".toolbar").inner_text()
    link = page.get_by_role("link", name="Baixar PDF")
    assert link.get_attribute("href") == "/placa/LMP0A01/folha.pdf"


def test_form_declares_several_lines_at_once(new_page: PageFactory, portal: PortalProcess) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(f"{portal.url}/placa/RNJ4A04?completo=1")
    page.goto(f"{portal.url}/placa/RNJ4A04/folha")
    page.get_by_text("Declarar o que você conferiu").click()
    page.get_by_label("Onde conferiu").fill("Sinesp Cidadão")
    page.get_by_label("Resposta de Roubo e furto").select_option("nothing")
    page.get_by_label("Resposta de IPVA e multas ambientais").select_option("something")
    page.get_by_label("O que consta em IPVA e multas ambientais").fill("2 parcelas")
    page.get_by_label("Quanto falta pagar de IPVA e multas ambientais, em R$").fill("1.234,56")
    page.get_by_role("button", name="Guardar").click()
    page.wait_for_url("**/placa/RNJ4A04/folha")
    text = page.inner_text("main").replace("\u00a0", " ")
    assert "R$ 1.234,56 (2 parcelas)" in text and "Sinesp Cidadão" in text
    page.goto(f"{portal.url}/placa/RNJ4A04/negociacao")
    assert "proposto" in page.inner_text("#teto")


def prepared_batch(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/lote?placas={PLATES.replace(' ', '+')}")
    page.get_by_role("button", name="Conferir, sem consultar").click()
    page.locator("#lote-conferir button[data-reticked]").click()
    page.wait_for_url("**/lote/*")
    page.locator(".batch-done").wait_for()


@pytest.mark.parametrize("has_script", [True, *long(False)])
def test_sheets_of_ticked_cars_take_at_most_four_taps(
    new_page: PageFactory, portal: PortalProcess, has_script: bool
) -> None:
    first = new_page()
    prepared_batch(first, portal)
    address = first.url
    page = first
    taps = 0
    if not has_script:
        page = new_page(java_script_enabled=False)
        cookies: Any = first.context.cookies()
        page.context.add_cookies(cookies)
        page.goto(address)
    boxes = page.locator(".vehicles__tick input")
    if has_script:
        boxes.first.check()
        page.locator(".ticked-bar").get_by_role("button", name="todas").click()
        taps += 2
    else:
        for box in boxes.all():
            box.check()
    page.locator(".ticked-bar summary").click()
    taps += 1
    button = page.locator(".ticked-bar").get_by_role("button", name="Folhas em PDF")
    assert button.get_attribute("formaction") == f"{address.removeprefix(portal.url)}/marcadas.pdf"
    led_to: list[str] = []

    def note(route: "Route") -> None:
        """Note where the button leads, without going there: twelve PDFs would be made."""
        led_to.append(route.fetch(max_redirects=0).headers["location"])
        route.abort()

    page.route("**/marcadas.pdf**", note)
    with page.expect_event("requestfailed", lambda failed: "/marcadas.pdf" in failed.url):
        button.click()
    taps += 1
    assert taps <= (4 if has_script else 2)  # without a script, the boxes are ticked one by one
    assert len(PLATES.split()) == 12
    path, _, plates = led_to[0].rpartition("plates=")
    assert "/sheets.pdf?" in path
    assert sorted(plates.replace("%2C", ",").split(",")) == sorted(PLATES.split())


def test_same_line_of_ticked_cars_is_declared_together(
    new_page: PageFactory, portal: PortalProcess
) -> None:
    page = new_page()
    prepared_batch(page, portal)
    back = page.url
    before = page.locator("#veiculo-LMP0A01 .vehicles__sheet").inner_text()
    assert "13 abertas" in before
    for plate in ("LMP0A01", "MUL0A45"):
        page.locator(f"#veiculo-{plate} .vehicles__tick input").check()
    page.locator(".ticked-bar").get_by_role("button", name="Declarar").click()
    page.wait_for_url("**/declarar?**")
    page.get_by_label("nada consta").check()
    page.get_by_role("button", name="Guardar").click()
    assert "2 placas guardadas" in page.inner_text("main")
    page.goto(back)
    assert "12 abertas" in page.locator("#veiculo-LMP0A01 .vehicles__sheet").inner_text()


def test_sheet_fits_its_window(page: "Page", portal: PortalProcess) -> None:
    page.goto(f"{portal.url}/placa/ABC1D23/folha?linha=gravame")
    for width in at_each_width(page, 320, 390, 768, 1024, height=800):
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
