"""The search page: cost before the click, recent lookups, the demonstration's plates."""

import re
from decimal import Decimal

import pytest

from portal.desk.lookups import LookupCost
from portal.phrasebook.failures import back_at_midnight
from portal.presentation.site.search_page import SearchPage
from tests.conftest import PortalFactory
from tests.factories import decode_body
from tests.fakes import FaultUpstream, faults
from tests.presentation.rendering import render
from tests.web.html_checker import check_html, text_of
from tests.web.page_client import PageClient
from tests.web.signed_in import visitor

PRICES = {"PRICE_DECODE": "1.20", "PRICE_RENAINF": "0.75", "PRICE_RENAJUD": "0.50"}


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (LookupCost(Decimal(0), None, 60), ""),
        (
            LookupCost(Decimal("2.45"), None, 60),
            "Até R$ 2,45 por placa. O que já está guardado não custa nada.",
        ),
        (
            LookupCost(Decimal("2.45"), 12, 60),
            "Até R$ 2,45 por placa · dá para 12 placas hoje. "
            "O que já está guardado não custa nada.",
        ),
        (
            LookupCost(Decimal(0), 1, 60),
            "Dá para 1 placa hoje. O que já está guardado não custa nada.",
        ),
        (
            LookupCost(Decimal("2.45"), 0, 14_597),
            "O limite de hoje acabou. Volta à 0h (em 4 h). As placas já consultadas continuam "
            "abertas.",
        ),
        (
            LookupCost(Decimal("1.35"), 7, 60, 86_400),
            "Até R$ 1,35 por placa · dá para 7 placas neste mês. "
            "O que já está guardado não custa nada.",
        ),
    ],
)
def test_cost_is_told_in_a_sentence(cost: LookupCost, text: str) -> None:
    tree = check_html(render(SearchPage(cost=cost)))
    shown = [text_of(each) for each in tree.iterfind(".//*[@class='search-plate__cost']")]
    assert shown == ([text] if text else [])


@pytest.mark.parametrize(
    ("seconds", "span"),
    [(86_400, "24\u00a0h"), (5_300, "1\u00a0h"), (3_540, "59\u00a0min"), (20, "1\u00a0min")],
)
def test_return_of_the_limit_is_rounded(seconds: float, span: str) -> None:
    assert back_at_midnight(seconds) == f"Volta à 0h (em {span})."


def test_cost_and_rest_of_the_day_follow_settings_and_calls(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    pages = visitor(portal(DAILY_CALL_LIMIT="12", **PRICES))
    assert "Até R$ 2,45 por placa · dá para 4 placas hoje." in pages.get("/").text
    pages.get("/placa/ABC1D23?completo=1")
    assert "dá para 3 placas hoje" in pages.get("/").text
    assert upstream.count() == 3


def test_money_of_the_month_bounds_the_plates_of_the_day(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    """A plate costs R$ 2.45: the day's calls are enough for four, the budget for two."""
    budget = {"DAILY_CALL_LIMIT": "12", "MONTHLY_BUDGET": "6", "PRICE_REPORT": "17"}
    pages = visitor(portal(**budget, **PRICES))
    assert "dá para 2 placas neste mês." in pages.get("/").text
    for plate in ("ABC1D23", "LMP0A01"):
        pages.get(f"/placa/{plate}?completo=1")
    assert upstream.count() == 6
    assert "O orçamento do mês não paga mais uma placa inteira. Volta em 01/" in pages.get("/").text


def test_free_and_unlimited_lookups_mention_no_cost(portal: PortalFactory) -> None:
    free = dict.fromkeys(("PRICE_DECODE", "PRICE_RENAINF", "PRICE_RENAJUD"), "0")
    for pages in (visitor(portal(**free)), PageClient(portal({}).client)):
        assert not pages.get("/").all("p", class_="search-plate__cost")


def test_spent_daily_limit_says_when_it_returns_and_offers_no_retry(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    pages = visitor(portal(DAILY_CALL_LIMIT="3", **PRICES))
    pages.get("/placa/ABC1D23?completo=1")
    assert "O limite de hoje acabou. Volta à 0h (em" in pages.get("/").text
    page = pages.get("/placa/KZZ9999?completo=1")
    assert "limite diário de consultas deste portal foi atingido. Volta à 0h (em" in page.text
    assert not [link for link in page.all("a") if "Tentar de novo" in text_of(link)]
    assert upstream.count() == 3


def test_recent_lookups_show_car_verdict_and_price_without_a_call(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/decode", faults.answer("given", decode_body("ABC1D23")))
    buyer.get("/placa/ABC1D23?completo=1")
    buyer.get("/placa/KZZ9999")  # without its panels the page stores no answer
    before = upstream.count()
    page = buyer.get("/")
    rows = [text_of(row) for row in page.all("li", class_="lookup-row")]
    assert "Placa KZZ-9999 Sem resposta guardada" in rows[0]
    assert "Audi A3" in rows[1] and "R$ 89.325" in rows[1] and "agora" in rows[1]
    assert upstream.count() == before


def test_demonstration_shows_six_plates_with_their_verdicts(portal: PortalFactory) -> None:
    page = PageClient(portal({}).client).get("/")
    rows = [text_of(row) for row in page.all("li", class_="lookup-row")]
    assert len(rows) == 6
    assert "Não transfere" in rows[0]
    assert "Só após pagar as multas" in rows[1]
    assert "Nada encontrado em multas e Justiça" in rows[2]
    assert "A fonte não respondeu" in rows[5]
    assert page.all("a", href="/api/ensaio")


def test_sign_in_names_its_purpose(portal: PortalFactory) -> None:
    pages = PageClient(portal().client)
    for path, title in (
        ("/placa/ABC1234", "Entre para consultar ABC-1234"),
        ("/placa/ABC1D23/dossie?x=1", "Entre para consultar ABC1D23"),
        ("/renavam/12345678910", "Entre para consultar 12345678910"),
        ("/comparar?placas=ABC1D23,KZZ9999", "Entre para comparar ABC1D23 e KZZ-9999"),
        ("/comparar", "Entre para consultar veículos"),
        ("/placa/%3Cb%3E", "Entre para consultar veículos"),
        ("/", "Entre para consultar veículos"),
    ):
        assert pages.get("/entrar", query_string={"next": path}).h1 == title


def test_sample_of_an_answer_is_what_the_demonstration_answers(portal: PortalFactory) -> None:
    pages = PageClient(portal({}).client)
    samples = pages.get("/").all("div", class_="sample__answer")
    assert len(samples) == 3
    for sample in samples:
        plate = text_of(next(one for one in sample.iter() if one.get("class") == "plate__text"))
        answer = text_of(pages.get(f"/placa/{plate}?completo=1").by_id("resumo"))
        (acts,) = [one for one in sample.iter() if one.get("class") == "sample__acts"]
        said = {" ".join(piece.split()) for piece in sample.itertext()}
        drawn = {" ".join(piece.split()) for piece in acts.itertext()}
        assert {piece for piece in said - drawn if piece not in answer} == set()
    # Its acts and its line are those of the list.
    listed = pages.get("/historico").all("tr")
    rows = {str(one.get("id")).removeprefix("veiculo-"): one for one in listed if one.get("id")}
    for sample in samples:
        plate = text_of(next(one for one in sample.iter() if one.get("class") == "plate__text"))
        parts = {str(one.get("class")): one for one in (*sample.iter(), *rows[plate].iter())}
        named = text_of(parts["sample__acts"]).replace("Pátio", "Recolher ao pátio")
        assert re.sub(r"\W", "", named) == re.sub(r"\W", "", text_of(parts["vehicles__acts"]))
        drawn_lines = [
            [path.get("d") for path in parts[name].iter() if path.tag.endswith("path")][-1]
            for name in ("sample__prices", "sparkline")
        ]
        assert drawn_lines[0] == drawn_lines[1]


def test_stranger_of_a_closed_portal_sees_a_sample_and_whom_to_ask(portal: PortalFactory) -> None:
    closed = portal(ISSUER_NAME="Loja Central", ISSUER_CONTACT="(31) 3333-0000")
    page = PageClient(closed.client).get("/")
    assert "para ter acesso, fale com Loja Central, (31) 3333-0000." in page.text
    assert "Não: IPVA" in text_of(page.by_id("exemplo"))
    wall = PageClient(closed.client).get("/entrar?next=/placa/ABC1D23")
    assert "Fale com Loja Central, (31) 3333-0000." in wall.text
    assert wall.by_id("exemplo") is not None and wall.all("a", href="/verificar")
    assert "Peça a quem opera este portal." in PageClient(portal().client).get("/entrar").text
    assert "É preciso entrar" not in visitor(closed).get("/").text


def test_recent_lookups_take_the_place_of_the_sample(portal: PortalFactory) -> None:
    pages = PageClient(portal({}).client)
    assert pages.get("/").all("details", open="")
    pages.get("/placa/ABC1D23?completo=1")
    page = pages.get("/")
    assert not page.all("fieldset", id="exemplo")
    assert not page.all("details", open="")
