"""The PDF of an issued dossier, rendered by WeasyPrint."""

from io import BytesIO

import pytest
from pypdf import PdfReader

from portal.issued.identifiers import parse_number
from portal.pdf.process import PdfProcess, RenderingInterrupted
from portal.pdf.renderer import PDFUnavailable
from portal.pdf.signing import SignedPdf
from portal.phrasebook.api_errors import API_ERRORS
from tests.conftest import PortalFactory
from tests.pdf.entries import entry
from tests.web.pages.test_issued import issue, link_of
from tests.web.pages.test_pdf import text_of
from tests.web.person import Person


def test_pdf_holds_the_number_and_is_the_same_later_and_elsewhere(portal: PortalFactory) -> None:
    running = portal()
    ana = Person.at(running).signed_in()
    path = issue(ana)
    first = ana.client.get(f"{path}.pdf")
    if first.status_code == 501:
        pytest.skip("the libraries that WeasyPrint loads are not installed")
    text = "".join(page.extract_text() for page in PdfReader(BytesIO(first.data)).pages)
    number = path.rpartition("/")[2]
    assert parse_number(number) and number in text
    assert "csrf_token" not in text and "Emitir com número" not in text
    link = link_of(ana, path)
    restarted = portal()  # another portal on the same database
    assert restarted.client.get(f"{link}.pdf").data == first.data


def test_draft_pdf_has_the_contents_of_the_page(portal: PortalFactory) -> None:
    answer = portal({}).client.get("/placa/ABC1D23/dossie.pdf")
    if answer.status_code == 501:
        pytest.skip("the libraries that WeasyPrint loads are not installed")
    paper = PdfReader(BytesIO(answer.data))
    assert entry(paper.trailer, "/Root", "/MarkInfo", "/Marked")
    assert str(entry(paper.trailer, "/Root", "/Lang")).startswith("pt")
    assert paper.metadata is not None and "ABC1D23" in str(paper.metadata.title)
    text = text_of(paper)
    for words in ("ABC1D23", "130,16", "TJMG", "008190-6", "Não verificado neste dossiê"):
        assert words in text, words


def test_without_weasyprint_the_paper_is_issued_and_the_pdf_is_501(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object) -> SignedPdf:
        raise PDFUnavailable("OSError")

    monkeypatch.setattr(PdfProcess, "render_signed", unavailable)
    ana = Person.at(portal()).signed_in()
    path = issue(ana)
    link = link_of(ana, path)
    assert "Baixar o PDF" not in ana.pages.get(link).text
    assert ana.client.get(f"{link}.pdf").status_code == 501
    assert path.rpartition("/")[2] in ana.pages.get(f"{link}/papel").text


def test_pdf_that_takes_too_long_is_503_and_nothing_is_issued(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_slow(*_: object) -> SignedPdf:
        raise RenderingInterrupted("TimeoutError")

    monkeypatch.setattr(PdfProcess, "render", too_slow)
    monkeypatch.setattr(PdfProcess, "render_signed", too_slow)
    ana = Person.at(portal()).signed_in()
    page = ana.pages.get("/placa/ABC1D23/dossie.pdf", 503)
    assert API_ERRORS["pdf_not_ready"].message in page.text and int(page.headers["Retry-After"]) > 0
    response = ana.post("/placa/ABC1D23/dossie/emitir")
    assert response.status_code == 503 and response.headers["Retry-After"]
    assert "/dossie/" not in ana.pages.get("/dossies").html
