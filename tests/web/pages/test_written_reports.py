"""Written reports: their date, missing records, age and price."""

import pytest

from portal.dossier.answers import Panels, WrittenReport
from portal.vehicle.wire import result_of
from tests.conftest import PortalFactory
from tests.factories import fine, renainf_body, report_body
from tests.fakes import FaultUpstream, faults
from tests.presentation.pages import dossier_page, vehicle_page
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    NOW,
    PLATE,
    UNASKED,
    answered,
    panels,
    render,
)
from tests.web.html_checker import check_html, text_of
from tests.web.json_paths import issue
from tests.web.page_client import Page, PageClient
from tests.web.person import Person
from tests.web.signed_in import visitor

PAGE = f"/placa/{PLATE}?completo=1"
RENAJUD = "/detran/v1/restrictions/renajud"
RENAINF = "/detran/v1/restrictions/renainf"
DECODE = "/detran/v1/decode"
REPORT = "/detran/v1/analytical-reports"
WITHOUT_RESTRICTIONS = "Escrito sem: restrições judiciais (indisponíveis)"


def request_report(buyer: PageClient) -> Page:
    """Request a report and return the vehicle's page."""
    form = {"csrf_token": buyer.get(PAGE).csrf_token()}
    buyer.post(f"/placa/{PLATE}/laudo", data=form)
    return buyer.get(PAGE)


def test_report_names_missing_records_on_page_and_dossier(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script(RENAJUD, faults.status(500))
    assert WITHOUT_RESTRICTIONS in request_report(buyer).text
    assert WITHOUT_RESTRICTIONS in buyer.get(f"/placa/{PLATE}/dossie").text


def test_report_names_missing_records_even_after_they_arrive(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script(RENAJUD, faults.status(400))
    request_report(buyer)
    upstream.script(RENAJUD, faults.good())
    buyer.post(f"/placa/{PLATE}/atualizar", data={"csrf_token": buyer.get(PAGE).csrf_token()})
    page = buyer.get(PAGE)
    assert page.by_id("restricoes").get("data-panel") == "ready"
    assert WITHOUT_RESTRICTIONS in page.text
    assert "mudaram desde então" not in page.text


def test_report_on_all_records_names_none_as_missing(buyer: PageClient) -> None:
    page = request_report(buyer)
    assert "Documentação" in page.text
    assert "Escrito sem" not in page.text
    assert "não é possível conferir" not in page.text


def test_report_on_expired_records_says_it_cannot_be_compared(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    buyer = visitor(portal(FRESH_RENAINF="0", STALE_RENAINF="0"))
    request_report(buyer)
    upstream.script(RENAINF, faults.status(500))
    page = buyer.get(PAGE)
    assert page.by_id("multas").get("data-panel") == "unavailable"
    assert "não é possível conferir se mudaram" in page.text
    assert "Escrito sem" not in page.text and "mudaram desde então" not in page.text


def test_report_is_not_requested_without_records(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    buyer = visitor(portal(PRICE_REPORT="1.20"))
    for path in (DECODE, RENAINF, RENAJUD):
        upstream.script(path, faults.status(500))
    page = buyer.get(PAGE)
    assert "Escrever a análise" not in page.text
    assert "R$ 1,20" not in page.text
    refused = buyer.post(f"/placa/{PLATE}/laudo", 503, data={"csrf_token": page.csrf_token()})
    assert isinstance(refused, Page)
    assert "Ela não foi pedida nem cobrada" in refused.text
    assert upstream.count(REPORT) == 0


def test_unstored_report_names_missing_records(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    buyer = visitor(portal(FRESH_REPORT="0", STALE_REPORT="0"))
    upstream.script(RENAJUD, faults.status(500))
    form = {"csrf_token": buyer.get(PAGE).csrf_token()}
    page = buyer.post(f"/placa/{PLATE}/laudo", 200, data=form)
    assert isinstance(page, Page)
    assert WITHOUT_RESTRICTIONS in page.text


@pytest.mark.parametrize(
    ("around", "expected"),
    [
        (panels(), ""),
        (Panels(UNASKED, UNASKED, DOWN), "restrições judiciais"),
        (Panels(panels().vehicle, DOWN, DOWN), "multas, restrições judiciais"),
    ],
)
def test_report_form_names_the_records_it_would_lack(around: Panels, expected: str) -> None:
    shown = text_of(check_html(render(vehicle_page(PLATE, around, UNASKED, CONTEXT))))
    assert "Escrever a análise" in shown
    assert ("Escrito agora, ficaria sem" in shown) == bool(expected)
    assert f"ficaria sem: {expected} (indisponíveis)" in shown or not expected


def test_report_shows_when_it_was_written() -> None:
    report = answered(report_body(), price="1.2")
    screen = text_of(check_html(render(vehicle_page(PLATE, panels(), report, CONTEXT))))
    assert "Escrito em 20/11/2026 às 21:12 (há 3 min)" in screen
    assert "custa R$ 1,20" in screen and "consultar de novo" not in screen
    page = dossier_page(PLATE, panels(), report, CONTEXT, address="https://portal.example")
    paper = text_of(check_html(render(page)))
    assert "Escrito em 20/11/2026 às 21:12" in paper
    assert "há 3 min" not in paper and "Peça outro" not in paper


def test_outdated_report_does_not_claim_completeness() -> None:
    body = report_body()
    written = WrittenReport("fresh", body, result_of(body), NOW, made_of=None, outdated=True)
    page = vehicle_page(PLATE, panels(), written, CONTEXT)
    shown = text_of(check_html(render(page)))
    assert "Os registros mudaram desde então" in shown
    assert "podiam não estar completos" in shown
    assert "não é possível conferir" not in shown


def test_report_is_outdated_while_its_records_differ(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    buyer = visitor(portal())
    upstream.script(RENAINF, faults.answer("one fine", renainf_body(fine())))
    assert "mudaram desde então" not in request_report(buyer).text
    upstream.script(RENAINF, faults.answer("two fines", renainf_body(fine(), fine())))
    again = {"csrf_token": buyer.get(PAGE).csrf_token()}
    buyer.post(f"/placa/{PLATE}/atualizar", data=again)
    assert "mudaram desde então" in buyer.get(PAGE).text
    upstream.script(RENAINF, faults.answer("one fine", renainf_body(fine())))
    buyer.post(f"/placa/{PLATE}/atualizar", data=again)
    assert "mudaram desde então" not in buyer.get(PAGE).text


def test_report_without_any_lookup_in_scope_is_forbidden(portal: PortalFactory) -> None:
    here = portal()
    token = issue(here, "only-reports", frozenset({"report"}))
    person = Person.at(here).signed_in(token)
    assert person.post(f"/placa/{PLATE}/laudo").status_code == 403
