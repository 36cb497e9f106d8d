"""Tests of the FIPE price candidates: ranking, charts, predictions, doubts."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from portal.dossier.prices import MOST_TABS, NOTHING_TO_COMPARE, PriceCandidate, Prices, prices_of
from portal.phrasebook.prices import monthly_amount, monthly_words, months_of_loss
from portal.presentation.exports.explained import explained
from portal.presentation.paper.prices import paper_chart, price_facts
from portal.presentation.query import Query, changed, kept_query
from portal.presentation.typed_money import NOT_MONEY
from portal.presentation.vehicle.price_view import PriceView
from portal.vehicle.decode import read_decode
from portal.vehicle.wire import result_of
from tests.factories import HIDDEN, decode_body, fipe_entry, price_history
from tests.presentation.pages import dossier_page, negotiation_page, vehicle_page
from tests.presentation.rendering import CONTEXT, NOW, PLATE, UNASKED, panels, render
from tests.web.html_checker import check_html, text_of


def candidates(*entries: Any, today: date = CONTEXT.today) -> Prices:
    body = decode_body(str(PLATE), informacoesFipe=list(entries))
    return prices_of(read_decode(result_of(body), marker=HIDDEN), today)


def only(**overrides: Any) -> PriceCandidate:
    (tab,) = candidates(fipe_entry(**overrides)).tabs
    return tab


def shown(**overrides: Any) -> str:
    """The vehicle page's text with one candidate."""
    body = decode_body(str(PLATE), informacoesFipe=[fipe_entry(**overrides)])
    page = vehicle_page(PLATE, panels(body), UNASKED, CONTEXT)
    return text_of(check_html(render(page)))


def view_of(*entries: Any, query: Query = (), today: date = CONTEXT.today) -> PriceView:
    return PriceView(candidates(*entries, today=today), query)


def test_candidates_beyond_tabs_cannot_be_chosen() -> None:
    entries = [fipe_entry(versao=f"V{number}", ano="2009") for number in range(MOST_TABS + 2)]
    prices = candidates(*entries, fipe_entry())
    assert (len(prices.tabs), len(prices.others)) == (MOST_TABS, 3)
    view = view_of(*entries, fipe_entry(), query=(("versao", str(MOST_TABS + 1)),))
    assert len(view.rows) == MOST_TABS
    assert view.tab.number == 1
    assert [tab.is_best for tab in prices.tabs] == [True] + [False] * (MOST_TABS - 1)


def test_candidate_without_fuel_names_what_is_missing() -> None:
    assert "combustível não informado" in shown(combustivel="")
    assert "combustível não informado" not in shown()


def test_single_month_has_neither_change_nor_month_table() -> None:
    page = shown(historicoPreco=price_history()[:1])
    assert "Tabela mês a mês" not in page
    assert "Tabela mês a mês" in shown(historicoPreco=price_history()[:2])
    assert only(historicoPreco=[]).twelve_months == NOTHING_TO_COMPARE
    assert only(historicoPreco=price_history()).twelve_months != NOTHING_TO_COMPARE


def tile(*entries: Any) -> tuple[str, str]:
    price = candidates(*entries).price_summary
    assert price is not None
    return price.text, price.note


def test_tied_candidates_show_price_range_and_no_best() -> None:
    one, other = fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")
    tied = candidates(one, other)
    assert [(tab.is_best, tab.is_tied) for tab in tied.tabs] == [(False, True)] * 2
    assert {tab.badge for tab in tied.tabs} == {"empate"}
    assert tile(one, other) == ("R$\u00a089.325 a R$\u00a095.000", "2 versões prováveis")
    far = fipe_entry(versao="V3", ano="2009", valorAtual="1000")
    assert tile(far, one, other)[1] == "2 versões prováveis (3 possíveis)"
    assert tile(one, fipe_entry(versao="V2")) == ("R$\u00a089.325", "2 versões prováveis")
    priceless = fipe_entry(versao="V2", valorAtual="")
    assert tile(one, priceless)[1] == "2 versões prováveis · 1 sem preço na fonte"
    assert candidates(priceless).price_summary is None
    assert "o registro não diz qual" in tied.legend


def test_untied_first_candidate_is_likeliest() -> None:
    entries = [fipe_entry(versao=f"V{number}", ano="2009") for number in range(3)]
    prices = candidates(*entries, fipe_entry())
    assert [tab.badge for tab in prices.tabs] == ["mais provável", "", "", ""]
    assert not any(tab.is_tied for tab in prices.tabs)
    assert tile(*entries, fipe_entry()) == ("R$\u00a089.325", "a mais provável de 4 versões")
    assert tile(fipe_entry()) == ("R$\u00a089.325", "")
    assert "a mais provável vem primeiro" in prices.legend


def test_tie_is_shown_on_page_and_negotiation_sheet() -> None:
    body = decode_body(
        str(PLATE),
        informacoesFipe=[fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")],
    )
    page = text_of(check_html(render(vehicle_page(PLATE, panels(body), UNASKED, CONTEXT))))
    assert "ValeR$ 89.325 a R$ 95.000 2 versões prováveis" in page
    assert "A versão certa está no documento" in page and ">mais provável<" not in render(
        vehicle_page(PLATE, panels(body), UNASKED, CONTEXT)
    )
    sheet = negotiation_page(PLATE, panels(body), CONTEXT, {})
    text = text_of(check_html(render(sheet)))
    assert "O teto usa a mais barata delas, “V1 · 2015”" in text and "R$ 89.325 a R$ 95.000" in text
    clear = decode_body(str(PLATE), informacoesFipe=[fipe_entry(), fipe_entry(ano="2009")])
    assert "Mais de uma versão" in text
    sheet = negotiation_page(PLATE, panels(clear), CONTEXT, {})
    assert "Mais de uma versão" not in text_of(check_html(render(sheet)))


def test_single_candidate_is_not_marked_likeliest() -> None:
    best = candidates(fipe_entry()).best
    assert best is not None
    assert not best.is_best
    assert str(best.code) == "008190-6"
    assert best.years[0][0] == 2026
    assert len(best.years[0][1]) == 12


def test_chart_description_names_range_and_predictions() -> None:
    history = price_history(24, 2, (2024, 12))
    best = candidates(fipe_entry(historicoPreco=history)).best
    assert best is not None
    assert best.chart_description.startswith("De dezembro de 2024 (R$\u00a0103.500) a ")
    assert "previsão da fonte, até novembro de 2026" in best.chart_description


@pytest.mark.parametrize(
    ("first", "label"),
    [
        ((2025, 12), ""),  # ends in November 2026, the present month
        ((2025, 11), ""),
        ((2025, 10), "set/26"),
        ((2026, 1), ""),  # December is a prediction, although the source does not mark it
        ((2001, 7), "jun/02"),
    ],
)
def test_flag_names_its_month_unless_recent(first: tuple[int, int], label: str) -> None:
    chart = view_of(fipe_entry(historicoPreco=price_history(12, 0, first))).chart
    assert chart is not None and chart.now is not None
    assert chart.now.month == label


def test_print_chart_names_last_month() -> None:
    """A dossier may be read later, so its chart names even the current month."""
    tab = only(historicoPreco=price_history(12, 0, (2025, 12)))
    charted = paper_chart(Prices((tab,)))
    assert charted is not None
    _, chart, _ = charted
    assert chart.now is not None and chart.now.month == "nov/26"


def test_price_change_names_its_last_month() -> None:
    assert "Perdeu 8,1% em 12 meses (até set/26)" in shown(historicoPreco=price_history())
    text = shown(historicoPreco=price_history(30, 0, (2000, 1)))
    assert "em 12 meses (até jun/02)" in text
    assert "em 12 meses (até" not in shown(historicoPreco=[])


@pytest.mark.parametrize(
    ("current", "doubt"),
    [
        ("89325.00", "55% acima do último mês do histórico, outubro de 2026 (R$\u00a057.629)"),
        ("40000", "31% abaixo do último mês"),
        ("69000", "20% acima do último mês"),
        ("52900", "8% abaixo do último mês"),
        ("62200", ""),  # 7.9 % above the last month
        ("46200", "20% abaixo do último mês"),
        ("53100", ""),
        ("576290", "muito acima do último mês"),
        ("5762900", "muito acima do último mês"),
        ("1", "muito abaixo do último mês"),
        ("", ""),
    ],
)
def test_price_far_from_history_is_doubted(current: str, doubt: str) -> None:
    history = [{"mes": "10", "ano": "2026", "valor": "57629", "predicao": False}]
    tab = only(valorAtual=current, historicoPreco=history)
    assert doubt in " ".join(tab.cautions)
    assert bool(tab.doubts) == bool(doubt)
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
    assert only(historicoPreco=[]).doubts == ()
    (doubt,) = only(historicoPreco=price_history(2, 2)).doubts
    assert (doubt.title, doubt.is_final) == ("Preço sem mês da tabela", False)


@pytest.mark.parametrize(
    ("current", "ended", "doubted"),
    [
        ("108000", (2026, 8), ""),  # 8 % above a history of three months ago
        ("109000", (2026, 8), "asked"),
        ("120000", (2026, 8), "asked"),
        ("121000", (2026, 8), "final"),
        # A history that ended four months ago is a doubt. Each further month adds three per cent.
        ("111000", (2026, 7), "asked"),
        ("121000", (2026, 7), "asked"),
        ("124000", (2026, 7), "final"),
        ("79000", (2026, 8), "final"),
        ("79000", (2026, 7), "asked"),
        ("92000", (2026, 8), ""),
        # In all, a price may be a quarter above, and half below.
        ("125000", (2020, 11), "asked"),
        ("126000", (2020, 11), "final"),
        ("50000", (2016, 11), "asked"),
        ("49000", (2016, 11), "final"),
        ("1000000", (2001, 1), "final"),  # ten times
        ("10000", (2001, 1), "final"),
    ],
)
def test_older_history_contradicts_a_price_less(
    current: str, ended: tuple[int, int], doubted: str
) -> None:
    year, month = ended
    last = {"mes": str(month), "ano": str(year), "valor": "100000", "predicao": False}
    tab = only(valorAtual=current, historicoPreco=[last])
    assert ["final" if doubt.is_final else "asked" for doubt in tab.doubts] == doubted.split()


def test_past_predictions_are_called_estimates() -> None:
    history = price_history(24, 3, (2000, 1))
    tab = only(historicoPreco=history)
    assert tab.predicted_label == "Estimativa até dez/01"
    assert "estimativa da fonte para meses já passados" in tab.chart_description
    chart = view_of(fipe_entry(historicoPreco=history)).chart
    assert chart is not None and chart.zone_label == "estimativa"
    text = shown(historicoPreco=history)
    assert "previsão" not in text.lower()
    assert "meses já passados" in text
    alone = only(historicoPreco=price_history(3, 3, (2000, 1)))
    assert alone.chart_description == "A série traz apenas estimativas de meses já passados."


def test_prediction_is_forecast_until_end_of_month() -> None:
    entry = fipe_entry(historicoPreco=price_history(24, 2, (2024, 12)))  # predicted until 11/2026
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


def rising_to(year: int, *values: int) -> list[dict[str, Any]]:
    """A history of monthly prices whose last one is in November of ``year``."""
    last = year * 12 + 10
    return [
        {
            "mes": str((last - len(values) + 1 + i) % 12 + 1),
            "ano": str((last - len(values) + 1 + i) // 12),
            "valor": str(value),
            "predicao": False,
        }
        for i, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            [90_000] * 12 + [100_000] + [95_000] * 11 + [90_000],
            "Perdeu 10,0% em 12 meses e 10,0% desde o pico de novembro de 2025.",
        ),
        (
            [100_000] + [80_000] * 12 + [90_000],
            "Subiu 12,5% em 12 meses; está 10,0% abaixo do pico de outubro de 2025; em média, "
            "perde 9,3% ao ano.",
        ),
        (
            [80_000] * 13 + [88_000],
            "Subiu 10,0% em 12 meses; está no maior preço da série; em média, 9,2% ao ano.",
        ),
        (
            [100_000] + [90_000] * 13,
            "Tem o mesmo preço de 12 meses antes; está 10,0% abaixo do pico de outubro de 2025; "
            "em média, perde 9,3% ao ano.",
        ),
        ([100_000, 99_000, 98_000], "Está 2,0% abaixo do pico de setembro de 2026."),
        ([100_000, 98_000], ""),
    ],
)
def test_sentence_says_what_the_chart_shows(values: list[int], sentence: str) -> None:
    months = rising_to(2026, *values)
    assert view_of(fipe_entry(historicoPreco=months, valorAtual=values[-1])).sentence == sentence


def test_sentence_and_doubt_do_not_contradict_each_other() -> None:
    months = rising_to(2026, *[80_000] * 13, 93_400)
    text = shown(historicoPreco=months, valorAtual="76000")
    assert "19% abaixo do último mês do histórico" in text
    assert "maior preço da série" not in text


def test_fewer_than_three_points_are_a_sentence() -> None:
    two = view_of(fipe_entry(historicoPreco=rising_to(2026, 90_000, 89_000)))
    assert two.chart is None and two.ranges == ()
    assert two.instead == (
        "A fonte traz só dois meses desta versão, pouco para um gráfico: outubro de 2026, "
        "R$\u00a090.000 e novembro de 2026, R$\u00a089.000."
    )
    assert view_of(fipe_entry(historicoPreco=[])).instead.startswith("A fonte não traz")
    assert view_of(fipe_entry(historicoPreco=rising_to(2026, 3, 2, 1))).chart is not None


def test_ranges_are_shorter_than_the_series() -> None:
    def offered(months: int) -> list[str]:
        entry = fipe_entry(historicoPreco=rising_to(2026, *range(90_000, 90_000 + months)))
        return [one.label.replace("\u00a0", " ") for one in view_of(entry).ranges]

    assert offered(13) == []
    assert offered(14) == ["1 ano", "Tudo"]
    assert offered(121) == ["1 ano", "3 anos", "5 anos", "Tudo"]
    assert offered(122) == ["1 ano", "3 anos", "5 anos", "10 anos", "Tudo"]


def test_chosen_version_has_its_own_price_and_chart() -> None:
    entries = [fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")]
    view = view_of(*entries, query=(("versao", "2"), ("completo", "1")))
    assert view.headline == "R$\u00a095.000"
    assert view.chart is not None and view.chart.chosen.number == 2
    assert [choice.is_chosen for _, choice in view.rows] == [False, True]
    assert [choice.url for _, choice in view.rows] == [
        "?completo=1#fipe",
        "?completo=1&versao=2#fipe",
    ]
    assert view_of(*entries).headline == "R$\u00a089.325 a R$\u00a095.000"


@pytest.mark.parametrize("text", ["0", "3", "-1", "x", "²", "999999999999", ""])
def test_choice_that_is_not_offered_counts_as_none(text: str) -> None:
    entries = [fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")]
    view = view_of(*entries, query=(("versao", text), ("anos", text if text != "3" else "7")))
    assert view.tab.number == 1
    assert not view.ranges or view.ranges[-1].is_chosen


def test_links_keep_other_plain_parameters() -> None:
    sent = [("ordem", "valor"), ("busca", "a&b=c"), ("x" * 21, "1"), ("É", "1"), ("A", "1")]
    query = kept_query([*sent, ("anos", "3")])
    assert query == (("ordem", "valor"), ("busca", "a&b=c"), ("anos", "3"))
    assert kept_query([("busca", " a\u200b\n\x00b")]) == (("busca", " ab"),)
    assert kept_query([("busca", "y" * 5000)]) == (("busca", "y" * 64),)
    assert len(kept_query([("marcada", str(number)) for number in range(1, 999)])) == 320
    assert changed(query, anos="", versao="2") == "?ordem=valor&busca=a%26b%3Dc&versao=2"
    assert changed((), anos="") == ""


def test_version_with_other_engine_is_marked_as_different() -> None:
    body = decode_body(
        str(PLATE), informacoesFipe=[fipe_entry(), fipe_entry(versao="1.4 TFSI", ano="2009")]
    )
    view = PriceView(prices_of(read_decode(result_of(body), marker=HIDDEN), CONTEXT.today), ())
    assert [bool(tab.other) for tab, _ in view.rows] == [False, True]
    assert view.rows[1][0].match.startswith("difere: ano-modelo 2009")


def test_entry_of_another_vehicle_is_named_but_is_no_price() -> None:
    argo = fipe_entry(marca="Fiat", modelo="ARGO", versao="1.0 6V FLEX", valorAtual="50000.00")
    found = candidates(argo)
    assert (found.best, found.price_summary, found.twelve_months) == (None, None, "")
    assert found.no_price == "a tabela trouxe outro veículo: Fiat ARGO"
    # An entry of the vehicle's own make without a model is named by its version.
    trim = fipe_entry(marca="AUDI", modelo="", versao="GLOBETROTTER 6X4", ano="2015")
    assert candidates(trim).no_price == (
        "a tabela trouxe outro veículo: AUDI Globetrotter 6X4 · 2015"
    )
    both = candidates(argo, fipe_entry())
    assert both.best is not None and both.best.current == Decimal("89325.00")
    assert [tab.described for tab in both.foreign] == ["Fiat ARGO"]


@pytest.mark.parametrize(
    ("year", "note"),
    [("2012", "do ano-modelo 2012"), ("32000", "de zero km"), ("Zero km", "de zero km")],
)
def test_price_of_another_year_says_so(year: str, note: str) -> None:
    summary = candidates(fipe_entry(ano=year)).price_summary
    assert summary is not None and summary.note == summary.doubt == note
    own = candidates(fipe_entry(ano="2015")).price_summary
    assert own == replace(summary, note="", doubt="")


def test_equal_entries_are_one_and_contradictions_are_said() -> None:
    history = [*price_history(12, 0, (2025, 11)), *price_history(1, 0, (2025, 12))]
    twice = candidates(fipe_entry(), fipe_entry())
    assert len(twice.all) == 1 and not twice.tabs[0].is_tied
    history[-1] = history[-1] | {"valor": "1000.00"}
    (tab,) = candidates(fipe_entry(historicoPreco=history)).tabs
    assert "mais de um preço para dez/25" in tab.contradiction


def test_price_of_another_vehicle_is_disowned_on_paper() -> None:
    """Without the word, the row reads as this vehicle's price."""
    argo = fipe_entry(marca="Fiat", modelo="ARGO", versao="1.0 6V FLEX", valorAtual="50000.00")
    (tab,) = candidates(argo).foreign
    assert " ".join(price_facts(tab)) == "Marca e modelo na tabela: Fiat ARGO."
    body = decode_body(str(PLATE), informacoesFipe=[argo])
    page = dossier_page(PLATE, panels(body), UNASKED, CONTEXT, address="https://p.example")
    text = text_of(check_html(render(page)))
    assert "1.0 6V Flex · 2015, outro veículo" in text
    assert "A tabela trouxe outro veículo: este não é o preço do veículo deste dossiê." in text


def test_doubt_about_the_price_precedes_it_on_the_page() -> None:
    body = decode_body(str(PLATE), informacoesFipe=[fipe_entry(ano="2012", valorAtual="50000")])
    text = text_of(check_html(render(vehicle_page(PLATE, panels(decode=body), UNASKED, CONTEXT))))
    section = text[text.index("O que é FIPE?") :]
    price = section.index("R$ 50.000")
    assert section.index("Preço de outro ano-modelo") < price
    assert section.index("O preço atual e o histórico não combinam") < price


def test_month_of_the_future_is_a_prediction() -> None:
    (tab,) = candidates(fipe_entry(historicoPreco=price_history(40, 0, (2026, 1)))).tabs
    assert tab.series.last_real is not None
    assert tab.series.last_real.month == date(2026, 11, 1)
    assert tab.series.peak is not None and tab.series.peak.month <= date(2026, 11, 1)


def compared(text: str, *entries: Any, **choices: str) -> str:
    query = (("pedido", text), *choices.items())
    return view_of(*(entries or (fipe_entry(),)), query=query).verdict


def test_asking_price_is_compared_with_table_and_history() -> None:
    current = only().current
    assert current is not None
    assert compared(str(current).replace(".", ",")) == "É o preço da FIPE."
    assert compared("91.500") == "2,4% acima da FIPE; preço de mai/26."
    assert compared("500.000").endswith("% acima da FIPE; nenhum mês teve preço tão alto.")
    assert compared("40.000").endswith(". Pergunte por quê antes de pagar qualquer valor.")
    assert compared("") == compared("0") == ""


def test_loss_of_the_past_year_is_told_by_month() -> None:
    """A percentage needs thought; reais a month do not. It is what happened, not a forecast."""
    series = only().series
    assert series.monthly_change is not None and series.monthly_change < 0
    points = {point.month: point.value for point in series.real}
    last = max(points)
    fall = points[last.replace(year=last.year - 1)] - points[last]
    assert series.monthly_change == -fall / 12
    amount = monthly_amount(series.monthly_change)
    assert monthly_words(series.monthly_change) == f"perdeu {amount}"
    fell = fipe_entry(historicoPreco=rising_to(2026, *[90_000] * 12, 84_000), valorAtual=84_000)
    alone = panels(decode=decode_body("ABC1D23", informacoesFipe=[fell]))
    assert "perdeu R$\u00a0500 por mês" in render(vehicle_page(PLATE, alone, UNASKED, CONTEXT))
    asked = view_of(fipe_entry(), query=(("pedido", "95.000"),))
    assert "meses da perda do último ano" in asked.loss
    assert view_of(fipe_entry(), query=(("pedido", "80.000"),)).loss == ""


@pytest.mark.parametrize("change", [None, Decimal(0), Decimal("0.4")])
def test_price_that_stood_still_has_no_loss(change: Decimal | None) -> None:
    assert monthly_words(change) == monthly_amount(change) == ""
    assert months_of_loss(Decimal(5000), change) == ""


def test_asking_price_that_is_no_amount_is_kept_and_explained() -> None:
    view = view_of(fipe_entry(), query=(("pedido", "noventa"),))
    assert (view.typed, view.is_mistyped, view.verdict) == ("noventa", True, NOT_MONEY)


def test_asking_price_without_a_sure_price_is_not_compared() -> None:
    assert compared("90.000", fipe_entry(valorAtual="")) == (
        "Esta versão não tem preço na fonte para comparar."
    )
    in_doubt = "Sem comparação: o preço da tabela está em dúvida."
    assert compared("90.000", fipe_entry(ano="2012")) == in_doubt
    assert "da FIPE desta versão" in compared("90.000", fipe_entry(ano="2012"), versao="1")


def test_asking_price_crosses_the_chart_if_it_fits() -> None:
    def height(text: str) -> float | None:
        chart = view_of(fipe_entry(), query=(("pedido", text),)).chart
        assert chart is not None
        return chart.asking.dot_y if chart.asking else None

    high, low = height("94.000"), height("80.000")
    assert high is not None and low is not None and high < low
    assert height("") is height("5") is height("9.000.000") is None


def test_versions_are_told_apart_on_their_lines() -> None:
    versions = ("1.0 MI TOTAL FLEX 8V", "1.0 FLEX 12V", "TRENDLINE 1.0 T.FLEX 12V")
    entries = [
        fipe_entry(versao=name, fipeId=str(number), historicoPreco=price_history(12, 0, (2025, 12)))
        for number, name in enumerate(versions)
    ]
    shown = view_of(*entries, query=(("versao", "1"),))
    assert shown.chart is not None and len(shown.chart.ends) == 2
    assert {end.name for end in shown.chart.ends} <= {"Total", "Flex 12V", "Trendline"}
    assert {row[0].label.split(" · ")[0] for row in shown.rows} == {
        "1.0 MI Total Flex 8V",
        "1.0 Flex 12V",
        "Trendline 1.0 T.Flex 12V",
    }


def test_entry_of_another_vehicle_agrees_with_nothing_in_the_json() -> None:
    """A name in common is no agreement where the model is another one."""
    mille = fipe_entry(marca="Fiat", modelo="UNO", versao="MILLE 1.0 FIRE", ano="2015")
    body = decode_body(str(PLATE), marca="FIAT", descricao="FIAT/UNO 1.4", informacoesFipe=[mille])
    (price,) = explained(CONTEXT.dossier(PLATE, panels(body)), NOW)["prices"]
    assert price["confidence"] == "other_vehicle"
    assert price["reason"] == "Este preço é de outro veículo: Fiat UNO."
