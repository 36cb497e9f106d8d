"""Tests of the FIPE candidates: ranking, charts, predictions and doubtful prices."""

from datetime import date
from typing import Any

import pytest

from portal.presentation import dossier_page, negotiation_page, vehicle_page
from portal.presentation.paper.prices import paper_prices
from portal.presentation.vehicle.prices import MOST_TABS, Prices, PriceTab, axis_price, prices_of
from portal.vehicle import read_decode, result_of
from tests.factories import HIDDEN, decode_body, fipe_entry, price_history
from tests.presentation.rendering import CONTEXT, PLATE, UNASKED, panels, render
from tests.web.html_checker import check_html, text_of


def candidates(*entries: Any, today: date = CONTEXT.today) -> Prices:
    body = decode_body(str(PLATE), informacoesFipe=list(entries))
    return prices_of(read_decode(result_of(body), marker=HIDDEN), today)


def only(**overrides: Any) -> PriceTab:
    (tab,) = candidates(fipe_entry(**overrides)).tabs
    return tab


def shown(**overrides: Any) -> str:
    """The vehicle page's text with one candidate."""
    body = decode_body(str(PLATE), informacoesFipe=[fipe_entry(**overrides)])
    page = vehicle_page(PLATE, panels(body), UNASKED, CONTEXT)
    return text_of(check_html(render(page)))


def test_candidates_beyond_tabs_have_no_chart() -> None:
    entries = [fipe_entry(versao=f"V{number}", ano="2009") for number in range(MOST_TABS + 2)]
    prices = candidates(*entries, fipe_entry())
    assert (len(prices.tabs), len(prices.others)) == (MOST_TABS, 3)
    assert all(tab.chart is None for tab in prices.others)
    assert [tab.is_best for tab in prices.tabs] == [True] + [False] * (MOST_TABS - 1)


def tile(*entries: Any) -> tuple[str, str]:
    price = candidates(*entries).price_summary
    assert price is not None
    return price.text, price.note


def test_tied_candidates_show_price_range_and_no_best() -> None:
    one, other = fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")
    tied = candidates(one, other)
    assert [(tab.is_best, tab.is_tied) for tab in tied.tabs] == [(False, True)] * 2
    assert {tab.badge for tab in tied.tabs} == {"empate: confira a versão no documento"}
    assert tile(one, other) == ("R$\u00a089.325 a R$\u00a095.000", "(2 versões)")
    far = fipe_entry(versao="V3", ano="2009", valorAtual="1000")
    assert tile(far, one, other)[1] == "(2 versões) (há 1 outra versão possível)"
    assert tile(one, fipe_entry(versao="V2")) == ("R$\u00a089.325,00", "(2 versões)")
    priceless = fipe_entry(versao="V2", valorAtual="")
    assert tile(one, priceless)[1] == "(2 versões) 1 sem preço na fonte"
    assert candidates(priceless).price_summary is None
    assert "o registro não diz qual" in tied.legend


def test_untied_first_candidate_is_likeliest() -> None:
    entries = [fipe_entry(versao=f"V{number}", ano="2009") for number in range(3)]
    prices = candidates(*entries, fipe_entry())
    assert [tab.badge for tab in prices.tabs] == ["mais provável", "", "", ""]
    assert not any(tab.is_tied for tab in prices.tabs)
    assert tile(*entries, fipe_entry()) == ("R$\u00a089.325,00", "(há 3 outras versões possíveis)")
    assert tile(fipe_entry()) == ("R$\u00a089.325,00", "")
    assert "a mais provável vem primeiro" in prices.legend


def test_tie_is_shown_on_page_and_negotiation_sheet() -> None:
    body = decode_body(
        str(PLATE),
        informacoesFipe=[fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")],
    )
    page = text_of(check_html(render(vehicle_page(PLATE, panels(body), UNASKED, CONTEXT))))
    assert "Preço FIPE R$ 89.325 a R$ 95.000 (2 versões)" in page
    assert "empate: confira a versão no documento" in page and ">mais provável<" not in render(
        vehicle_page(PLATE, panels(body), UNASKED, CONTEXT)
    )
    sheet = negotiation_page(PLATE, panels(body), CONTEXT, {})
    text = text_of(check_html(render(sheet)))
    assert "Este teto parte de “V1 · 2015”" in text and "R$ 89.325 a R$ 95.000" in text
    clear = decode_body(str(PLATE), informacoesFipe=[fipe_entry(), fipe_entry(ano="2009")])
    assert negotiation_page(PLATE, panels(clear), CONTEXT, {}).tie == ""


def test_single_candidate_is_not_marked_likeliest() -> None:
    best = candidates(fipe_entry()).best
    assert best is not None
    assert not best.is_best
    assert str(best.code) == "008190-6"
    assert best.years[0].year == 2026
    assert len(best.years[0].months) == 12


def test_chart_description_names_range_and_predictions() -> None:
    history = price_history(24, 2, (2024, 12))
    best = candidates(fipe_entry(historicoPreco=history)).best
    assert best is not None
    assert best.chart_description.startswith("De dezembro de 2024 (R$\u00a092.000) a ")
    assert "previsão da fonte, até novembro de 2026" in best.chart_description


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (800.0, "R$\u00a0800"),
        (92_500.0, "R$\u00a092,5\u00a0mil"),
        (90_000.0, "R$\u00a090\u00a0mil"),
        (1_200_000.0, "R$\u00a01,2\u00a0mi"),
    ],
)
def test_axis_price_is_abbreviated(value: float, text: str) -> None:
    assert axis_price(value) == text


@pytest.mark.parametrize(
    ("first", "label"),
    [
        ((2025, 12), "agora "),  # to November 2026, the present month
        ((2025, 11), "agora "),
        ((2025, 10), "set/26 "),
        ((2026, 1), "dez/26 "),  # a future month that the source does not mark as predicted
        ((2001, 7), "jun/02 "),
    ],
)
def test_chart_labels_only_recent_month_as_now(first: tuple[int, int], label: str) -> None:
    tab = only(historicoPreco=price_history(12, 0, first))
    for drawn in (tab.chart, tab.compact_chart):
        assert drawn is not None
        (mark,) = [mark for mark in drawn.labels if "now" in mark.kind]
        assert mark.text.startswith(label)


def test_print_chart_names_last_month() -> None:
    """A dossier is read later, so its charts do not say "agora"."""
    tab = only(historicoPreco=price_history(12, 0, (2025, 12)))
    charted = paper_prices(Prices((tab,), ())).chart
    assert charted is not None
    assert [m.text[:7] for m in charted.chart.labels if "now" in m.kind] == ["nov/26 "]


def test_price_change_names_its_last_month() -> None:
    assert "Em 12 meses (até set/26)-8,1%" in shown(historicoPreco=price_history())
    text = shown(historicoPreco=price_history(30, 0, (2000, 1)))
    assert "Em 12 meses (até jun/02)" in text
    assert "Em 12 meses (" not in shown(historicoPreco=[])


@pytest.mark.parametrize(
    ("current", "doubt"),
    [
        ("89325.00", "55% acima do último mês do histórico, junho de 2002 (R$\u00a057.629)"),
        ("40000", "31% abaixo do último mês"),
        ("69000", ""),  # 19.7 % above the last month
        ("46200", ""),
        ("5762900", "muito acima do último mês"),
        ("1", "muito abaixo do último mês"),
        ("", ""),
    ],
)
def test_price_far_from_history_is_doubted(current: str, doubt: str) -> None:
    history = [{"mes": "6", "ano": "2002", "valor": "57629", "predicao": False}]
    tab = only(valorAtual=current, historicoPreco=history)
    assert doubt in tab.doubt
    assert bool(tab.doubt) == bool(doubt)
    body = decode_body(
        str(PLATE), informacoesFipe=[fipe_entry(valorAtual=current, historicoPreco=history)]
    )
    for page in (
        vehicle_page(PLATE, panels(body), UNASKED, CONTEXT),
        dossier_page(PLATE, panels(body), UNASKED, CONTEXT, address="https://portal.example"),
        negotiation_page(PLATE, panels(body), CONTEXT, {}),
    ):
        assert ("confira na tabela FIPE qual" in render(page)) == bool(doubt)


def test_price_without_history_is_not_doubted() -> None:
    assert only(historicoPreco=[]).doubt == ""
    assert only(historicoPreco=price_history(2, 2)).doubt == ""


def test_past_predictions_are_called_estimates() -> None:
    history = price_history(24, 3, (2000, 1))
    tab = only(historicoPreco=history)
    assert tab.predicted_label == "Estimativa até dez/01"
    assert "estimativa da fonte para meses já passados" in tab.chart_description
    assert tab.chart is not None and tab.chart.zone_label is not None
    assert tab.chart.zone_label.text == "estimativa"
    text = shown(historicoPreco=history)
    assert "previsão" not in text.lower()
    assert "meses já passados" in text
    alone = only(historicoPreco=price_history(3, 3, (2000, 1)))
    assert alone.chart_description == "A série traz apenas estimativas de meses já passados."


def test_prediction_is_forecast_until_end_of_month() -> None:
    entry = fipe_entry(historicoPreco=price_history(24, 2, (2024, 12)))  # until 11/2026
    for today, label in (
        (date(2026, 11, 30), "Previsão até nov/26"),
        (date(2026, 12, 1), "Estimativa até nov/26"),
    ):
        (tab,) = candidates(entry, today=today).tabs
        assert tab.predicted_label == label


def test_predicted_month_between_real_ones_is_marked() -> None:
    history = price_history(12, 0, (2025, 10))
    history[5]["predicao"] = True
    assert "com *: previsto pela fonte" in shown(historicoPreco=history)
