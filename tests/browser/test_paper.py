"""The dossier has the same text in Chromium's and in WeasyPrint's PDF."""

import re
import unicodedata
from collections import Counter
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from pypdf import PdfReader

from portal.pdf.renderer import PDFUnavailable
from tests.browser.test_overlaps import OVERLAPS
from tests.effort import long
from tests.pdf.rendering import rendered
from tests.pdf.specimens import EMBEDDED
from tests.presentation import dossiers
from tests.presentation.rendering import ASSETS

if TYPE_CHECKING:
    from playwright.sync_api import Page

PRINTED: dict[str, bytes] = {}
ADDRESS = "http://127.0.0.1:1"  # no server listens here; Playwright answers every request
# Page headers.
HEAD_LINE = re.compile(r"ABC1D23 · [^\n]*dossiê no [-\w]+|página \d+ de \d+")
# In some Chromium versions, words with letter-spacing have blanks ("B R A S I L").
SPACED_WORD = re.compile(r"\b(?:[A-Z] ){2,}[A-Z]\b")
# pypdf joins the years on a chart's axis, although they are apart on the sheet.
JOINED_YEARS = re.compile(r"\b(?:20\d\d){2,}\b")
# Colours of fills in Chromium's PDF: --ok of the style sheet, and white.
GREEN, WHITE = " .0706 .3765 .2275 rg", " 1 1 1 rg"
HEAD = (
    "No",
    "e",
    "data",
    "Infração",
    "Órgão",
    "local",
    "Autuação",
    "penalidade",
    "Situação",
    "Valor",
)


def words(pdf: bytes) -> Counter[str]:
    """Count a PDF's words. Counts of table heads vary, because each page repeats them."""
    text = "\n".join(sheet.extract_text() for sheet in PdfReader(BytesIO(pdf)).pages)
    text = HEAD_LINE.sub("", unicodedata.normalize("NFKC", text))
    text = SPACED_WORD.sub(lambda word: word[0].replace(" ", ""), text)
    text = JOINED_YEARS.sub(lambda years: " ".join(re.findall("....", years[0])), text)
    return Counter(re.findall(r"\w+", text))


def open_dossier(page: "Page", html: str) -> None:
    def answer(route: Any) -> None:
        path = route.request.url.removeprefix(ADDRESS)
        asset = ASSETS.files.get(path.removeprefix("/static/"))
        if asset is None:
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
        else:
            route.fulfill(body=asset.body, content_type=asset.content_type)

    page.route("**/*", answer)
    page.goto(f"{ADDRESS}/placa/ABC1D23/dossie")


def chromium_pdf(page: "Page", html: str) -> bytes:
    """Return a dossier as Chromium prints it, printed once for the tests that read it."""
    if html not in PRINTED:
        open_dossier(page, html)
        PRINTED[html] = page.pdf(prefer_css_page_size=True)
    return PRINTED[html]


@pytest.mark.parametrize("name", ["usual", *long("heavy", "varied")])
def test_chromium_and_weasyprint_print_same_words(page: "Page", name: str) -> None:
    html = getattr(dossiers, name)()
    try:
        ours = words(rendered(html, EMBEDDED))
    except PDFUnavailable:
        pytest.skip("the libraries that WeasyPrint loads are not installed")
    theirs = words(chromium_pdf(page, html))
    for word in HEAD:  # only an annex has the head
        assert bool(ours.pop(word, 0)) == bool(theirs.pop(word, 0))
    # WeasyPrint clips the words for screen readers, but the PDF contains their text.
    hidden = re.findall(r'class="visually-hidden"[^>]*>([^<]*)', html)
    unseen = Counter(re.findall(r"\w+", unicodedata.normalize("NFKC", " ".join(hidden))))
    assert (ours - theirs - unseen, theirs - ours) == (Counter(), Counter())


@pytest.mark.parametrize("name", ["usual", *long("heavy")])
def test_each_sheet_from_chromium_has_plate_number_and_page(page: "Page", name: str) -> None:
    sheets = PdfReader(BytesIO(chromium_pdf(page, getattr(dossiers, name)()))).pages
    assert len(sheets) > 1
    for number, sheet in enumerate(sheets, start=1):
        text = re.sub(r"\s+", " ", unicodedata.normalize("NFKC", sheet.extract_text()))
        assert f"página {number} de {len(sheets)}" in text
        assert dossiers.NUMBER in text and "ABC1D23" in text


@pytest.mark.parametrize("plate", ["ABC1D23", *long("LMP0A01", "MUL0A45", "JUD0A04", "FIP0A06")])
def test_both_engines_print_the_same_number_of_sheets(page: "Page", plate: str) -> None:
    """Chromium once printed a fourth sheet with three lines."""
    html = dossiers.of_sandbox(plate)
    try:
        ours = len(PdfReader(BytesIO(rendered(html, EMBEDDED))).pages)
    except PDFUnavailable:
        pytest.skip("the libraries that WeasyPrint loads are not installed")
    assert len(PdfReader(BytesIO(chromium_pdf(page, html))).pages) == ours


def test_browser_prints_filled_dots_and_ticks(page: "Page") -> None:
    """Browsers print a background as white unless they are told to print it."""
    html = dossiers.usual()
    line = 'id="verificar-leilao"'
    assert line in html
    unknown, known, ticked = (
        drawing(chromium_pdf(page, one))
        for one in (
            html.replace("gaps__dot--known", ""),
            html,
            html.replace(line, line + ' class="checks__done"'),
        )
    )
    assert known.count(GREEN) > unknown.count(GREEN)
    assert ticked != known
    assert known.count(WHITE) == unknown.count(WHITE) == ticked.count(WHITE)


def drawing(pdf: bytes) -> str:
    sheets = (sheet.get_contents() for sheet in PdfReader(BytesIO(pdf)).pages)
    return "".join(found.get_data().decode("latin-1") for found in sheets if found is not None)


@pytest.mark.parametrize("name", ["usual", "standings", "varied"])
def test_no_two_texts_overlap_on_paper(page: "Page", name: str) -> None:
    """The situation "no prazo de pagamento ou recurso" once covered the fine's amount."""
    page.set_viewport_size({"width": 680, "height": 1000})  # 180 mm, between the sheet's margins
    page.emulate_media(media="print")
    open_dossier(page, getattr(dossiers, name)())
    assert page.evaluate(OVERLAPS) == []
