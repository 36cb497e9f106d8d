"""Tests of the fines panel: bar, years, order, filters and selection."""

import re
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from portal.presentation.vehicle.fine_choice import fine_choice
from portal.presentation.vehicle.fine_ledger import (
    FEWEST_TO_CHOOSE,
    FineLedger,
    LedgerLine,
    fine_ledger,
    short_authority,
)
from portal.presentation.vehicle.page import panel_fragment, renavam_page
from portal.vehicle import Field, Renavam
from tests.factories import fine, payment, renainf_body
from tests.presentation.rendering import (
    CONTEXT,
    PLATE,
    UNASKED,
    answered,
    panels,
    render,
    vehicle_page,
)
from tests.web.html_checker import check_html


def ago(days: int) -> str:
    return f"{CONTEXT.today - timedelta(days=days):%d/%m/%Y}"


def record(days: int = 300, **overrides: Any) -> dict[str, Any]:
    """A fine whose penalty was issued ``days`` days ago."""
    return fine(
        **{
            "dataInfracao": ago(days + 90),
            "dataEmissaoNotificacao": ago(days + 80),
            "dataEmissaoPenalidade": ago(days),
            **overrides,
        }
    )


NOTICE = fine(dataInfracao=ago(20), dataEmissaoNotificacao=ago(10), ufOrgaoAutuador="RJ")
PAID = record(100, pagamento=payment(dataPagamento=ago(50)), ufOrgaoAutuador="MG")
RECORDS = (
    NOTICE,
    PAID,
    record(45, ufOrgaoAutuador="SP", orgaoAutuador="PREFEITURA MUNICIPAL DE SAO PAULO"),
    record(700, codigoInfracao="6050", descricao="AVANCAR O SINAL VERMELHO", valor="293"),
    record(300, ufOrgaoAutuador="SP"),
    record(310, ufOrgaoAutuador=""),
)


def ledger(*records: dict[str, Any], **query: str | list[str]) -> FineLedger:
    dossier = CONTEXT.dossier(PLATE, panels(renainf=renainf_body(*(records or RECORDS))))
    values = {name: [sent] if isinstance(sent, str) else sent for name, sent in query.items()}
    choice = fine_choice(tuple((name, one) for name, sent in values.items() for one in sent))
    found = fine_ledger(dossier, choice)
    assert found is not None
    return found


def lines(found: FineLedger) -> list[LedgerLine]:
    return [*found.lines, *(line for year in found.years for line in year.lines)]


def shown(found: FineLedger) -> list[int]:
    return [line.fine.number for line in lines(found) if line.is_shown]


def test_bar_covers_every_situation_once() -> None:
    bar = ledger().bar
    assert [one.standing.key for one in bar] == ["exigivel", "vencimento", "autuacao", "paga"]
    assert bar[0].start == 0
    assert sum(one.width for one in bar) == pytest.approx(100, abs=0.05)
    for before, after in pairwise(bar):
        assert after.start == pytest.approx(before.start + before.width, abs=0.02)
    assert bar[2].words == "em 1 autuação, ainda não é multa"
    assert bar[0].words == "em 3 multas exigíveis"


def test_bar_without_amounts_shows_counts() -> None:
    unknown = {"valor": "", "codigoInfracao": "9999"}
    bar = ledger(record(300, **unknown), record(310, **unknown), {**NOTICE, **unknown}).bar
    assert [round(one.width) for one in bar] == [67, 33]


def test_fines_are_grouped_by_year_newest_first() -> None:
    found = ledger()
    assert [year.label for year in found.years] == ["2026", "2025", "2024"]
    assert shown(found) == [1, 3, 2, 5, 6, 4]
    assert found.years[0].words == "2 multas e 1 autuação, 2 em aberto"
    assert found.lines == ()


def test_year_whose_fines_are_all_open_says_so_once() -> None:
    for year in ledger(*[record()] * 5).years:
        assert f"{year.words} {year.amount}".count("em aberto") == 1


def test_undated_fines_come_last() -> None:
    found = ledger(*RECORDS, record(dataInfracao="ontem"))
    assert found.years[-1].label == "Sem data"
    assert shown(found)[-1] == 7


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"situacao": "autuacao"}, [1]),
        ({"situacao": "paga"}, [2]),
        ({"situacao": "aberto"}, [1, 3, 5, 6, 4]),
        ({"uf": "SP"}, [3, 5]),
        ({"uf": "sem"}, [6]),
        ({"uf": "SP", "situacao": "exigivel"}, [5]),
        ({"busca": "sinal"}, [4]),
        ({"busca": "são paulo"}, [3]),
        ({"busca": "nada disso"}, []),
        ({"uf": "XX", "situacao": "zzz"}, [1, 3, 2, 5, 6, 4]),
    ],
)
def test_filters_hide_other_fines(query: dict[str, Any], numbers: list[int]) -> None:
    found = ledger(**query)
    assert shown(found) == numbers
    assert len(lines(found)) == len(RECORDS)
    if len(numbers) < len(RECORDS):
        assert found.shown_words.startswith(f"{len(numbers)} de 6 registros; R$\u00a0")
        assert " de R$\u00a0" in found.shown_words
    else:
        assert found.shown_words.startswith("6 registros; ")


def test_filtered_year_says_how_many_of_how_many() -> None:
    year = ledger(uf="SP").years[0]
    assert year.words == "1 de 3 registros"
    assert re.fullmatch(r"R\$\u00a0130,16 de R\$\u00a0260,32 em aberto", year.amount)
    assert not ledger(uf="RJ").years[1].is_shown


def test_year_without_open_fines_has_no_sum() -> None:
    paid = [record(pagamento=payment(dataPagamento=ago(50)))] * 5
    (year,) = ledger(*paid).years
    assert (year.amount, year.all_amount) == ("", "")
    (year,) = ledger(*paid, busca="nada disso").years
    assert year.amount == ""


def test_orders_by_amount_and_gravity_have_no_years() -> None:
    by_amount = ledger(ordem="valor")
    assert by_amount.lines[0].fine.number == 4
    assert not any(year.lines or year.is_shown for year in by_amount.years)
    ranks = [line.rank for line in ledger(ordem="gravidade").lines]
    assert ranks == sorted(ranks, reverse=True)


def test_selection_sums_open_fines_only() -> None:
    found = ledger(marcada=["1", "2", "4", "299"])
    assert found.picked_count == 2
    assert found.picked_words == "1 multa e 1 autuação: R$\u00a0423,63"
    assert found.negotiation == "/placa/ABC1D23/negociacao?multas=1,4"
    assert not any(line.is_picked for line in lines(found) if line.fine.is_paid)


def test_selection_names_unknown_amounts() -> None:
    unknown = record(valor="", codigoInfracao="9999")
    found = ledger(*RECORDS, unknown, marcada=["5", "7"])
    assert found.picked_words == "2 multas: R$\u00a0130,16, e 1 sem valor informado"


def test_short_list_has_no_controls_and_ignores_the_choice() -> None:
    few = [record(300 + n, ufOrgaoAutuador="SP") for n in range(FEWEST_TO_CHOOSE - 1)]
    found = ledger(*few, uf="RJ", busca="nada", marcada=["1"])
    assert not found.has_controls
    assert shown(found) == [1, 2, 3, 4]
    assert found.picked_count == 0
    html = render(vehicle_page(PLATE, panels(renainf=renainf_body(*few)), UNASKED, CONTEXT))
    assert 'name="marcada"' not in html and 'name="busca"' not in html


def test_heading_counts_notices_apart() -> None:
    assert ledger().heading == "4 multas e 1 autuação em aberto, 1 paga"
    assert ledger(NOTICE).heading == "1 autuação em aberto"
    assert ledger(PAID).heading == "1 multa, paga"
    assert ledger(PAID, PAID).heading == "2 multas, todas pagas"


def test_page_keeps_other_parameters_in_form_and_addresses() -> None:
    context = replace(CONTEXT, query=(("uf", "SP"), ("versao", "2"), ("completo", "1")))
    answers = panels(renainf=renainf_body(*RECORDS))
    page = vehicle_page(PLATE, answers, UNASKED, context)
    html = render(page)
    check_html(html)
    assert '<input type="hidden" name="versao" value="2">' in html
    assert 'data-panel-url="/placa/ABC1D23/painel/multas?versao=2&amp;uf=SP"' in html
    assert page.whole_page_url == "/placa/ABC1D23?completo=1&versao=2&uf=SP"
    assert '<option value="SP" selected>SP (2)</option>' in html


def test_panel_alone_is_filtered_too() -> None:
    answers = panels(renainf=renainf_body(*RECORDS))
    context = replace(CONTEXT, query=(("uf", "SP"),))
    html = render(panel_fragment("multas", PLATE, answers, context))
    assert html.count("fine--out") == 4
    assert "2 de 6 registros" in html


def test_every_fine_has_a_details_element_with_its_deadlines() -> None:
    html = render(panel_fragment("multas", PLATE, panels(renainf=renainf_body(*RECORDS)), CONTEXT))
    for number in range(1, 7):
        row = html.split(f'id="multa-{number}"')[1].split("</tr>")[0]
        assert f"Detalhes da multa {number}" in row
        assert '<ol class="deadlines"' in row
        assert "Texto da fonte" in row


def test_renavam_page_offers_no_negotiation() -> None:
    page = renavam_page(
        Renavam.parse("12345678910"), answered(renainf_body(*RECORDS)), UNASKED, CONTEXT
    )
    html = render(page)
    check_html(html)
    assert "negociacao" not in html
    assert 'action="/renavam/12345678910#multas"' in html


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("Polícia Rodoviária Federal", "PRF"),
        ("Prefeitura Municipal de São Paulo", "Pref. São Paulo"),
        ("Prefeitura do Recife", "Pref. Recife"),
        ("Detran SP", "Detran"),
        ("Departamento Estadual de Trânsito", "Detran"),
        ("DNIT", "DNIT"),
    ],
)
def test_usual_names_of_bodies_are_abbreviated(name: str, short: str) -> None:
    assert str(short_authority(Field(name, "known"))) == short
