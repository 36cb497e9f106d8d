"""The operator's page: sums, states, limits, and tokens that need attention."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from portal.gateway import CallsToday, Usage
from portal.presentation.operations.page import (
    MOST_CALLERS,
    chosen_period,
    operations_page,
)
from tests.presentation.operations import FACTS, IDLE, TODAY
from tests.presentation.rendering import render, site
from tests.web.html_checker import HTML, check_html, text_of

PAGE = operations_page(FACTS)


def test_figures_sum_the_period_and_today() -> None:
    values = {figure.label: figure.value for figure in PAGE.figures}
    assert values == {
        "Gasto em 30 dias": "R$\u00a04,45",
        "Gasto hoje": "R$\u00a04,45",
        "Respondido sem pagar": "74%",  # 14 of 19 lookups
        "Economizado": "R$\u00a05,80",
    }


def test_rows_merge_calls_and_answers_without_a_call() -> None:
    assert [row.label for row in PAGE.days] == ["20/11/2026", "19/11/2026"]
    ana = next(row for row in PAGE.callers if row.label == "ana")
    assert ana.lookups == 10
    assert ana.usage == Usage(3, Decimal("2.55"), 5, 1, 1, Decimal("5.10"))
    rows = map(text_of, check_html(render(PAGE)).iter(f"{HTML}tr"))
    assert "ana 10 3 5 1 1 R$ 2,55 R$ 5,10" in rows
    assert [row.label for row in PAGE.callers] == ["ana", "robô <1>", "versões anteriores"]


def test_callers_beyond_the_limit_share_a_row() -> None:
    many = {f"t{n:02}": Usage(1, Decimal(n)) for n in range(MOST_CALLERS + 5)}
    rows = operations_page(replace(FACTS, by_caller=many)).callers
    assert len(rows) == MOST_CALLERS + 1
    assert rows[-1].label == "outros 5"
    assert rows[-1].usage == Usage(5, Decimal(10))


def test_breaker_states_have_a_shape_and_words() -> None:
    told = {row.name: (row.icon, row.state) for row in PAGE.addresses}
    assert told == {
        "Principal": ("cross", "aberto, testa às 21:15:04"),
        "Alternativo": ("clock", "em pausa até 21:15:30, a pedido da fonte"),
        "third": ("clock", "meio aberto, testa na próxima consulta"),
        "former": ("question", "sem disjuntor"),
    }


def test_failures_name_kind_status_and_charge() -> None:
    told = [(row.kind, row.origin, row.calls, row.charge) for row in PAGE.failures]
    assert told == [
        ("Erro da fonte (503)", "Principal", "4", "talvez"),
        ("A fonte pediu pausa (429)", "Alternativo", "1", "talvez"),
        ("Não foi possível enviar", "Principal", "2", "não"),
    ]


@pytest.mark.parametrize(
    ("used", "most", "left"),
    [
        (5, 120, "restam 115"),
        (119, 120, "resta 1"),
        (121, 120, "esgotado até a meia-noite"),
        (5, 0, ""),
    ],
)
def test_limit_says_what_is_left(used: int, most: int, left: str) -> None:
    facts = replace(FACTS, calls_today=CallsToday(used, {}), daily_limit=most)
    assert operations_page(facts).limit.left == left


def test_tokens_show_use_and_what_needs_attention() -> None:
    told = {token.name: token for token in PAGE.tokens}
    assert set(told) == {"ana", "soon", "used"}
    assert (told["used"].today, told["used"].limit_is_used) == ("40 de 40", True)
    assert (told["soon"].today, told["soon"].limit_is_used) == ("0 de 5", False)
    assert [name for name, token in told.items() if token.ends_soon] == ["soon"]
    assert told["soon"].scopes == "dados, multas e operação"
    assert [(token.name, token.revoke_path) for token in PAGE.ended_tokens] == [
        ("revoked", ""),
        ("ended", ""),
    ]


def test_sizes_are_in_decimal_units() -> None:
    assert PAGE.store == "1.234 entradas, 5,7\u00a0MB"
    assert PAGE.database == "4,1\u00a0kB"
    assert operations_page(IDLE).store == "fora do ar"


def test_charts_cover_every_day_of_the_period() -> None:
    for days in (7, 30, 90):
        chart = operations_page(replace(FACTS, days=days)).lookup_chart
        assert chart is not None
        assert len(chart.bars) == days
        assert chart.bars[-1].text.startswith("hoje: 5 chamadas, 5 de resposta guardada")
        assert chart.bars[0].text.startswith(
            f"{TODAY - timedelta(days=days - 1):%d/%m}: 0 chamadas"
        )


def test_charts_have_their_numbers_in_a_table() -> None:
    tree = check_html(render(PAGE, site(demo=False, signed_in="ana", is_operator=True)))
    captions = [text_of(one) for one in tree.iter(f"{HTML}caption")]
    assert "Pedidos, gasto e economia por dia" in captions
    assert PAGE.lookup_chart is not None
    rows = next(table for table in tree.iter(f"{HTML}table")).findall(f"{HTML}tbody/{HTML}tr")
    assert len(rows) == 2
    assert [text_of(cell) for cell in rows[0]][:3] == ["20/11/2026", "12", "5"]


def test_page_without_prices_says_so_and_draws_no_money() -> None:
    page = operations_page(IDLE)
    assert page.money_chart is None
    assert page.lookup_chart is None
    assert "PORTAL_PRICE_" in render(page)


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
    facts = replace(FACTS, by_caller={"settings:2": Usage(1, Decimal(1))})
    assert [row.label for row in operations_page(facts).callers] == ["token 2 da configuração"]
