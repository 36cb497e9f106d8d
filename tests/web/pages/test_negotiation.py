"""The negotiation sheet: sources, ceiling and errors, without upstream calls."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from babel.dates import format_date
from babel.numbers import format_currency
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from portal.dossier.answers import Panels
from portal.dossier.status_style import LOOKS
from portal.presentation.typed_money import NOT_MONEY
from portal.presentation.vehicle.negotiation import COSTS
from portal.vehicle.operation_name import LookupName
from portal.wording import grouped
from tests.conftest import PortalFactory
from tests.factories import (
    HIDDEN,
    decode_body,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.fakes import FaultUpstream, faults
from tests.presentation.odd_records import JSON, odd
from tests.presentation.pages import negotiation_page
from tests.presentation.rendering import CONTEXT, DOWN, PLATE, UNASKED, answered, panels, render
from tests.web.html_checker import HTML, check_html, text_of
from tests.web.page_client import PageClient
from tests.web.person import Person

SHEET = "/placa/ABC1D23/negociacao"


FREE = panels(renajud=renajud_body())


def text(asked: dict[str, str] | None = None, around: Panels | None = None) -> str:
    html = render(negotiation_page(PLATE, around or FREE, CONTEXT, asked or {}))
    return text_of(check_html(html))


def test_lines_name_their_sources_and_add_up() -> None:
    shown = text({"parte": "80", "transferencia": "350,00", "reparos": "R$ 1.200,50"})
    assert "R$ 89.325,00" in shown
    assert "tabela FIPE, código 008190-6; consulta de 20/11/2026 às 21:12, fonte principal" in shown
    assert "1 multa em aberto, com 20% de desconto" in shown and "\u2212R$ 104,13" in shown
    assert "Renainf; consulta de 20/11/2026 às 21:12" in shown
    assert (
        "\u2212R$ 350,00" in shown
        and "\u2212R$ 1.200,50" in shown
        and "informado por você" in shown
    )
    assert "R$ 87.670,37" in shown
    assert "R$ 87.644,34" in shown and "R$ 87.696,40" in shown  # fines at 100 % and at 60 %


def test_version_defaults_to_the_likeliest_and_can_be_chosen() -> None:
    body = decode_body(
        str(PLATE),
        informacoesFipe=[fipe_entry(ano="2009", versao="OUTRA", valorAtual="50000"), fipe_entry()],
    )
    assert negotiation_page(PLATE, panels(body), CONTEXT, {}).sums.price == Decimal("89325.00")
    other = negotiation_page(PLATE, panels(body), CONTEXT, {"versao": "2"})
    assert other.sums.price == Decimal(50000)
    versions = check_html(render(other)).findall(f".//{HTML}select[@id='versao']/{HTML}option")
    assert [version.get("selected") is not None for version in versions] == [False, True]


@pytest.mark.parametrize(
    ("around", "sentence", "result"),
    [
        (
            Panels(DOWN, FREE.fines, FREE.orders),
            "Sem preço FIPE não há teto",
            "não é possível dizer",
        ),
        (
            panels(decode_body(str(PLATE), informacoesFipe=[]), renajud=renajud_body()),
            "Sem preço FIPE não há teto",
            "não é possível dizer",
        ),
        (Panels(FREE.vehicle, DOWN, FREE.orders), "Falta consultar as multas.", "sem teto"),
        (
            Panels(FREE.vehicle, FREE.fines, DOWN),
            "Falta consultar as restrições judiciais.",
            "sem teto",
        ),
    ],
)
def test_unknown_price_fines_or_orders_give_no_ceiling(
    around: Panels, sentence: str, result: str
) -> None:
    shown = text({"reparos": "100"}, around)
    assert sentence in shown
    assert result in shown
    assert "Teto sugerido" not in shown or result == "não é possível dizer"
    assert negotiation_page(PLATE, around, CONTEXT, {}).ceiling is None


def test_unavailable_restrictions_are_named_beside_the_ceiling() -> None:
    shown = text(around=Panels(panels().vehicle, panels().fines, DOWN))
    assert "Restrições judiciais: indisponíveis — não significa “nada consta”" in shown
    assert "Falta consultar" in shown


def test_fines_without_amount_make_the_ceiling_an_upper_bound() -> None:
    body = renainf_body(fine(), fine(valor="", codigoInfracao=""))
    shown = text(around=panels(renainf=body, renajud=renajud_body()))
    assert "Teto sugerido, no máximo" in shown
    assert "1 multa em aberto não tem valor informado: o que ela custar ainda sai" in shown
    two = renainf_body(*[fine(valor="", codigoInfracao="")] * 2)
    shown = text(around=panels(renainf=two, renajud=renajud_body()))
    assert "2 multas em aberto não têm valor informado: o que elas custarem ainda sai" in shown


def test_stale_answer_is_named_at_the_ceiling_and_the_verdict() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    assert "resposta guardada" not in text(around=clear)
    words_of: dict[LookupName, str] = {
        "decode": "Dados do veículo",
        "renainf": "Multas",
        "renajud": "Restrições judiciais",
    }
    for lookup, words in words_of.items():
        body = clear.of(lookup).body
        assert body is not None
        old = clear.with_answers({lookup: answered(body, "stale", age=timedelta(days=2))})
        shown = text(around=old)
        verdict, _, ceiling = shown.partition("Antes de oferecer")[2].partition("Teto sugerido")
        assert f"{words}: resposta guardada de 18/11/2026 às 21:15" in ceiling
        assert f"{words}: conforme resposta guardada de 18/11/2026 às 21:15." in verdict
        page = negotiation_page(PLATE, old, CONTEXT, {})
        assert LOOKS[page.dossier.verdict.level].tone == "warn"
        assert page.ceiling is not None


@pytest.mark.parametrize(
    "around",
    [
        Panels(DOWN, panels(renainf=renainf_body(fine(valor="", codigoInfracao=""))).fines, DOWN),
        panels(
            decode_body(str(PLATE), informacoesFipe=[fipe_entry(valorAtual="100")]),
            renainf_body(fine(), fine(valor="", codigoInfracao="")),
        ),
    ],
)
def test_sheet_without_ceiling_mentions_no_upper_bound(around: Panels) -> None:
    shown = text(around=around)
    assert "Teto" in shown
    assert "no máximo" not in shown


def test_expired_discount_is_mentioned() -> None:
    body = renainf_body(fine(dataEmissaoPenalidade="01/12/2025"))
    said = "1 multa, em regra, não tem mais desconto"
    assert said not in text({"parte": "100"}, panels(renainf=body))
    assert said in text({"parte": "60"}, panels(renainf=body))


def test_costs_above_the_price_show_the_excess() -> None:
    shown = text({"reparos": "90.000"})
    assert "As deduções passam do preço de referência" in shown
    assert "Passam em R$ 805,16" in shown
    assert "não resta valor" in shown


@pytest.mark.parametrize(
    "asked",
    [
        {"reparos": "muito"},
        {"ipva": "-1"},
        {"parte": "50"},
        {"multas": "2"},
        {"multas": "x"},
        {"multas": "1,7"},
        {"versao": "9"},
        {"versao": "x"},
    ],
)
def test_invalid_input_is_named_and_gives_no_sheet(asked: dict[str, str]) -> None:
    page = negotiation_page(PLATE, panels(), CONTEXT, {**asked, "outros": "12,30"})
    assert page.is_wrong
    html = render(page)
    shown = text_of(check_html(html))
    assert "Não foi possível calcular" in shown
    assert 'class="sheet"' not in html
    assert 'value="12,30"' in html
    assert "<title>Erro: " in html


@example(vehicle=fipe_entry(valorAtual=1, historicoPreco=price_history(3, 1)), fines=[], asked={})
@given(
    vehicle=odd(fipe_entry(historicoPreco=price_history(3, 1))) | JSON,
    fines=JSON | st.lists(JSON | odd(fine()), max_size=3),
    asked=st.dictionaries(
        st.sampled_from(["versao", "parte", "multas", *COSTS]),
        st.sampled_from(["1", "2", "60", "80", "1.234,56", "0"]) | st.text(max_size=12),
    ),
)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_odd_records_and_input_do_not_break_the_sheet(
    vehicle: Any, fines: Any, asked: dict[str, str]
) -> None:
    strange = panels(
        decode=decode_body(str(PLATE), informacoesFipe=[vehicle]),
        renainf=json.dumps({"status": "SUCCESS", "result": fines}).encode(),
    )
    page = negotiation_page(PLATE, strange, CONTEXT, asked)
    html = render(page)
    shown = text_of(check_html(html))
    assert HIDDEN not in html
    for amount in re.findall(r"-?R\$\u00a0[\d.,]+\d", html):
        bare = amount.replace("R$\u00a0", "").replace(".", "").replace(",", ".")
        form = None if "," in amount else "¤\xa0#,##0"  # FIPE prices may be in whole reais
        exact = format_currency(Decimal(bare), "BRL", form, "pt_BR", currency_digits=not form)
        assert amount == exact
        assert Decimal(bare) != 0
    # The terms below the sheet state days that the law computes.
    sums, _, terms = shown.partition("Combinar por escrito")
    assert page.is_wrong or page.terms is None or "entregue hoje, até 20/12/2026" in terms
    days = set(re.findall(r"\d\d/\d\d/\d{4}", sums))
    titles = " ".join(map(text_of, check_html(html).iterfind(f".//{HTML}fieldset/{HTML}label")))
    of_fines = set(re.findall(r"\d\d/\d\d/\d{4}", titles))
    # The source's text for a version or year is shown unchanged, and may look like a date.
    of_source = set(re.findall(r"\d\d/\d\d/\d{4}", json.dumps(vehicle)))
    today = format_date(CONTEXT.today, "dd/MM/yyyy", locale="pt_BR")
    assert days <= {today} | of_fines | of_source


def three_fines() -> Panels:
    paid = fine(pagamento=payment(dataPagamento="01/09/2025"))
    return panels(renainf=renainf_body(fine(), paid, fine(codigoInfracao="7633", valor="293.47")))


def test_costs_are_named_in_one_spelling() -> None:
    shown = text({"transferencia": "350", "reparos": "2000", "outros": "12,5"})
    assert "Transferência, pneus e reparos, outros" in shown
    for chip in ("Transferência 350", "Pneus e reparos 2.000", "Outros R$ 12,50"):
        assert chip in shown.replace("\u00a0", " "), chip


def test_chip_deducts_an_example_and_takes_it_back() -> None:
    """A chip is a link: the address has what it adds, and keeps what was chosen before."""

    def chips(query: dict[str, str]) -> dict[str, str]:
        html = render(negotiation_page(PLATE, FREE, CONTEXT, query))
        found = [one for one in check_html(html).iter(f"{HTML}a") if "data-choice" in one.attrib]
        return {
            text_of(one): str(one.get("href")) for one in found if "chip" in one.get("class", "")
        }

    asked = {"pedido": "95000", "parte": "80"}
    first = chips(asked)
    assert first and all(words.startswith("+Descontar ") for words in first), first
    for words, address in first.items():
        query = dict(parse_qsl(urlsplit(address).query))
        (added,) = query.keys() - asked.keys()
        assert asked.items() <= query.items()
        assert words.endswith(grouped(int(query[added])))
        (back,) = [url for shown, url in chips(query).items() if shown.endswith("tirar da conta")]
        assert dict(parse_qsl(urlsplit(back).query)) == asked
    before, after = (text(each) for each in (asked, {**asked, "transferencia": "350"}))
    assert "\u2212R$ 350,00" in after and "\u2212R$ 350,00" not in before


def test_versions_of_a_negotiation_have_their_names_written_out() -> None:
    shown = text()
    assert "Sedan 1.8 Ambition 16V TB FSI S-Tronic" in shown and "Ambit." not in shown


def test_selected_fines_alone_are_deducted() -> None:
    around = three_fines()
    whole = negotiation_page(PLATE, around, CONTEXT, {})
    assert whole.sums.scenario(100).fines == Decimal("423.63")
    one = negotiation_page(PLATE, around, CONTEXT, {"multas": "3"})
    assert one.sums.scenario(100).fines == Decimal("293.47")
    boxes = check_html(render(one)).findall(f".//{HTML}input[@name='multas'][@type='checkbox']")
    assert [(box.get("value"), box.get("checked") is not None) for box in boxes] == [
        ("1", False),
        ("3", True),
    ]
    shown = text({"multas": "3"}, around)
    assert "1 de 2 multas em aberto, valor cheio" in shown
    assert "1 multa em aberto ficou fora da conta (R$ 130,16)" in shown
    assert text({"multas": "0,1,3"}, around) == text({}, around)


def test_form_without_any_chosen_fine_deducts_none() -> None:
    page = negotiation_page(PLATE, three_fines(), CONTEXT, {"multas": "0"})
    assert page.sums.scenario(100).fines == 0
    assert "nenhuma escolhida" in text({"multas": "0"}, three_fines())


@pytest.mark.parametrize("typed", ["2", "4", "1,2", "-1", "1.0", "três"])
def test_paid_or_foreign_fine_is_refused(typed: str) -> None:
    page = negotiation_page(PLATE, three_fines(), CONTEXT, {"multas": typed})
    assert page.problems == ["Escolha entre as multas em aberto desta página."]


def test_repeated_parameter_of_the_form_is_one_choice(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script(
        "/detran/v1/restrictions/renainf", faults.answer("given", renainf_body(fine(), fine()))
    )
    buyer.get("/placa/ABC1D23?completo=1")
    page = buyer.get(f"{SHEET}?multas=0&multas=2")
    boxes = page.all("input", type="checkbox", name="multas")
    assert [box.get("checked") is not None for box in boxes] == [False, True]


def test_print_button_is_hidden_until_its_script_runs() -> None:
    html = render(negotiation_page(PLATE, panels(), CONTEXT, {}))
    assert re.search(r"<button [^>]*data-print hidden>", html)
    assert "Ctrl+P" not in html


@pytest.fixture
def buyer(portal: PortalFactory) -> PageClient:
    return Person.at(portal()).signed_in().pages


def test_vehicle_with_a_court_restriction_has_no_suggested_ceiling() -> None:
    shown = text(around=panels())
    assert "Teto sugerido" not in shown
    warning = shown.index("Não pague nada, nem sinal")
    assert shown.index("Não pode ser transferido agora") < warning
    assert "Só depois da baixa da restrição judicial" in shown
    assert "sem teto" in shown
    assert "O teto conforme" not in shown
    assert "R$\u00a089.194,84" not in shown
    free = text()
    assert "Teto sugerido" in free
    assert "O teto conforme" in free
    assert "Não pague nada" not in free


@pytest.mark.parametrize(
    ("around", "reason"),
    [
        (
            panels(renajud=renajud_body(restriction(restricoes="PENHORA BAIXADA"))),
            "Há restrição judicial de situação incerta: confirme com o juízo.",
        ),
        (
            panels(renajud=renajud_body(restriction(restricoes="NAO TRANSFERIR"))),
            "Só depois da baixa da restrição judicial",
        ),
        (
            panels(
                renainf=renainf_body(fine(codigoInfracao="65562", valor="293")),
                renajud=renajud_body(),
            ),
            "A identificação do veículo está em dúvida: faça a perícia antes.",
        ),
    ],
)
def test_doubt_that_no_discount_covers_leaves_no_ceiling(around: Panels, reason: str) -> None:
    page = negotiation_page(PLATE, around, CONTEXT, {})
    assert page.ceiling is None
    shown = text(around=around)
    assert reason in shown
    assert "sem teto" in shown
    assert "falta uma consulta" not in shown


def test_price_of_another_vehicle_gives_no_ceiling() -> None:
    argo = fipe_entry(marca="Fiat", modelo="ARGO", versao="1.0 6V FLEX", valorAtual="50000.00")
    body = decode_body(str(PLATE), informacoesFipe=[argo])
    shown = text(around=panels(body, renajud=renajud_body()))
    assert "a tabela trouxe outro veículo: Fiat ARGO" in shown
    assert "Sem preço FIPE não há teto" in shown


def test_price_of_another_year_is_a_reference_only_by_choice() -> None:
    body = decode_body(str(PLATE), informacoesFipe=[fipe_entry(ano="2012", valorAtual="93000")])
    around = panels(body, renajud=renajud_body())
    assert negotiation_page(PLATE, around, CONTEXT, {}).ceiling is None
    shown = text(around=around)
    assert "Preço FIPE do ano-modelo 2012: confira a versão no documento" in shown
    assert "sem teto" in shown and "R$ 93.000 do ano-modelo 2012" in shown
    assert "Escolha a versão" in shown
    chosen = negotiation_page(PLATE, around, CONTEXT, {"versao": "1"})
    assert chosen.ceiling is not None
    note = "Este preço é do ano-modelo 2012; o ano-modelo no registro é 2015."
    assert note in text({"versao": "1"}, around)
    assert note in text(around=around)


def test_price_against_its_history_is_no_reference_even_by_choice() -> None:
    body = decode_body(str(PLATE), informacoesFipe=[fipe_entry(valorAtual="893250.00")])
    around = panels(body, renajud=renajud_body())
    for query in ({}, {"versao": "1"}):
        page = negotiation_page(PLATE, around, CONTEXT, query)
        assert page.ceiling is None
        shown = text_of(check_html(render(page)))
        assert "Preço FIPE em conflito com o histórico" in shown and "sem teto" in shown
        assert "R$ 893.250,00" in shown and "O preço atual está muito acima" in shown


def test_vehicle_without_open_fines_is_asked_for_no_share() -> None:
    question = "Quanto descontar pelas multas"
    assert question in text()
    for body in (renainf_body(), renainf_body(fine(pagamento=payment(dataPagamento="02/12/2025")))):
        shown = text(around=panels(renainf=body))
        assert question not in shown
        assert "SNE" not in shown


def test_failed_lookup_is_named_as_missing(buyer: PageClient, upstream: FaultUpstream) -> None:
    upstream.script("/detran/v1/restrictions/renainf", faults.status(500))
    buyer.get("/placa/ABC1D23?completo=1")
    page = buyer.get(SHEET)
    assert "Sem resposta guardada: multas" in page.text
    assert "Ainda não consultado" not in page.text
    assert "não significa “nada consta”" in page.text
    assert "Antes de oferecer" in page.text


def test_sheet_starts_no_lookup_and_links_to_the_vehicle_page(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    page = buyer.get(SHEET)
    assert "Ainda não consultado" in page.text
    assert upstream.count() == 0
    assert page.all("a", href="/placa/ABC1D23?completo=1")


def test_sheet_uses_answers_stored_by_the_vehicle_page(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/decode", faults.answer("given", decode_body("ABC1D23")))
    upstream.script("/detran/v1/restrictions/renainf", faults.answer("given", renainf_body(fine())))
    upstream.script("/detran/v1/restrictions/renajud", faults.answer("given", renajud_body()))
    vehicle = buyer.get("/placa/ABC1D23?completo=1")
    assert vehicle.all("a", href=SHEET)
    page = buyer.get(SHEET, query_string={"reparos": "1.000,00"})
    assert upstream.count() == 3
    assert "R$ 88.194,84" in page.text
    assert page.headers["X-Robots-Tag"] == "noindex"


def test_invalid_input_is_400_and_keeps_the_form(buyer: PageClient) -> None:
    page = buyer.get(SHEET, 400, query_string={"reparos": "x<y", "ipva": "10"})
    assert page.by_id("custo-reparos").get("value") == "x<y"
    assert page.by_id("custo-reparos").get("aria-invalid") == "true"
    assert page.by_id("custo-ipva").get("value") == "10"


def test_other_spelling_and_missing_session_redirect(portal: PortalFactory) -> None:
    built = portal()
    stranger = built.client.get(f"{SHEET}?reparos=1")
    assert stranger.status_code == 303
    assert stranger.headers["Location"].startswith("/entrar?next=")
    someone = Person.at(built).signed_in().client
    answer = someone.get("/placa/abc-1d23/negociacao?reparos=1")
    assert (answer.status_code, answer.headers["Location"]) == (308, f"{SHEET}?reparos=1")


def test_unasked_lookups_are_not_called_failed() -> None:
    waiting = Panels(panels().vehicle, UNASKED, UNASKED)
    shown = text_of(check_html(render(negotiation_page(PLATE, waiting, CONTEXT, {}))))
    assert "não foi possível consultar" not in shown
    assert "Sem resposta guardada: multas, restrições judiciais" in shown


def test_terms_follow_the_records_and_need_one_of_two_lookups() -> None:
    shown = text(around=panels(renajud=renajud_body(restriction())))
    assert "Combinar por escrito" in shown and "Não se somam" in shown
    assert "Ordem judicial: Restrição de transferência (TJMG" in shown
    assert "Oi! Consultei a placa ABC1D23 em 20/11/2026." in shown
    assert "Combinar por escrito" not in text(around=Panels(FREE.vehicle, DOWN, DOWN))


def test_asking_price_is_set_against_the_ceiling_and_the_table() -> None:
    """The words about the table are those of the chart."""

    def said(text: str, around: Panels = FREE) -> str:
        page = negotiation_page(PLATE, around, CONTEXT, {"pedido": text})
        words = page.asking_words.replace("\u00a0", " ")
        assert words in text_of(check_html(render(page)))
        return words

    ceiling = negotiation_page(PLATE, FREE, CONTEXT, {}).ceiling
    assert ceiling is not None
    above = said(str(ceiling + 1200).replace(".", ","))
    assert above.startswith("R$ 1.200 acima do teto. ") and "da FIPE; preço de " in above
    assert said(str(ceiling - 50).replace(".", ",")).startswith("R$ 50 abaixo do teto. ")
    assert said(str(ceiling).replace(".", ",")).startswith("É o teto. ")
    assert said("") == ""
    # A court order leaves no ceiling; the table's price stays comparable.
    assert said("94.000", panels()) == "5,2% acima da FIPE; preço de jan/26."
    wrong = negotiation_page(PLATE, FREE, CONTEXT, {"pedido": "muito"})
    assert wrong.is_wrong and wrong.asking_words == ""
    assert NOT_MONEY in text_of(check_html(render(wrong)))
