"""What two faces show of one vehicle is the same, and nothing is lost on the way."""

import re
from datetime import date, timedelta
from typing import Any

import pytest

from portal.dossier.answers import Panels
from portal.dossier.row import row_of_dossier
from portal.presentation.paper.prices import paper_chart, price_facts
from portal.presentation.vehicle.price_view import PriceView
from tests.factories import (
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.presentation.pages import comparison_page, dossier_page, vehicle_page
from tests.presentation.rendering import CONTEXT, PLATE, UNASKED, panels, render
from tests.web.html_checker import check_html, text_of

UNPRICED = fine(valor="", codigoInfracao="9999")


def on(day: date, **fields: Any) -> dict[str, Any]:
    notice = {"dataEmissaoNotificacao": f"{day + timedelta(10):%d/%m/%Y}"}
    return fine(**{"dataInfracao": f"{day:%d/%m/%Y}", **notice, **fields})


def paper_text(answers: Panels) -> str:
    page = dossier_page(PLATE, answers, UNASKED, CONTEXT, address="https://portal.example")
    return text_of(check_html(render(page)))


def page_text(answers: Panels) -> str:
    return text_of(check_html(render(vehicle_page(PLATE, answers, UNASKED, CONTEXT))))


@pytest.mark.parametrize("count", [1, 6])
def test_unknown_amount_is_zero_on_no_face(count: int) -> None:
    answers = panels(renainf=renainf_body(*[UNPRICED] * count), renajud=renajud_body())
    contents = CONTEXT.dossier(PLATE, answers)
    row = row_of_dossier(CONTEXT.dossier(PLATE, answers))
    assert row.fines_amount is None
    assert contents.fines is not None
    compared = render(comparison_page([PLATE], [answers], CONTEXT, follow=False))
    for text in (page_text(answers), paper_text(answers), text_of(check_html(compared))):
        assert "R$ 0,00" not in text
        assert "não informado" in text


def test_part_of_a_sum_is_at_least() -> None:
    answers = panels(renainf=renainf_body(*[UNPRICED] * 4, fine(), fine()))
    assert "6 registros; ao menos R$ 260,32 em aberto" in page_text(answers)


def test_no_state_is_dropped_from_the_timeline_on_paper() -> None:
    today = CONTEXT.today
    states: dict[str, dict[str, Any]] = {
        "paga": {"pagamento": payment(dataPagamento=f"{today:%d/%m/%Y}")},
        "notice": {"dataEmissaoNotificacao": f"{today:%d/%m/%Y}"},
        "probable": {"dataEmissaoPenalidade": f"{today - timedelta(45):%d/%m/%Y}"},
        "due": {"dataEmissaoPenalidade": f"{today - timedelta(5):%d/%m/%Y}"},
    }
    fines = [on(today - timedelta(90), **fields) for fields in states.values() for _ in range(3)]
    enforceable = on(
        today - timedelta(300), dataEmissaoPenalidade=f"{today - timedelta(200):%d/%m/%Y}"
    )
    answers = panels(renainf=renainf_body(*fines, enforceable), renajud=renajud_body())
    page = dossier_page(PLATE, answers, UNASKED, CONTEXT, address="https://portal.example")
    assert page.timeline is not None
    texts = [line.text for line in page.timeline.lines]
    assert "1 multa: exigível" in texts
    numbers = [int(found) for text in texts for found in re.findall(r"(\d+) multa", text)]
    assert sum(numbers) == 13
    assert any(text.startswith("e mais ") for text in texts)


def test_every_note_of_a_long_annex_is_printed() -> None:
    fines = [
        on(
            CONTEXT.today - timedelta(400 + n),
            marcaModelo=f"VW/GOL {n}",
            valor=str(1000 + n),
            dataEmissaoPenalidade=f"{CONTEXT.today - timedelta(n + 3):%d/%m/%Y}",
        )
        for n in range(300)
    ]
    text = paper_text(panels(renainf=renainf_body(*fines)))
    for n in (0, 150, 299):
        assert f"VW/GOL {n}" in text


def test_icon_of_a_standing_is_the_same_on_screen_and_paper() -> None:
    penalty = f"{CONTEXT.today - timedelta(45):%d/%m/%Y}"
    answers = panels(renainf=renainf_body(fine(dataEmissaoPenalidade=penalty)))
    page = dossier_page(PLATE, answers, UNASKED, CONTEXT, address="https://portal.example")
    diamond = "M12 1.8 22.2 12 12 22.2 1.8 12z"
    for shown in (vehicle_page(PLATE, answers, UNASKED, CONTEXT), page):
        _, _, row = render(shown).partition('id="multa-1"')
        icon, _, word = row.partition("vencimento provável</")
        assert word and icon.count('<svg class="icon') == 1
        assert diamond in icon


@pytest.mark.parametrize("months", [1, 2])
def test_short_price_history_is_a_sentence_on_paper_too(months: int) -> None:
    body = decode_body(
        str(PLATE), informacoesFipe=[fipe_entry(historicoPreco=price_history(months, 0, (2026, 8)))]
    )
    contents = CONTEXT.dossier(PLATE, panels(body))
    assert contents.prices is not None
    assert paper_chart(contents.prices) is None
    assert PriceView(contents.prices, ()).instead in list(price_facts(contents.prices.listed[0]))


def test_long_verdict_keeps_ids_of_the_dossier_unique() -> None:
    kinds = ("TRANSFERENCIA", "PENHORA", "LICENCIAMENTO", "CIRCULACAO, ALGO NOVO E LONGO" * 3)
    orders = [restriction(restricoes=kind, tribunal=f"TRT{n}") for n, kind in enumerate(kinds)]
    days = (CONTEXT.today - timedelta(n) for n in (5, 45, 200, 300))
    fines = [fine(dataEmissaoPenalidade=f"{day:%d/%m/%Y}") for day in days]
    answers = panels(renainf=renainf_body(*fines), renajud=renajud_body(*orders))
    page = dossier_page(PLATE, answers, UNASKED, CONTEXT, address="https://portal.example")
    assert not page.has_facts_first
    check_html(render(page))
