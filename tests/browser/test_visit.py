"""Visits to the real server in Chromium, with and without JavaScript, and in print."""

import re
import unicodedata
from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

from tests.effort import long
from tests.fakes.processes import PortalProcess

if TYPE_CHECKING:
    from playwright.sync_api import Page

A4_POINTS = (595, 842)


@pytest.fixture(scope="module")
def portal() -> Iterator[PortalProcess]:
    """The demo portal, as ``make run`` starts it."""
    with PortalProcess(workers=1) as running:
        yield running


def search(page: "Page", portal: PortalProcess, text: str) -> None:
    page.goto(portal.url)
    page.fill("input[name=q] >> nth=0", text)
    page.press("input[name=q] >> nth=0", "Enter")


def expect_the_vehicle(page: "Page") -> None:
    page.wait_for_selector("#multas[data-panel=ready]")
    page.wait_for_selector("#restricoes[data-panel=ready]")
    page.wait_for_selector("#fipe .chart, #fipe svg")
    page.wait_for_selector("#resumo[data-panel=ready]")
    body = page.inner_text("main")
    assert "Audi" in body and "008190-6" in body
    assert "R$\u00a0130,16" in body
    assert "Tribunal de Justiça de Minas Gerais" in body
    assert "Antes de pagar" in body


def test_search_shows_vehicle_with_javascript(page: "Page", portal: PortalProcess) -> None:
    search(page, portal, "abc-1d23")
    assert page.url.endswith("/placa/ABC1D23")
    expect_the_vehicle(page)


def test_search_shows_vehicle_without_javascript(
    page_without_javascript: "Page", portal: PortalProcess
) -> None:
    # ABC1323 is the old spelling of ABC1D23. Its lookups are separate, so none is stored.
    search(page_without_javascript, portal, "ABC1323")
    page_without_javascript.wait_for_url("**/placa/ABC1323?completo=1")
    expect_the_vehicle(page_without_javascript)


def test_failed_panel_is_shown_as_unavailable(page: "Page", portal: PortalProcess) -> None:
    search(page, portal, "FOR0A02")
    page.wait_for_selector(".hero--nothing")
    assert "não significa “nada consta”" in page.inner_text("#resumo")
    assert "nenhuma multa" not in page.inner_text("main").lower()


def test_forms_work_without_javascript(
    page_without_javascript: "Page", portal: PortalProcess
) -> None:
    page = page_without_javascript
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    page.click("a:visible:has-text('Negociar')")
    page.check("input[name=parte][value='60']")
    page.fill("#custo-reparos", "1.000,00")
    page.click("text=Calcular")
    sheet = page.inner_text(".sheet")
    assert "\u2212R$\u00a01.000,00" in sheet and "com 40% de desconto" in sheet
    page.go_back()
    page.goto(f"{portal.url}/comparar?placas=ABC1D23")
    page.fill("#mais-uma", "mul0a45")
    page.click("main >> button:has-text('Juntar')")
    page.wait_for_url("**/comparar?placas=ABC1D23,MUL0A45**")
    # With stored answers the rows appear at once, otherwise after a redirect.
    page.wait_for_selector(".vehicles tbody tr >> nth=1", state="attached")
    assert page.locator(".vehicles tbody tr").count() == 2


def test_search_and_skip_link_work_by_keyboard(page: "Page", portal: PortalProcess) -> None:
    page.goto(portal.url)
    # The browser sets the focus with the first frame, which may come after the load event.
    page.wait_for_selector("[name=q]:focus")
    page.keyboard.type("abc1d23")
    page.keyboard.press("Enter")
    page.wait_for_url("**/placa/ABC1D23")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')").startswith("#")


def printed(page: "Page") -> PdfReader:
    return PdfReader(BytesIO(page.pdf(prefer_css_page_size=True)))


def written(paper: PdfReader) -> str:
    """The text of a PDF with ligatures expanded and white space collapsed."""
    text = " ".join(sheet.extract_text() for sheet in paper.pages)
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text))


@pytest.mark.parametrize("plate", ["ABC1D23", *long("MUL0A45")])
def test_dossier_prints_uncut_on_a4(page: "Page", portal: PortalProcess, plate: str) -> None:
    """All fines of the page are printed on A4 sheets, and no table is cut at the side."""
    page.goto(f"{portal.url}/placa/{plate}/dossie")
    rows = [
        re.sub(r"\s+", " ", row.inner_text()) for row in page.query_selector_all("table tbody tr")
    ]
    fines = len(page.query_selector_all(".fines tbody tr, [id^=multa-]"))
    page.emulate_media(media="print")
    too_wide = page.evaluate(
        "() => [...document.querySelectorAll('table')]"
        ".filter(t => t.scrollWidth > t.parentElement.clientWidth + 1).length"
    )
    paper = printed(page)
    for sheet in paper.pages:
        box = sheet.mediabox
        assert (round(float(box.width)), round(float(box.height))) == A4_POINTS
    text = written(paper)
    assert rows and fines
    assert too_wide == 0
    assert "Antes de pagar" in text
    codes = set(re.findall(r"\b\d{3}-\d\b", " ".join(rows)))
    assert codes and all(code in text for code in codes)


def test_vehicle_page_prints_on_at_most_six_sheets(page: "Page", portal: PortalProcess) -> None:
    """Charts and tables may be on different sheets, so that no sheet is left half blank."""
    page.goto(f"{portal.url}/placa/ABC1D23?completo=1")
    paper = printed(page)
    letters = [len(sheet.extract_text()) for sheet in paper.pages]
    assert len(letters) <= 6
    assert min(letters[:-1]) >= 1000, letters
    assert not re.search(r"Pedido\s+[0-9a-f]{16}", written(paper))
