"""The dossier: its golden HTML, and a tagged PDF with every fine."""

import hashlib
import logging
import os
import re
import subprocess
import sys
import time
import unicodedata
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pypdf import PdfReader
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from portal.pdf.renderer import PDFUnavailable, UnknownFile, remove_unlinked_ids
from portal.vehicle.plate import Plate
from tests.effort import long
from tests.factories import restriction
from tests.pdf.entries import dictionary, entry
from tests.pdf.rendering import render_pdf, rendered
from tests.pdf.specimens import EMBEDDED
from tests.presentation import dossiers
from tests.presentation.rendering import ASSETS, ENVIRONMENT, NOW
from tests.web.html_checker import check_html


class GoldenHtml(SingleFileSnapshotExtension):
    """Golden files as readable HTML: tests/golden/test_pdf/*.html."""

    file_extension = "html"
    _write_mode = WriteMode.TEXT

    @classmethod
    def dirname(cls, *, test_location: object) -> str:
        return str(Path(__file__).parents[2] / "golden" / "test_pdf")


@cache
def pdf_of(html: str) -> PdfReader:
    try:
        return PdfReader(BytesIO(rendered(html, EMBEDDED)))
    except PDFUnavailable:
        pytest.skip("the libraries that WeasyPrint loads are not installed")


def text_of(pdf: PdfReader) -> str:
    text = " ".join(sheet.extract_text() for sheet in pdf.pages)
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text))


def test_dossier_matches_golden_html(snapshot: SnapshotAssertion) -> None:
    """Changes of the dossier's content show up in the diff of the golden file."""
    html = re.sub(r"\n\s*\n+", "\n", dossiers.usual())
    check_html(html)
    # The style sheet's hash is not part of the content.
    html = re.sub(r"(/static/[\w/]+)\.[0-9a-f]{8}\.", r"\1.", html)
    assert html == snapshot(extension_class=GoldenHtml)


def test_pdf_is_tagged_titled_and_in_portuguese() -> None:
    pdf = pdf_of(dossiers.usual())
    root = entry(pdf.trailer, "/Root")
    assert entry(root, "/MarkInfo", "/Marked")
    assert entry(root, "/StructTreeRoot", "/K")
    assert str(entry(root, "/Lang")) == "pt-BR"
    assert entry(root, "/ViewerPreferences", "/DisplayDocTitle")
    assert pdf.metadata is not None
    assert pdf.metadata.title == "Dossiê do veículo ABC1D23 – Audi A3 LM 180CV"


@pytest.mark.parametrize(
    ("plate", "ground"),
    [("ABC1D23", "0.121569 0.227451 0.619608"), ("ABC1323", "0.764706 0.780392 0.792157")],
)
def test_pdf_draws_plates_and_keeps_their_text(plate: str, ground: str) -> None:
    """The PDF draws the blue band of new plates and the grey ground of old plates."""
    template = "{% from 'components/plate.html' import plate_image %}{{ plate_image(plate) }}"
    drawn = ENVIRONMENT.from_string(template).render(plate=Plate.parse(plate))
    sheet = ASSETS.url("css/dossier.css")
    page = pdf_of(f"<html lang=pt-BR><link rel=stylesheet href={sheet}>{drawn}").pages[0]
    contents = page.get_contents()
    assert contents is not None
    assert f"{ground} rg".encode() in contents.get_data()
    assert Plate.parse(plate).display in page.extract_text()


@pytest.mark.over_5_s("WeasyPrint lays out 40 fines")
@pytest.mark.parametrize("fines", [12, *long(40)])  # both in an annex
def test_pdf_contains_every_fine_and_version(fines: int) -> None:
    text = text_of(pdf_of(dossiers.heavy(fines)))
    for number in range(fines):
        assert f"Rodovia {number} km {number * 7} " in text
    for number in range(6):
        assert f"Versao {number} 1.8 16V Turbo" in text


def test_fine_adds_few_elements_and_words_to_the_pdf() -> None:
    """WeasyPrint's time grows with the number of elements and characters.

    Each fine adds a row to the annex. The record in full is not laid out.
    """
    few, many = (printed(dossiers.heavy(fines, 0)) for fines in (20, 50))
    elements = [len(re.findall(r"<[a-z]", html)) for html in (few, many)]
    assert (elements[1] - elements[0]) / 30 <= 9
    for kind, most in ((dossiers.heavy, 500), (dossiers.varied, 700)):
        letters = [len(re.sub(r"<[^>]*>", "", printed(kind(fines, 0)))) for fines in (20, 50)]
        assert (letters[1] - letters[0]) / 30 <= most


def test_what_print_hides_is_not_read() -> None:
    """WeasyPrint would parse and style its elements first."""
    page = '<html lang="pt-BR"><title>t</title><p>a'
    unread = "<link rel=stylesheet href=/static/missing.css>"
    hidden = (
        f'<section class="in-full">{unread}</section><nav class="toolbar">{unread}</nav>'
        f'<svg class="price-chart--compact">{unread}</svg>'
    )
    assert printed(hidden) == ""
    assert render_pdf(page + hidden) == render_pdf(page)
    with pytest.raises(UnknownFile):
        render_pdf(page + unread)


def printed(html: str) -> str:
    """Return the dossier without what only a screen shows."""
    for start, end in (
        ('<section class="in-full"', "</section>"),
        ('<nav class="toolbar"', "</nav>"),
        ('<svg [^>]*price-chart--compact"', "</svg>"),
    ):
        html = re.sub(f"{start}.*?{end}", "", html, flags=re.DOTALL)
    return html


def test_only_ids_that_links_name_are_laid_out() -> None:
    """WeasyPrint would compute the style of each cell of a row with an id, not once a column."""
    page = ElementTree.fromstring(
        '<html><a href="#multa-2">a</a><tr id="multa-1"/><tr id="multa-2"/></html>'
    )
    remove_unlinked_ids(page)
    assert [row.get("id") for row in page.iter("tr")] == [None, "multa-2"]


def test_pictures_add_few_characters_to_the_pdf() -> None:
    """WeasyPrint lays out each character of SVG text at the cost of a line of HTML text."""
    texts = re.findall(r"<text[^>]*>([^<]*)<", dossiers.heavy(40, 6))
    assert sum(map(len, texts)) <= 3 * 120


PLATES = {"ABC1D23": 3, "LMP0A01": 2, "MUL0A45": 5, "JUD0A04": 4, "FIP0A06": 3, "VAZ0A00": 3}
FIRST_SHEET = ("Não verificado neste dossiê", "Emitente", "Recebido por", "Preço FIPE")


def lines_of(sheet: Any) -> list[tuple[float, float, str]]:
    """Return (distance from the top, size, text) of a sheet's texts, in points."""
    height = float(sheet.mediabox.height)
    found: list[tuple[float, float, str]] = []

    def visit(text: str, cm: Any, tm: Any, _font: Any, size: float) -> None:
        if text.strip():
            y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
            scale = abs(tm[3] * cm[3]) or abs(tm[0] * cm[0])
            found.append((height - y, size * scale, text.strip()))

    sheet.extract_text(visitor_text=visit)
    return found


@pytest.mark.over_5_s("WeasyPrint lays out a dossier for each number of records")
@pytest.mark.parametrize(
    "plate", ["ABC1D23", *long("MUL0A45", "LMP0A01", "JUD0A04", "FIP0A06", "VAZ0A00")]
)
def test_sheets_are_few_and_filled(plate: str) -> None:
    pdf = pdf_of(dossiers.of_sandbox(plate))
    assert len(pdf.pages) <= PLATES[plate]
    first = unicodedata.normalize("NFKC", pdf.pages[0].extract_text())
    assert all(words in first for words in (*FIRST_SHEET, dossiers.NUMBER))
    for number, sheet in enumerate(pdf.pages, start=1):
        lines = lines_of(sheet)
        height = float(sheet.mediabox.height)
        assert max(top for top, _, _ in lines) > height / 3, number
        assert len(sheet.extract_text()) > 1000, number
        head = unicodedata.normalize("NFKC", " ".join(text for top, _, text in lines if top < 45))
        assert plate in head and f"página {number} de {len(pdf.pages)}" in head, head
        last = max(lines)[2]
        assert last not in ("Nº e data", "Infração", "Situação", "Valor", "Ano", "dez"), last


@pytest.mark.parametrize("kind", ["TRANSFERENCIA", "PENHORA BAIXADA"])
def test_one_court_order_fits_on_two_sheets(kind: str) -> None:
    """A third sheet once held nothing but the last two lines."""
    html = dossiers.of_order(restriction(restricoes=kind))
    assert len(pdf_of(html).pages) == 2


def test_first_sheet_names_the_sources_and_how_to_verify() -> None:
    for html in (dossiers.usual(), dossiers.stale()):
        first = pdf_of(html).pages[0].extract_text()
        assert "De onde e de quando" in first and "Este dossiê é autêntico?" in first


@pytest.mark.parametrize("plate", ["ABC1D23", "MUL0A45"])
def test_texts_are_large_enough_and_only_inter(plate: str) -> None:
    pdf = pdf_of(dossiers.of_sandbox(plate))
    sizes = {round(size, 1) for sheet in pdf.pages for _, size, _ in lines_of(sheet)}
    assert min(sizes) >= 8, sorted(sizes)
    resources = [dictionary(sheet, "/Resources", "/Font") for sheet in pdf.pages]
    fonts = {str(entry(each, name, "/BaseFont")) for each in resources for name in each}
    assert fonts and all("Inter" in font for font in fonts), fonts


RENDER_AND_HASH = """
import hashlib, sys
from tests.pdf.rendering import render_pdf, rendered
print(hashlib.sha256(render_pdf(sys.stdin.read())).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.long
def test_same_page_gives_same_bytes_in_another_process() -> None:
    """Issued dossiers are kept byte for byte."""
    html = dossiers.usual()
    pdf_of(html)
    ours = render_pdf(html)
    time.sleep(1.1)  # font files record times in whole seconds
    assert render_pdf(html) == ours
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    environment.pop("SOURCE_DATE_EPOCH", None)
    other = subprocess.run(
        [sys.executable, "-c", RENDER_AND_HASH],
        input=html,
        text=True,
        capture_output=True,
        check=True,
        env=environment,
    )
    assert other.stdout.strip() == hashlib.sha256(ours).hexdigest()
    metadata = PdfReader(BytesIO(ours)).metadata
    assert metadata is not None and metadata.creation_date == NOW.replace(microsecond=0)


def test_pdf_is_laid_out_once_and_logs_no_fonts(caplog: pytest.LogCaptureFixture) -> None:
    """Page counters and references to page numbers must not cause a second layout."""
    pages = len(pdf_of(dossiers.usual()).pages)  # skips without WeasyPrint
    with caplog.at_level(logging.INFO), caplog.at_level(logging.INFO, "weasyprint.progress"):
        render_pdf(dossiers.usual())
    assert not [one for one in caplog.records if one.name.startswith("fontTools")]
    steps = [record.getMessage() for record in caplog.records if "layout" in record.getMessage()]
    assert sum("Page" in step for step in steps) == pages
    assert not [step for step in steps if "Repagination" in step]


def test_long_word_is_broken_and_cut_on_paper() -> None:
    """WeasyPrint would lay out a word of 5,000 letters in half a minute."""
    word, code = "Q" * 5_000, "Z" * 60
    text = text_of(pdf_of(f"<html lang=pt-BR><title>t</title><p>{word} {code}</p><b>x</b>{word}"))
    assert re.sub(r"[^Q.]", "", text) == ("Q" * 500 + "...") * 2
    assert code in text


def test_text_in_a_measured_column_is_not_measured_letter_by_letter() -> None:
    """With "overflow-wrap: anywhere", WeasyPrint would take a minute for three such places."""
    style = ASSETS.read("css/dossier.css")
    on_paper = re.sub(rb"@media screen.*", b"", style.body, flags=re.DOTALL)
    assert b"anywhere" not in on_paper.replace(b'"anywhere"', b"")
