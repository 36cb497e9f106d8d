"""A notice about missing answers never looks like a clean record."""

from dataclasses import replace
from datetime import timedelta

import pytest

from portal.dossier.answers import Panel, Panels
from portal.vehicle.plate import Renavam
from tests.conftest import PortalFactory
from tests.factories import decode_body, renainf_body, renajud_body
from tests.fakes import FaultUpstream, faults
from tests.presentation.pages import renavam_page, vehicle_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, answered, panels, render
from tests.web.html_checker import HTML, check_html, text_of
from tests.web.page_client import PageClient
from tests.web.person import Person

NOT_CLEAN = "não significa “nada consta”"
UNKNOWN = Panel("unavailable", reason="Sem registro para esta placa.", cause="not_found")
REFUSED = Panel("unavailable", reason="Não aceitou esta placa.", cause="rejected")
BARRED = Panel("unavailable", reason="O seu acesso não inclui.", cause="out_of_scope")


def part(around: Panels, name: str = "resumo") -> str:
    html = render(vehicle_page(PLATE, around, UNASKED, CONTEXT))
    sections = [one for one in check_html(html).iter(f"{HTML}section") if one.get("id") == name]
    return text_of(sections[0])


def test_total_outage_shows_one_notice_and_an_incomplete_verdict() -> None:
    shown_text = part(Panels(DOWN, DOWN, DOWN))
    assert shown_text.count("A fonte de dados não respondeu") == 1
    assert NOT_CLEAN in shown_text
    assert shown_text.count(DOWN.reason) == 1
    assert shown_text.count("Tentar de novo") == 1
    assert "Transferir" not in shown_text


def test_total_outage_is_told_once_and_offers_no_document() -> None:
    html = render(vehicle_page(PLATE, Panels(DOWN, DOWN, DOWN), UNASKED, CONTEXT))
    text = text_of(check_html(html))
    assert text.count(DOWN.reason) == 1
    assert text.count("Tentar de novo") == 2  # one link is in the script's template
    assert text.count(NOT_CLEAN) == 2
    assert 'id="multas"' not in html
    for document in ("/dossie", "/dossie.pdf", "/negociacao"):
        assert f'{document}"' not in html
    assert "Antes de pagar" in text


def test_notice_groups_lookups_by_reason() -> None:
    shown_text = part(Panels(DOWN, BARRED, DOWN))
    assert f"Dados do veículo e restrições judiciais: {DOWN.reason}" in shown_text
    assert f"Multas: {BARRED.reason}" in shown_text


def test_unknown_plate_offers_a_new_search_instead_of_a_retry() -> None:
    for unknown, title in (
        (UNKNOWN, "A fonte não conhece esta placa"),
        (REFUSED, "A fonte não aceitou esta placa"),
    ):
        shown_text = part(Panels(unknown, unknown, unknown))
        assert title in shown_text
        assert "Confira as letras e os números no documento." in shown_text
        assert "Procurar de novo" in shown_text and "Tentar de novo" not in shown_text
        assert NOT_CLEAN in shown_text
        whole = render(vehicle_page(PLATE, Panels(unknown, unknown, unknown), UNASKED, CONTEXT))
        assert "Nenhuma multa" not in whole and '/dossie"' not in whole


@pytest.mark.parametrize(
    ("status", "finding"),
    [
        (402, "Consulta suspensa: falta saldo na fonte"),
        (401, "Consulta suspensa: a fonte não aceitou o acesso"),
    ],
)
def test_retry_that_cannot_succeed_is_not_offered(
    buyer: PageClient, upstream: FaultUpstream, status: int, finding: str
) -> None:
    upstream.script("/detran/v1", *[faults.status(status)] * 3)
    shown = text_of(buyer.get("/placa/ABC1D23?completo=1").by_id("resumo"))
    assert finding in shown and NOT_CLEAN in shown
    assert "Tentar de novo" not in shown and "não respondeu" not in shown


def test_who_runs_the_portal_is_named_with_a_code_to_copy(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1", *[faults.status(402)] * 3)
    here = portal(ISSUER_NAME="Loja Central", ISSUER_CONTACT="(11) 5555-0100")
    page = Person.at(here).signed_in().pages.get("/placa/ABC1D23?completo=1")
    contact = page.by_id("contato")
    (button,) = contact.iter(f"{HTML}button")
    assert text_of(button) == "Copiar código"
    code = button.get("data-copy")
    told = f"Avise Loja Central, (11) 5555-0100 e informe o código deste pedido: {code}"
    assert code and text_of(contact).startswith(told)


def test_plate_known_to_one_source_is_not_called_unknown() -> None:
    shown_text = part(Panels(panels().vehicle, UNKNOWN, panels().orders))
    assert f"Multas: a fonte não conhece esta placa — {NOT_CLEAN}" in shown_text
    mixed = part(Panels(UNKNOWN, DOWN, UNKNOWN))
    assert "A fonte de dados não respondeu" in mixed and "Tentar de novo" in mixed


def test_unknown_renavam_notice_says_renavam() -> None:
    unknown = replace(UNKNOWN, reason="Sem registro para este Renavam.")
    page = renavam_page(Renavam.parse("12345678910"), unknown, unknown, CONTEXT)
    text = text_of(check_html(render(page)))
    assert "A fonte não conhece este Renavam" in text and NOT_CLEAN in text
    assert "Confira os algarismos no documento." in text


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (404, "A fonte de dados não tem registro para esta placa."),
        (400, "A fonte de dados não aceitou esta placa."),
    ],
)
def test_upstream_404_and_400_are_explained_on_the_page(
    buyer: PageClient, upstream: FaultUpstream, status: int, sentence: str
) -> None:
    upstream.default(faults.status(status))
    page = buyer.get("/placa/ABC1D23?completo=1")
    assert sentence in page.text
    assert "Procurar de novo" in page.text and "data-panel-retry" not in page.html
    assert "nada impede" not in page.text.lower()
    upstream.default(faults.status(status))
    assert sentence.replace("esta placa", "este Renavam") in buyer.get("/renavam/12345678910").text


def test_out_of_scope_lookups_offer_no_retry() -> None:
    shown_text = part(Panels(BARRED, BARRED, BARRED))
    assert "Tentar de novo" not in shown_text and "Procurar de novo" not in shown_text
    assert "O seu acesso não inclui estas consultas" in shown_text


def test_stale_answers_of_the_same_minute_share_one_notice() -> None:
    def kept(age: timedelta) -> Panels:
        return Panels(
            answered(decode_body(str(PLATE)), "stale", age=timedelta(days=2)),
            answered(renainf_body(), "stale", age=timedelta(days=2) - timedelta(seconds=4)),
            answered(renajud_body(), "stale", age=age),
        )

    together = part(kept(timedelta(days=2)))
    assert together.count("Não há resposta mais nova da fonte de dados.") == 1
    assert (
        "Dados do veículo, multas e restrições judiciais: respostas guardadas de "
        "18/11/2026 às 21:15" in together
    )
    apart = part(kept(timedelta(days=1)))
    assert "Dados do veículo e multas: respostas guardadas de 18/11/2026 às 21:15" in apart
    assert "Restrições judiciais: resposta guardada de 19/11/2026 às 21:15" in apart


def test_answer_under_a_minute_old_is_not_called_cached() -> None:
    for age, is_cached in ((timedelta(seconds=59), False), (timedelta(seconds=60), True)):
        fines = answered(renainf_body(), age=age)
        shown = part(Panels(panels().vehicle, fines, panels().orders), "multas")
        assert ("resposta guardada no portal" in shown) is is_cached


def test_unknown_plate_offers_a_new_search_with_out_of_scope_rest() -> None:
    shown_text = part(Panels(UNKNOWN, BARRED, BARRED))
    assert "Procurar de novo" in shown_text
    assert "Tentar de novo" not in shown_text


@pytest.mark.parametrize("missing", [DOWN, UNKNOWN, BARRED])
def test_incomplete_summary_is_marked_for_the_script(
    missing: Panel,
) -> None:
    html = render(vehicle_page(PLATE, Panels(missing, missing, missing), UNASKED, CONTEXT))
    assert 'id="resumo"' in html
    assert html.count(" data-panel-gap") == 1
    partly = render(vehicle_page(PLATE, replace(panels(), fines=missing), UNASKED, CONTEXT))
    assert partly.count(" data-panel-gap") == 2
    assert " data-panel-gap" not in render(vehicle_page(PLATE, panels(), UNASKED, CONTEXT))
