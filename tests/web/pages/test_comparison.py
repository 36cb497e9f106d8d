"""The comparison page: cells with and without an answer, and its upstream calls."""

import json
import re
import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.dossier.answers import Panels
from portal.dossier.lookups import LOOKUP_WORDS
from portal.presentation.tools.comparison import ComparisonPage, comparison_page
from portal.vehicle.operation_name import LookupName
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
from tests.presentation.rendering import (
    CONTEXT,
    DOWN,
    PLATE,
    UNASKED,
    UNASKED_PANELS,
    answered,
    panels,
    render,
    vehicle_page,
)
from tests.web.html_checker import check_html, text_of
from tests.web.page_client import Page, PageClient
from tests.web.person import Person

PLATES = tuple(Plate.parse(text) for text in ("ABC1D23", "KZZ9999", "XYZ9K99", "AAA1A11"))
MESSAGE = "Por favor, informe uma placa válida."


def compared(*each: Panels) -> ComparisonPage:
    return comparison_page(PLATES[: len(each)], each, CONTEXT)


def row(page: ComparisonPage, label: str) -> list[tuple[str, str]]:
    (found,) = [row for row in page.rows if row.label == label]
    return [(cell.state, cell.text) for cell in found.cells]


def test_every_row_has_a_cell_for_each_vehicle() -> None:
    page = compared(panels(), Panels(DOWN, DOWN, DOWN), UNASKED_PANELS, panels())
    assert {len(row.cells) for row in page.rows} == {4}
    check_html(render(page))


def test_equal_ages_are_said_once() -> None:
    known = panels()
    assert known.decode.body is not None
    later = replace(known, decode=answered(known.decode.body, age=timedelta(minutes=40)))
    part = Panels(known.decode, DOWN, DOWN)
    once, apart, one = row(compared(known, later, part), "Consultado")
    assert once[1].startswith("há ") and ":" not in once[1]
    assert apart[1].startswith("dados: há 40\u00a0min; multas: há ")
    assert one[1].startswith("dados: há ")


def test_known_unavailable_and_unasked_cells_differ() -> None:
    clean = panels(renainf=renainf_body(), renajud=renajud_body())
    page = compared(panels(), clean, Panels(DOWN, DOWN, DOWN), UNASKED_PANELS)
    assert row(page, "Multas em aberto") == [
        ("known", "R$\u00a0130,16"),
        ("known", "nenhuma nos registros"),
        ("unavailable", "indisponíveis"),
        ("unasked", ""),
    ]
    assert row(page, "Restrições judiciais")[0] == ("known", "1 em vigor")
    assert [state for state, _ in row(page, "Preço FIPE")] == [
        *("known", "known", "unavailable", "unasked")
    ]
    shown = text_of(check_html(render(page)))
    assert "não significa “nada consta”" in shown
    assert "ainda não consultado" in shown


def test_verdict_cells_match_the_vehicle_page() -> None:
    page = compared(panels())
    assert row(page, "Conclusão") == [("known", "Não pode ser transferido agora")]
    assert row(page, "Transferir") == [("known", "Não")]
    assert row(page, "Circular") == [("known", "Nada encontrado")]


def test_paid_fines_are_not_open_and_unknown_sum_is_not_zero() -> None:
    paid = renainf_body(fine(pagamento=payment(dataPagamento="01/09/2025")))
    unknown = renainf_body(fine(valor="", codigoInfracao=""))
    page = compared(panels(renainf=paid), panels(renainf=unknown))
    assert [text for _, text in row(page, "Multas em aberto")] == [
        "nenhuma nos registros",
        "não informado",
    ]
    assert "R$\u00a00,00" not in render(page)


def test_old_and_mercosul_spellings_are_shown_as_the_same_plate() -> None:
    plates = [Plate.parse(text) for text in ("VER1A11", "KZZ9999", "VER1011")]
    shown = text_of(check_html(render(comparison_page(plates, [panels()] * 3, CONTEXT))))
    assert "VER1A11 e VER-1011 são a mesma placa em dois formatos" in shown
    assert shown.count("A mesma placa, duas vezes") == 1
    assert "mesma placa" not in render(compared(panels(), panels()))


@pytest.mark.parametrize(
    ("versions", "expected"), [(1, ""), (2, "há mais 1 versão possível"), (3, "há mais 2 versões")]
)
def test_other_versions_are_counted_in_portuguese(versions: int, expected: str) -> None:
    entries = [fipe_entry()] + [
        fipe_entry(versao=f"V{number}", ano="2009") for number in range(1, versions)
    ]
    page = compared(panels(decode_body("ABC1D23", informacoesFipe=entries)))
    (price,) = [row.cells[0] for row in page.rows if row.label == "Preço FIPE"]
    assert expected in price.note
    assert ("possí" in price.note) == bool(expected)


def test_yearly_change_names_its_last_month() -> None:
    page = compared(panels())
    (change,) = [row.cells[0] for row in page.rows if row.label == "FIPE em 12 meses"]
    assert change.text == "\u22128,1%"
    assert change.note == "até set/26"


def test_stale_answer_is_dated_in_its_cell_and_never_looks_good() -> None:
    clear = panels(renainf=renainf_body(), renajud=renajud_body())
    expected = "resposta guardada de 18/11/2026 às 21:15"
    rows: dict[LookupName, tuple[str, ...]] = {
        "decode": ("Preço FIPE", "FIPE em 12 meses"),
        "renainf": ("Multas em aberto",),
        "renajud": ("Restrições judiciais",),
    }
    for lookup, labels in rows.items():
        body = clear.of(lookup).body
        assert body is not None
        old = replace(clear, **{lookup: answered(body, "stale", age=timedelta(days=2))})
        page = compared(old, clear)
        cells = {row.label: row.cells for row in page.rows}
        for label in labels:
            assert expected in cells[label][0].note, label
            assert expected not in cells[label][1].note
        good, other = cells["Conclusão"]
        assert good.look is not None and good.look.tone == "warn"
        assert good.note == f"resposta guardada: {LOOKUP_WORDS[lookup]}"
        assert (
            other.look is not None
            and other.look.tone == "ok"
            and other.note.startswith("falta verificar IPVA")
        )
        check_html(render(page))


def test_stale_answer_without_a_value_has_no_date() -> None:
    old = answered(decode_body("ABC1D23", informacoesFipe=[]), "stale", age=timedelta(days=2))
    (price,) = [
        r.cells[0] for r in compared(replace(panels(), decode=old)).rows if "Preço" in r.label
    ]
    assert (price.state, price.note) == ("empty", "")


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


def test_same_rows_are_marked_and_unknown_values_never_are() -> None:
    page = compared(panels(), panels())
    assert all(row.is_same for row in page.rows)
    dearer = panels(decode_body("ABC1D23", informacoesFipe=[fipe_entry(valorAtual="99999")]))
    rows = {row.key: row.is_same for row in compared(panels(), dearer).rows}
    assert rows["verdict"] and rows["fines"] and not rows["price"]
    down = Panels(DOWN, DOWN, DOWN)
    rows = {row.key: row.is_same for row in compared(down, down).rows}
    assert not rows["fines"] and not rows["courts"] and not rows["price"]
    assert not any(row.is_same for row in compared(panels()).rows)


def test_waiting_column_has_its_url_and_no_statement() -> None:
    page = comparison_page(PLATES[:2], [panels(), UNASKED_PANELS], CONTEXT, follow=True)
    assert {row.cells[1].state for row in page.rows} == {"waiting"}
    html = render(page)
    assert re.findall(r'data-column="(\w+)"', html) == ["ready", "waiting"]
    assert 'data-column-url="/comparar?placas=KZZ9999&amp;completo=1"' in html
    head = html.partition("</head>")[0]
    assert 'content="0; url=/comparar?placas=ABC1D23,KZZ9999&amp;completo=1"' in head
    assert "http-equiv" not in render(compared(panels(), UNASKED_PANELS))


def test_verdict_that_cannot_improve_is_told_before_the_other_answers() -> None:
    blocked = Panels(UNASKED, UNASKED, panels().renajud)
    page = comparison_page(PLATES[:1], [blocked], CONTEXT, follow=True)
    assert row(page, "Conclusão") == [("known", "Não pode ser transferido agora")]
    assert row(page, "Transferir") == [("known", "Não")]
    assert row(page, "Multas em aberto") == [("waiting", "")]
    fined = Panels(UNASKED, panels().renainf, UNASKED)
    page = comparison_page(PLATES[:1], [fined], CONTEXT, follow=True)
    assert row(page, "Conclusão") == [("waiting", "")]


def test_price_less_the_fines_is_left_out_where_the_transfer_is_blocked() -> None:
    page = compared(panels(), panels(renajud=renajud_body()), Panels(panels().decode, DOWN, DOWN))
    (net,) = [row.cells for row in page.rows if row.key == "net"]
    assert (net[0].text, net[1].text) == ("sem teto", "R$\u00a089.194,84")
    assert net[0].note.startswith("Só depois da baixa da restrição judicial")
    assert net[2].state == "unavailable"


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
    (fines,) = [tr for tr in page.all("tr") if text_of(tr).startswith("Multas em aberto")]
    assert "R$ 130,16" in text_of(fines)
    assert "indisponíveis não significa “nada consta”" in text_of(fines)


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
        (["AAA1A11,AAA1A12,AAA1A13,AAA1A14,AAA1A15"], "Compare até 4 placas por vez."),
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
    assert page.all("a", href="/comparar?placas=ABC1D23")
    assert upstream.count() == 3


def test_shell_comes_without_a_lookup_and_columns_follow(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    buyer.get("/placa/ABC1D23?completo=1")
    page = buyer.get("/comparar?placas=ABC1D23,KZZ9999")
    assert upstream.count() == 3
    heads = page.all("th", scope="col")
    assert [head.get("data-column") for head in heads] == ["ready", "waiting"]
    column = buyer.get(str(heads[1].get("data-column-url")))
    assert upstream.count() == 6
    assert [head.get("data-column") for head in column.all("th", scope="col")] == ["ready"]
    keys = [tr.get("data-row") for tr in page.all("tr") if tr.get("data-row")]
    assert keys == [tr.get("data-row") for tr in column.all("tr") if tr.get("data-row")]


def test_slot_adds_a_plate_and_offers_recent_ones(buyer: PageClient) -> None:
    buyer.get("/placa/XYZ9K99?completo=1")
    page = buyer.get("/comparar?placas=ABC1D23,KZZ9999")
    assert page.all("a", href="/comparar?placas=ABC1D23,KZZ9999,XYZ9K99")
    (joined, _) = page.all("input", name="placas")
    form = {"placas": [joined.get("value"), "aaa-1a11"]}
    answer = buyer.client.get("/comparar", query_string=form)
    assert answer.headers["Location"] == "/comparar?placas=ABC1D23,KZZ9999,AAA1A11"
    full = buyer.get("/comparar?placas=" + ",".join(plate.text for plate in PLATES))
    assert not full.all("input", name="placas")


def test_plates_pasted_into_one_field_are_told_apart(buyer: PageClient) -> None:
    answer = buyer.client.get("/comparar", query_string={"placas": "placas ABC1D23 e KZZ9999"})
    assert answer.headers["Location"] == "/comparar?placas=ABC1D23,KZZ9999"


def test_typed_plates_redirect_to_the_canonical_url(buyer: PageClient) -> None:
    form = {"placas": ["abc-1d23", "", " kzz 9999 ", "ABC1D23"]}
    answer = buyer.client.get("/comparar", query_string=form)
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/comparar?placas=ABC1D23,KZZ9999"


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


def test_restriction_kinds_are_named_once_and_counted_beyond_four() -> None:
    kinds = ["TRANSFERENCIA"] * 3 + ["PENHORA", "CIRCULACAO", "LICENCIAMENTO", "ARRESTO", "X"]
    records = [restriction(restricoes=kind, detalheRenajud=kind) for kind in kinds]
    page = compared(panels(renajud=renajud_body(*records)))
    (cell,) = [one.cells[0] for one in page.rows if one.label == "Restrições judiciais"]
    assert cell.text == "8 em vigor"
    assert "penhora" in cell.note.lower()
    assert len(cell.note.split("; ")) == 5
    assert cell.note.endswith("e mais 2")


def test_tied_versions_show_their_price_range() -> None:
    entries = [fipe_entry(versao="V1"), fipe_entry(versao="V2", valorAtual="95000")]
    page = compared(panels(decode_body("ABC1D23", informacoesFipe=entries)))
    (cell,) = [one.cells[0] for one in page.rows if one.label == "Preço FIPE"]
    assert cell.text == "R$\u00a089.325 a R$\u00a095.000"
    assert cell.note == "2 versões empatam: confira no documento"


def test_missing_price_reads_as_on_the_vehicle_page() -> None:
    entry = fipe_entry(valorAtual="", historicoPreco=price_history(2, 0))
    around = panels(decode_body("ABC1D23", informacoesFipe=[entry]))
    page = compared(around)
    assert row(page, "Preço FIPE") == [("empty", "sem preço na fonte")]
    assert row(page, "FIPE em 12 meses") == [("empty", "sem dados para comparar")]
    own = text_of(check_html(render(vehicle_page(PLATE, around, UNASKED, CONTEXT))))
    compared_text = text_of(check_html(render(page)))
    for words in ("sem preço na fonte", "sem dados para comparar"):
        assert words in own and words in compared_text
