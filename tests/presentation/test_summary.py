"""Tests of the summary: the verdict is never better than the records."""

from dataclasses import replace

import pytest

from portal.dossier import figures
from portal.dossier.answers import Panel, Panels
from portal.dossier.status_style import LOOKS
from portal.phrasebook.verdict import headline
from portal.vehicle.plate import Renavam
from tests.factories import (
    HIDDEN,
    decode_body,
    fine,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.presentation.pages import dossier_page, renavam_page, vehicle_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, panels, render
from tests.web.html_checker import check_html, text_of


def test_contradictory_restriction_is_counted_and_flagged() -> None:
    body = renajud_body(restriction(constaRenajud=False, tipoBloqueio=HIDDEN))
    quiet = panels(renainf=renainf_body(), renajud=body)
    contents = CONTEXT.dossier(PLATE, quiet)
    assert contents.orders_in_force == 1
    (order,) = contents.orders or ()
    assert {answer.mark for answer in order.effect.answers.values()} == {"unknown"}
    assert contents.verdict.level == "caution"
    text = text_of(check_html(render(vehicle_page(PLATE, quiet, UNASKED, CONTEXT))))
    assert "a fonte se contradiz" in text
    assert "Nenhuma multa em aberto nem" not in text


def stale(panel: Panel) -> Panel:
    return replace(panel, state="stale")


def test_stale_answer_prevents_clear_verdict() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    assert CONTEXT.dossier(PLATE, clear).verdict.level == "clear"
    assert LOOKS["clear"].tone == "ok"
    for lookup in ("decode", "renainf", "renajud"):
        kept = clear.with_answers({lookup: stale(clear.of(lookup))})
        found = CONTEXT.dossier(PLATE, kept).verdict
        assert LOOKS[found.level].tone == "warn", lookup
        paper = dossier_page(PLATE, kept, UNASKED, CONTEXT, address="https://p.example")
        for page in (vehicle_page(PLATE, kept, UNASKED, CONTEXT), paper):
            text = text_of(check_html(render(page)))
            assert "resposta guardada de 20/11/2026 às 21:12; sem resposta mais nova" in text
    marks = [LOOKS[row.mark].tone for row in CONTEXT.dossier(PLATE, kept).verdict.matrix]
    assert marks == ["warn"] * 4
    by_renavam = CONTEXT.dossier(Renavam.parse("79831854647"), replace(clear, vehicle=stale(DOWN)))
    assert by_renavam.verdict.level == "clear"


@pytest.mark.parametrize(
    "body",
    [
        b'{"status": "DONE", "result": {}}',
        decode_body("ABC1D23", marca=HIDDEN, descricao=HIDDEN, informacoesFipe=[]),
        decode_body("ABC1D23", marca="", descricao="", informacoesFipe=[{"ano": "2015"}]),
    ],
)
def test_answer_without_description_makes_verdict_incomplete(body: bytes) -> None:
    empty = panels(decode=body, renainf=renainf_body(), renajud=renajud_body())
    verdict = CONTEXT.dossier(PLATE, empty).verdict
    assert verdict.level == "incomplete"
    assert "a fonte não descreveu o veículo" in headline(verdict)
    check_html(render(vehicle_page(PLATE, empty, UNASKED, CONTEXT)))
    described = panels(
        decode=decode_body("ABC1D23", marca="", descricao=""),
        renainf=renainf_body(),
        renajud=renajud_body(),
    )
    assert CONTEXT.dossier(PLATE, described).verdict.level == "clear"


def test_fines_panel_shows_source_kind_and_unknown_standing() -> None:
    odd = renainf_body(
        fine(tipo="CANCELADA", dataEmissaoPenalidade="01/02/2026"), fine(), fine(), fine()
    )
    html = render(vehicle_page(PLATE, panels(renainf=odd), UNASKED, CONTEXT))
    text = text_of(check_html(html))
    assert "A fonte registra “CANCELADA”" in text
    assert "Situação na fonteCancelada" in text
    assert "3 registros idênticos: confirme se é a mesma multa" in text
    assert "Em aberto por gravidade: 3 médias." in text
    assert "não é possível dizer 3 multas de situação incerta" in text
    assert "1 dada como cancelada, à parte: R$ 130,16" in text
    alone = render(vehicle_page(PLATE, panels(), UNASKED, CONTEXT))
    text = text_of(check_html(alone))
    assert "Em regra já exigíveisnão é possível dizer 1 multa de situação incerta" in text


def test_unverified_items_follow_verdict() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    html = render(vehicle_page(PLATE, clear, UNASKED, CONTEXT))
    text = text_of(check_html(html))
    finding = text.index("Nenhuma multa em aberto nem restrição judicial encontrada")
    line = text.index("Falta verificar IPVA, financiamento, roubo e furto")
    assert finding < text.index("Transferir") < line
    fined = text_of(check_html(render(vehicle_page(PLATE, panels(), UNASKED, CONTEXT))))
    assert "Falta conferir 13 de 15" in fined and "13 linhas não verificadas" in fined
    assert "Falta conferir 13 de 15" in text
    assert 'href="#nao-verificado"' in html and 'id="nao-verificado"' in html


def test_dossier_names_what_was_not_verified_on_the_first_sheet() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    page = dossier_page(PLATE, clear, UNASKED, CONTEXT, address="https://p.example")
    text = text_of(check_html(render(page)))
    line = text.index("Não verificado neste dossiê")
    assert line < text.index("IPVA e multas ambientais") < text.index("Recebido por")
    assert "Multas do estado e do município de registro podem não aparecer" in text


def test_renavam_with_wrong_check_digit_is_never_clear() -> None:
    answered = panels(renainf=renainf_body(), renajud=renajud_body())
    for digits, level in (("12345678910", "incomplete"), ("79831854647", "clear")):
        page = renavam_page(Renavam(digits), answered.fines, answered.orders, CONTEXT)
        assert page.records.dossier.verdict.level == level
        check_html(render(page))


def test_source_that_was_not_asked_is_no_outage() -> None:
    """Four states, and words for each: FIPE has nothing on a Renavam, and did not fail."""
    decode, renainf, renajud = panels().all
    barred = Panel("unavailable", cause="out_of_scope", reason="Sem acesso.")
    for subject, answers, said in (
        (Renavam("79831854647"), Panels(Panel("unasked"), renainf, renajud), "FIPE só pela placa"),
        (PLATE, Panels(decode, barred, renajud), "Renainf fora do seu acesso"),
        (PLATE, Panels(decode, Panel("unasked"), renajud), "Renainf não pedido"),
        (PLATE, Panels(DOWN, renainf, renajud), "FIPE não respondeu"),
    ):
        shown = {one.label: one for one in figures.sources(CONTEXT.dossier(subject, answers))}
        label = said.partition(" ")[0]
        assert f"{label} {shown[label].value}" == said
        assert shown[label].is_known is False
    page = renavam_page(Renavam("79831854647"), renainf, renajud, CONTEXT)
    text = text_of(check_html(render(page)))
    assert "FIPE só pela placa" in text and "FIPE não respondeu" not in text
