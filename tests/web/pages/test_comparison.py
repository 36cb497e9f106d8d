"""The comparison page: cells with and without an answer, and its upstream calls."""

import json
import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.dossier.answers import Panels
from portal.presentation.lists.comparison import ComparisonPage
from portal.vehicle.plate import Plate
from tests.conftest import PortalFactory
from tests.factories import (
    HIDDEN,
    decode_body,
    decoded,
    fine,
    fipe_entry,
    payment,
    price_history,
    renainf_body,
    renajud_body,
    restriction,
)
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import pass_through
from tests.presentation.odd_records import JSON, odd
from tests.presentation.pages import comparison_page
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    PLATE,
    UNASKED,
    UNASKED_PANELS,
    answered,
    panels,
    render,
)
from tests.web.html_checker import HTML, check_html, text_of
from tests.web.page_client import Page, PageClient
from tests.web.person import Person

PLATES = tuple(Plate.parse(text) for text in ("ABC1D23", "KZZ9999", "XYZ9K99", "AAA1A11"))
MESSAGE = "Por favor, informe uma placa válida."


def compared(*each: Panels) -> ComparisonPage:
    return comparison_page(PLATES[: len(each)], each, CONTEXT)


def cells(page: ComparisonPage, plate: Plate) -> dict[str, str]:
    """Return the texts of a vehicle's row, by the class of the cell."""
    (found,) = check_html(render(page)).findall(f".//{HTML}tr[@id='veiculo-{plate.text}']")
    return {
        str(cell.get("class")).split()[0].removeprefix("vehicles__"): text_of(cell)
        for cell in found
    }


def test_known_unavailable_and_unasked_cells_differ() -> None:
    clean = panels(renainf=renainf_body(), renajud=renajud_body())
    page = compared(panels(), clean, Panels(DOWN, DOWN, DOWN), UNASKED_PANELS)
    found = [cells(page, plate) for plate in PLATES]
    assert [each["debt"] for each in found] == [
        "R$ 130,16",
        "nenhuma multa",
        "sem resposta",
        "sem resposta",
    ]
    assert "1 ordem · 1 multa" in found[0]["finding"]
    assert [each["price"] for each in found[1:]] == ["R$ 89.325", "sem resposta", "sem resposta"]
    assert "A fonte não respondeu" in found[2]["finding"]
    assert "Sem resposta guardada" in found[3]["finding"]
    assert "Consultar agora" in found[3]["finding"]
    assert "não significa “nada consta”" in text_of(check_html(render(page)))


def test_verdict_cells_match_the_vehicle_page() -> None:
    found = cells(compared(panels()), PLATES[0])
    assert found["finding"].startswith("Não transfere")
    assert "Transferir: não; " in found["acts"]
    assert "Circular: nada encontrado; " in found["acts"]


def test_paid_fines_are_not_open_and_unknown_sum_is_not_zero() -> None:
    paid = renainf_body(fine(pagamento=payment(dataPagamento="01/09/2025")))
    unknown = renainf_body(fine(valor="", codigoInfracao=""))
    page = compared(panels(renainf=paid), panels(renainf=unknown))
    assert cells(page, PLATES[0])["debt"] == "nenhuma multa"
    assert cells(page, PLATES[1])["debt"] == "não informado"
    assert "R$\u00a00,00" not in render(page)


def test_yearly_change_of_several_versions_is_a_range() -> None:
    assert cells(compared(panels()), PLATES[0])["trend"] == "\u22128,1%"
    entries = [fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")]
    found = cells(compared(panels(decode_body("ABC1D23", informacoesFipe=entries))), PLATES[0])
    # Both versions have the same history here.
    assert (found["price"], found["trend"]) == ("R$ 89.325 a R$ 95.000", "\u22128,1%")
    steeper = [
        one | {"valor": str(round(float(one["valor"]) * (1 - at / 200)))}
        for at, one in enumerate(reversed(fipe_entry()["historicoPreco"]))
    ][::-1]
    entries = [fipe_entry(versao="V1"), fipe_entry(versao="V2", historicoPreco=steeper)]
    page = compared(panels(decode_body("ABC1D23", informacoesFipe=entries)))
    assert re.fullmatch("\u2212[0-9,]+% a \u22128,1%|\u22128,1% a \u2212?[0-9,]+%",
                        cells(page, PLATES[0])["trend"])  # fmt: skip
    assert 'class="sparkline__band"' in render(page)
    unknown = [fipe_entry(versao="V1"), fipe_entry(versao="V2", historicoPreco=[])]
    row = cells(compared(panels(decode_body("ABC1D23", informacoesFipe=unknown))), PLATES[0])
    assert row["trend"] == ""


def test_stale_answer_never_looks_good() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    for lookup in ("renainf", "renajud"):
        body = clear.of(lookup).body
        assert body is not None
        old = clear.with_answers({lookup: answered(body, "stale", age=timedelta(days=2))})
        page = compared(old, clear)
        stale, fresh = (cells(page, plate)["finding"] for plate in PLATES[:2])
        assert stale.startswith("Nada encontrado, em resposta antiga") and "há 2 dias" in stale
        assert fresh.startswith("Nada encontrado 2 de 15 verificados")


def test_vehicle_has_a_link_that_removes_it() -> None:
    html = render(compared(panels(), panels(), panels()))
    assert re.findall(r'href="([^"]*)"[^>]*>Retirar', html) == [
        "/comparar?placas=KZZ9999,XYZ9K99",
        "/comparar?placas=ABC1D23,XYZ9K99",
        "/comparar?placas=ABC1D23,KZZ9999",
    ]
    assert "Retirar" not in render(compared(panels()))


@given(
    vehicle=JSON | odd(decoded("ABC1D23")),
    entry=JSON | odd(fipe_entry(historicoPreco=[])),
    fines=JSON | st.lists(JSON | odd(fine()), max_size=2),
    restrictions=JSON | st.lists(JSON | odd(restriction()), max_size=2),
    typed=st.lists(st.text(max_size=10), max_size=9),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_odd_records_and_input_do_not_break_the_comparison(
    vehicle: Any, entry: Any, fines: Any, restrictions: Any, typed: list[str]
) -> None:
    if isinstance(vehicle, dict) and "informacoesFipe" in vehicle:
        vehicle = {**vehicle, "informacoesFipe": [entry]}
    strange = panels(
        decode=json.dumps({"status": "DONE", "result": vehicle}).encode(),
        renainf=json.dumps({"status": "SUCCESS", "result": fines}).encode(),
        renajud=json.dumps({"status": "SUCCESS", "result": restrictions}).encode(),
    )
    html = render(compared(strange, panels()))
    check_html(html)
    assert HIDDEN not in html
    assert "R$\u00a00,00" not in html
    problem = f"“{typed[0]}” não é uma placa." if typed else "Informe."
    check_html(render(comparison_page((), (), CONTEXT, typed=typed, problem=problem)))


def test_waiting_row_has_its_url_and_no_statement() -> None:
    page = comparison_page(PLATES[:2], [panels(), UNASKED_PANELS], CONTEXT, follow=True)
    assert cells(page, PLATES[1]) == {
        "tick": "Marcar KZZ-9999",
        "plate": "KZZ-9999",
        "car": "",
        "finding": "Consultando… Retirar KZZ-9999 da comparação",
        "acts": "",
        "debt": "consultando",
        "price": "consultando",
        "trend": "",
        "note": "nota, anotar KZZ-9999",
        "more": "Mais de KZZ-9999: atos, 12 meses, nota",
    }
    html = render(page)
    assert re.findall(r'data-waits="([^"]+)"', html) == ["/comparar?placas=KZZ9999&amp;completo=1"]
    head = html.partition("</head>")[0]
    assert 'content="0; url=/comparar?placas=ABC1D23,KZZ9999&amp;completo=1"' in head
    assert "http-equiv" not in render(compared(panels(), UNASKED_PANELS))


def test_verdict_that_cannot_improve_is_told_before_the_other_answers() -> None:
    blocked = Panels(UNASKED, UNASKED, panels().orders)
    page = comparison_page(PLATES[:1], [blocked], CONTEXT, follow=True)
    assert cells(page, PLATES[0])["finding"].startswith("Não transfere")
    fined = Panels(UNASKED, panels().fines, UNASKED)
    page = comparison_page(PLATES[:1], [fined], CONTEXT, follow=True)
    assert cells(page, PLATES[0])["finding"].startswith("Consultando…")


def test_prices_start_at_100_in_the_first_common_month() -> None:
    cheaper = fipe_entry(valorAtual="40000", historicoPreco=price_history(24, 0))
    other = panels(decode_body("KZZ9999", informacoesFipe=[cheaper]))
    page = compared(panels(), other, Panels(DOWN, DOWN, DOWN))
    assert page.chart is not None
    assert [tick.text for tick in page.chart.prices][-1] != ""
    labels = [page.chart.now.price if page.chart.now else "", page.chart.ends[0].text]
    assert [label.split()[0] for label in labels] == ["ABC1D23", "KZZ9999"]
    assert all(50 < int(label.split()[1]) < 200 for label in labels)
    assert "Sem histórico: XYZ9K99." in text_of(check_html(render(page)))
    assert compared(panels()).chart is None


def test_several_versions_are_drawn_as_their_mean() -> None:
    entries = [
        fipe_entry(versao="V1"),
        fipe_entry(versao="V2", historicoPreco=price_history(24, 0)),
    ]
    several = panels(decode_body("KZZ9999", informacoesFipe=entries))
    page = compared(panels(), several)
    assert page.chart is not None
    assert [curve.is_mean for curve in (page.chart.chosen, *page.chart.others)] == [False, True]
    text = text_of(check_html(render(page)))
    assert "Tracejada, a média das versões prováveis: KZZ-9999." in text


FINED = panels(renajud=renajud_body())
CLEAN = panels(renainf=renainf_body(), renajud=renajud_body())


def best_cells(page: ComparisonPage) -> list[str]:
    tree = check_html(render(page))
    return [
        str(cell.get("class") and text_of(cell))
        for cell in tree.iter(f"{HTML}td")
        if cell.get("class") == "duel__best"
    ]


def test_best_is_named_among_vehicles_that_transfer() -> None:
    assert [words for words, _ in compared(FINED, CLEAN).best] == ["deve menos"]
    # One that an order keeps from being transferred is not praised, and hides no better one.
    assert compared(panels(), CLEAN).best == []
    assert [words for words, _ in compared(panels(), FINED, CLEAN).best] == ["deve menos"]
    assert compared(CLEAN, CLEAN).best == []
    assert best_cells(compared(CLEAN, CLEAN)) == []


def test_duel_has_five_questions_and_fills_the_best() -> None:
    page = compared(FINED, CLEAN, Panels(DOWN, DOWN, DOWN))
    assert [row.label for row in page.duel] == [
        "Transfere?",
        "Deve",
        "Vale",
        "Por mês, no último ano",
        "Falta verificar",
    ]
    assert any("nenhuma multa" in cell for cell in best_cells(page))
    text = text_of(check_html(render(page)))
    assert "Não se sabe" in text and "\u2212R$ " in text
    assert "duel" not in render(compared(FINED))


@pytest.fixture
def buyer(portal: PortalFactory) -> PageClient:
    return Person.at(portal()).signed_in().pages


def test_lookups_of_all_plates_run_in_parallel(buyer: PageClient, upstream: FaultUpstream) -> None:
    gate = threading.Event()
    upstream.default(faults.held(gate))
    pages: list[Page] = []
    address = "/comparar?completo=1&placas=" + ",".join(plate.text for plate in PLATES)
    request_thread = threading.Thread(target=lambda: pages.append(buyer.get(address)), daemon=True)
    request_thread.start()
    try:
        upstream.wait_for_calls(12)
    finally:
        gate.set()
    request_thread.join(timeout=20)
    assert pages and upstream.count() == 12
    buyer.get(address)
    assert upstream.count() == 12


def test_only_missing_answers_are_fetched(buyer: PageClient, upstream: FaultUpstream) -> None:
    buyer.get("/placa/ABC1D23?completo=1")
    page = buyer.get("/comparar?placas=ABC1D23,KZZ9999&completo=1")
    assert upstream.count() == 6
    assert page.headers["X-Robots-Tag"] == "noindex"
    assert "Comparar ABC1D23, KZZ-9999" in page.title
    for path in ("/placa/ABC1D23", "/placa/KZZ9999"):
        assert page.all("a", href=path)


def test_failed_lookup_does_not_affect_other_vehicles(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    upstream.script("/detran/v1/restrictions/renainf/KZZ9999", faults.status(500))
    page = buyer.get("/comparar?placas=ABC1D23,KZZ9999&completo=1")
    ready, failed = (text_of(page.by_id(f"veiculo-{plate}")) for plate in ("ABC1D23", "KZZ9999"))
    assert "R$ 130,16" in ready and "sem resposta" not in ready
    assert "sem resposta: multas" in failed and "nenhuma multa" not in failed


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Purpose": "prefetch"}, {"Sec-Fetch-Site": "cross-site"}, {"User-Agent": "Googlebot"}],
)
def test_visit_not_initiated_by_a_user_starts_no_lookup(
    buyer: PageClient, upstream: FaultUpstream, headers: dict[str, str]
) -> None:
    page = buyer.get("/comparar?placas=ABC1D23,KZZ9999", headers=headers)
    assert buyer.client.head("/comparar?placas=ABC1D23").status_code == 200
    assert upstream.count() == 0
    assert page.all("a", href="/placa/KZZ9999?completo=1")


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ([" , ", ""], "Informe pelo menos uma placa."),
        (["ABC1D23,ABCD123"], MESSAGE),
        (["ABC1D23", "12345678910"], "é um Renavam: a comparação é feita por placa."),
        (["\x00\x1b[1m"], MESSAGE),
    ],
)
def test_invalid_plates_return_the_form_with_the_reason(
    buyer: PageClient, upstream: FaultUpstream, typed: list[str], problem: str
) -> None:
    page = buyer.get("/comparar", 400, query_string={"placas": typed})
    assert problem in page.text
    assert upstream.count() == 0
    kept = [field.get("value") for field in page.all("input", name="placas")]
    assert len(kept) >= 2
    assert not typed or "ABC1D23" not in typed[0] or kept[0] == "ABC1D23"


def test_bare_address_is_an_empty_form_with_recent_plates(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    buyer.get("/placa/ABC1D23?completo=1")
    page = buyer.get("/comparar")
    assert "Erro" not in page.title and not page.all("p", role="alert")
    assert [one.get("value") for one in page.all("input", type="checkbox")] == ["ABC1D23"]
    assert upstream.count() == 3


def test_shell_comes_without_a_lookup_and_rows_follow(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    buyer.get("/placa/ABC1D23?completo=1")
    page = buyer.get("/comparar?placas=ABC1D23,KZZ9999")
    assert upstream.count() == 3
    (row,) = [row for row in page.all("tr") if row.get("data-waits")]
    assert row.get("id") == "veiculo-KZZ9999"
    alone = buyer.get(str(row.get("data-waits")))
    assert upstream.count() == 6
    assert alone.by_id("veiculo-KZZ9999").get("data-waits") is None


def test_slot_adds_a_plate_and_offers_recent_ones(buyer: PageClient) -> None:
    buyer.get("/placa/XYZ9K99?completo=1")
    page = buyer.get("/comparar?placas=ABC1D23,KZZ9999")
    assert page.by_id("placas-recentes").findall(".//*[@value='XYZ9K99']")
    (slot,) = [form for form in page.all("form") if form.get("id") == "placas"]
    joined = slot[0]
    form = {"placas": [joined.get("value"), "aaa-1a11"]}
    answer = buyer.client.get("/comparar", query_string=form)
    assert answer.headers["Location"] == "/comparar?placas=ABC1D23,KZZ9999,AAA1A11"
    full = buyer.get("/comparar?placas=" + ",".join(plate.text for plate in PLATES))
    assert not full.all("form", id="placas")


def test_plates_pasted_into_one_field_are_told_apart(buyer: PageClient) -> None:
    answer = buyer.client.get("/comparar", query_string={"placas": "placas ABC1D23 e KZZ9999"})
    assert answer.headers["Location"] == "/comparar?placas=ABC1D23,KZZ9999"


def test_typed_plates_redirect_to_the_canonical_url(buyer: PageClient) -> None:
    form = {"placas": ["abc-1d23", "", " kzz 9999 ", "ABC1D23"]}
    answer = buyer.client.get("/comparar", query_string=form)
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/comparar?placas=ABC1D23,KZZ9999"


@pytest.mark.parametrize("typed", ["VER1A11,KZZ9999,VER1011", "VER1A11 KZZ9999 VER-1011"])
def test_two_formats_of_a_plate_are_one_vehicle(buyer: PageClient, typed: str) -> None:
    answer = buyer.client.get("/comparar", query_string={"placas": typed})
    assert answer.headers["Location"] == "/comparar?placas=VER1A11,KZZ9999"


def test_comparison_without_session_redirects_to_sign_in(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    for built in (portal(), portal(pass_through(upstream.url))):
        answer = built.client.get("/comparar?placas=ABC1D23")
        assert answer.status_code == 303
        assert answer.headers["Location"] == "/entrar?next=/comparar?placas%3DABC1D23"
    assert upstream.count() == 0


def test_vehicle_page_links_to_the_comparison(buyer: PageClient) -> None:
    assert buyer.get(f"/placa/{PLATE}").all("a", href=f"/comparar?placas={PLATE}")


def test_missing_price_reads_as_such() -> None:
    entry = fipe_entry(valorAtual="", historicoPreco=price_history(2, 0))
    around = panels(decode_body("ABC1D23", informacoesFipe=[entry]))
    assert cells(compared(around), PLATES[0])["price"] == "sem preço"
