"""The operator's page: sums, states, limits, and tokens that need attention."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import get_args
from xml.etree.ElementTree import Element

import pytest

from portal.access.tokens import TokenOverview
from portal.batch.model import Reason
from portal.gateway.backend import StoreSize
from portal.gateway.limits import Limit, Period, Scope, Strain, StrainedLimit, Use
from portal.gateway.usage import CallFailures, CallsToday, Usage
from portal.presentation.operations.page import (
    MOST_NAMED,
    MOST_TOKENS,
    OperationsPage,
    chosen_period,
)
from tests.presentation.operations import (
    ANA,
    AT,
    FACTS,
    FORMER,
    IDLE,
    TODAY,
    Breaker,
    batch_under_way,
    token,
)
from tests.presentation.rendering import render, site
from tests.web.html_checker import HTML, check_html, text_of

DAYS = "Pedidos, gasto e economia por dia"
CALLERS = "Pedidos, gasto e economia por token neste mês"
OPERATIONS = "Pedidos, gasto e economia por consulta nos últimos 30 dias"
ORIGINS = "Disjuntor, chamadas e falhas de hoje por endereço"
FAILURES = "Falhas das chamadas por tipo e endereço, a mais recente primeiro"
BATCHES = "Lotes em andamento ou pausados"
VALID, ENDED = "Tokens válidos", "Tokens revogados e vencidos"


def tree_of(page: OperationsPage) -> Element:
    return check_html(render(page, site(demo=False, signed_in="ana", is_operator=True)))


def rows(page: OperationsPage, caption: str) -> list[Sequence[str]]:
    """The texts of a table's cells, without the head."""
    for table in tree_of(page).iter(f"{HTML}table"):
        if text_of(next(table.iter(f"{HTML}caption"))) == caption:
            body = table.findall(f"{HTML}tbody/{HTML}tr")
            return [[text_of(cell) for cell in row] for row in body]
    return []


def first_cells(page: OperationsPage, caption: str) -> list[str]:
    return [row[0] for row in rows(page, caption)]


def values(page: OperationsPage) -> dict[str, str]:
    return {text_of(each[0]): text_of(each[1]) for each in tree_of(page).iterfind(f".//{HTML}dl/*")}


def test_figures_sum_the_period_and_today() -> None:
    shown = values(FACTS)
    assert shown["Gasto em 30 dias"] == "R$ 4,45 5 chamadas à fonte"
    assert shown["Gasto hoje"] == "R$ 4,45 5 chamadas à fonte"
    assert shown["Respondido sem pagar"] == "74% 14 de 19 pedidos; R$ 5,80 economizados"
    assert values(IDLE)["Respondido sem pagar"].startswith("– 0 de 0 pedidos; ")


def test_month_is_projected_from_its_second_day() -> None:
    """The month counts whole, however short the period is."""
    page = replace(FACTS, days=7, by_day={(date(2026, 11, 2), "decode"): ANA}, by_caller={})
    noon = datetime(2026, 11, 20, 15, tzinfo=UTC)  # 19.5 days of November are over
    shown = values(replace(page, now=noon))
    assert shown["Gasto no mês"] == "R$ 2,55 neste ritmo, R$ 3,92 até 30/11"
    assert shown["Gasto em 7 dias"].startswith("R$ 0,00")
    first = datetime(2026, 11, 2, 2, 59, tzinfo=UTC)  # still the 1st in São Paulo
    assert values(replace(page, now=first))["Gasto no mês"] == "R$ 2,55 3 chamadas"


def test_what_needs_a_hand_comes_first() -> None:
    tree = tree_of(replace(FACTS, failures=(CallFailures("answered", 402, "primary", 3, AT - 60),)))
    (needs,) = [one for one in tree.iter(f"{HTML}ul") if one.get("class") == "op-needs"]
    texts = [text_of(line) for line in needs]
    assert texts[0].startswith("Principal não responde: aberto, testa às ")
    assert texts[1].startswith("A fonte exige pagamento ou saldo (402), em ")
    assert texts[2:] == [
        "O token used usou as 40 chamadas de hoje",
        "O token soon vence em 20/11/2026",
        "Lote parado: O limite diário de consultas deste portal foi atingido",
    ]
    (stopped,) = [one for one in needs.iter(f"{HTML}a") if "Lote parado" in text_of(one)]
    assert stopped.get("href") == "#lotes" and 'id="lotes"' in render(FACTS)
    assert "Precisa de você Nada agora." in text_of(tree_of(IDLE))


@pytest.mark.parametrize(
    ("period", "most", "used", "strain", "token", "words"),
    [
        ("day", "120", "120", "spent", "", "O limite do dia do portal foi usado"),
        ("day", "120", "119", "near", "", "1 chamada resta no limite do dia do portal, de 120"),
        (
            *("day", "50", "41", "near", "ana"),
            "9 chamadas restam no limite do dia do token ana, de 50",
        ),
        ("month", "9.5", "9.51", "spent", "", "O orçamento do mês do portal acabou: R$ 9,50"),
        (
            *("month", "9.5", "9.43", "refusing", ""),
            "Do orçamento do mês do portal, de R$ 9,50, restam R$ 0,07: já não paga toda consulta",
        ),
        (
            *("month", "60", "48", "near", "ana"),
            "Do orçamento do mês do token ana, de R$ 60,00, restam R$ 12,00",
        ),
        ("day", "9", "9", "spent", "person:bia", "O limite do dia da pessoa bia foi usado"),
        (
            *("month", "60", "60", "spent", "person:bia"),
            "O orçamento do mês da pessoa bia acabou: R$ 60,00",
        ),
    ],
)
def test_limit_of_which_little_is_left_needs_a_hand(
    period: Period, most: str, used: str, strain: Strain, token: str, words: str
) -> None:
    scope: Scope = "portal" if not token else "person" if ":" in token else "token"
    use = Use(Limit(scope, "x", period, Decimal(most)), Decimal(used), None)
    strained = StrainedLimit(use, strain, token.rpartition(":")[2])
    tree = tree_of(replace(IDLE, strained=[strained]))
    (needs,) = [one for one in tree.iter(f"{HTML}ul") if one.get("class") == "op-needs"]
    assert [text_of(line) for line in needs] == [words]


def messages_of(page: OperationsPage) -> str:
    (section,) = [
        each
        for each in tree_of(page).iter(f"{HTML}section")
        if each.get("aria-labelledby") == "avisos"
    ]
    return text_of(section)


def test_messages_say_what_is_told_to_whom_as_the_mail_does() -> None:
    """A budget that refuses a call is not said to be spent."""
    spent = {"token": "ana", "budget": 9.5, "used": 9.43, "ends_on": "2026-11-30"}
    further = replace(FACTS.deliveries[0], type="budget.spent", data=spent)
    text = messages_of(replace(FACTS, deliveries=(*FACTS.deliveries, further)))
    for words in (
        "80% do orçamento do mês do acesso ana, por e-mail ao operador, ",
        "Teste de aviso, por webhook ao operador, ",
        "O acesso ana vence em breve, por webhook ao dono, ",
        "Um lote terminou, por webhook ao dono, ",
        "O orçamento do mês do acesso ana não basta mais, por e-mail ao operador, ",
    ):
        assert words in text


@pytest.mark.parametrize("gets_messages", [True, False])
def test_settings_are_asked_for_only_where_they_are_missing(gets_messages: bool) -> None:
    page = replace(FACTS, gets_messages=gets_messages)
    assert ("Configure SMTP_URL" in messages_of(page)) is not gets_messages
    silent = messages_of(replace(page, deliveries=()))
    assert "Nenhum aviso enviado." in silent
    assert ("Configure SMTP_URL" in silent) is not gets_messages


def test_rows_merge_calls_and_answers_without_a_call() -> None:
    assert rows(FACTS, DAYS) == [
        ["20/11/2026", "12", "5", "5", "1", "1", "R$ 4,45", "R$ 5,10"],
        ["19/11/2026", "7", "0", "7", "0", "0", "R$ 0,00", "R$ 0,70"],
    ]
    assert rows(FACTS, CALLERS)[0] == ["ana", "10", "3", "5", "1", "1", "R$ 2,55", "R$ 5,10"]
    assert first_cells(FACTS, CALLERS) == ["ana", "robô <1>", "versões anteriores"]
    assert first_cells(FACTS, OPERATIONS) == ["Dados e FIPE", "Multas", "Restrições judiciais"]


def test_further_callers_share_a_row() -> None:
    shown = rows(replace(FACTS, by_caller={"ana": ANA}), CALLERS)
    assert [row[0] for row in shown] == ["ana", "os outros"]
    assert shown[-1] == ["os outros", "9", "2", "7", "0", "0", "R$ 1,90", "R$ 0,70"]


def test_many_tokens_are_named_in_parts() -> None:
    """A list that is cut off says so."""
    many = [token(f"t{number:03}", expires_at=AT + 60) for number in range(MOST_TOKENS + 1)]
    used = [token(f"u{number:03}", daily_limit=1) for number in range(MOST_NAMED + 1)]
    page = replace(
        FACTS,
        deliveries=(),
        tokens=TokenOverview(many, (), used, many[: MOST_NAMED + 1]),
        calls_today=CallsToday(9, {each.name: 1 for each in used}),
    )
    assert len(rows(page, VALID)) == MOST_TOKENS
    html = render(page)
    assert f"depois=t{MOST_TOKENS - 1:03}#tokens" in html
    assert html.count(" usou as 1 chamadas de hoje") == html.count(" vence em ") == MOST_NAMED
    assert "Outros tokens também usaram" in html
    assert "Outros tokens também vencem" in html
    assert "depois=" not in render(FACTS)


def test_breaker_states_have_a_shape_and_words() -> None:
    page = replace(FACTS, breakers=(*FACTS.breakers, Breaker("fourth", "closed", 0.0)))
    shown = {name: state for name, state, *_ in rows(page, ORIGINS)}
    assert shown == {
        "Principal": "aberto, testa às 21:15:04",
        "Alternativo": "em pausa até 21:15:30, a pedido da fonte",
        "third": "meio aberto, testa na próxima consulta",
        "former": "sem disjuntor",
        "fourth": "fechado, atende",
    }
    shapes = re.findall(
        r'data-label="Disjuntor"><span class="([^"]*)"><svg class="([^"]*)"', render(page)
    )
    assert shapes == [
        ("op-table__sign", "icon icon--question"),
        ("op-table__sign", "icon icon--check"),
        ("op-table__sign tone-danger", "icon icon--cross"),
        ("op-table__sign tone-warn", "icon icon--clock"),
        ("op-table__sign tone-warn", "icon icon--clock"),
    ]


def test_failures_name_kind_status_and_charge() -> None:
    assert [row[:4] for row in rows(FACTS, FAILURES)] == [
        ["Erro da fonte (503)", "Principal", "4", "a fatura dirá"],
        ["A fonte pediu pausa (429)", "Alternativo", "1", "a fatura dirá"],
        ["Não foi possível enviar", "Principal", "2", "não"],
    ]


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_pause_has_words(reason: Reason) -> None:
    under_way = batch_under_way("paused", reason, AT - 60, "3.60", 40, 12)
    ((_, state, ended, at_most),) = rows(replace(FACTS, batches=(under_way,)), BATCHES)
    assert state
    assert (ended, at_most) == ("12 de 40", "R$ 3,60")


@pytest.mark.parametrize(
    ("used", "most", "shown"),
    [
        (5, 120, "5 de 120 chamadas hoje: restam 115."),
        (119, 120, "119 de 120 chamadas hoje: resta 1."),
        (121, 120, "121 de 120 chamadas hoje: esgotado até a meia-noite."),
        (5, 0, "5 chamadas hoje; sem limite diário."),
    ],
)
def test_limit_says_what_is_left(used: int, most: int, shown: str) -> None:
    page = replace(FACTS, calls_today=CallsToday(used, {}), daily_limit=most)
    assert f"Limite do dia {shown}" in text_of(tree_of(page))


def test_tokens_show_use_and_what_needs_attention() -> None:
    assert rows(FACTS, VALID) == [
        ["ana", "dados e multas", "3", "não vence", "Mudar o token ana Revogar o token ana"],
        [
            *("soon", "dados, multas e operação", "0 de 5", "vence em 20/11/2026"),
            "Mudar o token soon Revogar o token soon",
        ],
        [
            *("used", "dados e multas", "limite usado: 40 de 40", "vence em 20/12/2026"),
            "Mudar o token used Revogar o token used",
        ],
    ]
    html = render(FACTS).partition('id="tokens"')[2]
    assert re.findall(r'icon--clock"[^\n]*?(vence[^<]*)<', html) == ["vence em 20/11/2026"]
    assert html.count("Revogar<") == 3
    assert rows(FACTS, ENDED) == [
        ["revoked", "dados e multas", "0", "revogado em 20/11/2026", ""],
        ["ended", "dados e multas", "0", "venceu em 20/11/2026", ""],
    ]


def test_token_that_ends_later_has_no_sign() -> None:
    assert not FACTS.ends_soon(token("later", expires_at=AT + 8 * 86400))


def test_sizes_are_in_decimal_units() -> None:
    shown = values(FACTS)
    assert (shown["Respostas"], shown["Banco de dados"]) == ("1.234 entradas, 5,7 MB", "4,1 kB")
    assert values(IDLE)["Respostas"] == "fora do ar"
    many = replace(FACTS, store=StoreSize(10_001, 5_678_900))
    assert values(many)["Respostas"] == "mais de 10.000 entradas, 5,7 MB"
    assert "Banco de dados" not in values(IDLE)


@pytest.mark.parametrize(("ago", "bars"), [(0, 7), (6, 7), (20, 21)])
def test_charts_begin_with_the_first_day_that_has_data(ago: int, bars: int) -> None:
    by_day = {(TODAY, "decode"): ANA, (TODAY - timedelta(days=ago), "renajud"): FORMER}
    chart = replace(FACTS, days=30, by_day=by_day).lookup_chart
    assert chart is not None
    assert len(chart.bars) == bars
    assert chart.bars[-1][0].startswith("hoje: 3 chamadas, ")
    assert chart.bars[0][0].startswith(f"{TODAY - timedelta(days=bars - 1):%d/%m}: 0 chamadas")


def test_charts_have_their_numbers_in_a_table() -> None:
    assert FACTS.lookup_chart is not None
    assert [row[:3] for row in rows(FACTS, DAYS)] == [
        ["20/11/2026", "12", "5"],
        ["19/11/2026", "7", "0"],
    ]


def test_page_without_prices_says_so_and_draws_no_money() -> None:
    assert IDLE.money_chart is None
    assert IDLE.lookup_chart is None
    assert "PORTAL_PRICE_" in render(IDLE)


def test_unknown_period_is_the_usual_one() -> None:
    assert [chosen_period(text) for text in ("7", "90", "", "8", "x", "٧")] == [
        7,
        90,
        30,
        30,
        30,
        30,
    ]


def test_configured_tokens_are_named_in_words() -> None:
    page = replace(IDLE, by_caller={"settings:2": Usage(1, Decimal(1))})
    assert first_cells(page, CALLERS) == ["token 2 da configuração"]
