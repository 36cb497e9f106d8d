"""The shop's sheet: its page, its PDF, and the forms that declare lines."""

import re
from io import BytesIO
from typing import Any

import pytest
from pypdf import PdfReader

from portal.law.checklist import LINES
from portal.phrasebook.shop_sheet import TEXTS
from tests import factories
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import InProcessPortal
from tests.web.json_paths import issue, no_upstream_call
from tests.web.person import Person

SHEET = "/placa/ABC1D23/folha"
DECLARE = "/placa/ABC1D23/declarar"


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal()


@pytest.fixture
def dealer(here: InProcessPortal) -> Person:
    return Person.at(here).signed_in()


def words(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def declare(dealer: Person, status: int = 303, **fields: Any) -> Any:
    token = dealer.pages.get(SHEET).csrf_token()
    return dealer.pages.post(DECLARE, status, data={"csrf_token": token, **fields})


def test_sheet_asks_nothing_and_reads_nothing_as_regular(
    dealer: Person, upstream: FaultUpstream
) -> None:
    with no_upstream_call(upstream):
        page = dealer.pages.get(SHEET)
    text = words(page.text)
    assert f"Faltam {len(LINES)} de {len(LINES)} linhas" in text
    assert "nada consta" not in text.replace("nada consta consta", "")
    for item, named in TEXTS.items.items():
        assert f"II, {item}) {named}" in text
    assert page.headers["X-Robots-Tag"] == "noindex"


def test_another_spelling_leads_to_the_sheet(dealer: Person) -> None:
    response = dealer.client.get("/placa/abc-1d23/folha")
    assert (response.status_code, response.headers["Location"]) == (308, SHEET)


def test_line_is_declared_from_the_vehicles_page_and_stands_everywhere(dealer: Person) -> None:
    page = dealer.pages.get("/placa/ABC1D23?completo=1")
    (button,) = [
        one
        for one in page.all("button", form="declarar")
        if "line=gravame&" in str(one.get("formaction"))
    ]
    form = {"csrf_token": page.csrf_token(), "next": "/placa/ABC1D23"}
    where = dealer.pages.post(str(button.get("formaction")), data=form)
    assert where == "/placa/ABC1D23#verificar-gravame"
    assert "declarado por token 1 da configuração" in words(
        dealer.pages.get("/placa/ABC1D23?completo=1").text
    )
    assert "declarado por" in words(dealer.pages.get(SHEET).text)


def test_fields_of_one_line_are_those_of_the_interface(dealer: Person) -> None:
    where = declare(
        dealer,
        line="debitos",
        state="something",
        amount="1.200,50",
        what="2 parcelas do IPVA",
        source="Fazenda de SP",
        on="2026-11-20",
    )
    assert where == f"{SHEET}#linha-debitos"
    text = words(dealer.pages.get(SHEET).text)
    assert "IPVA ou multa ambiental em aberto, R$ 1.200,50 (2 parcelas do IPVA)" in text
    assert "em 20/11/2026, Fazenda de SP" in text
    assert "Impede ou pode impedir a entrada: IPVA ou multa ambiental em aberto (declarado)" in text


def test_several_lines_are_declared_at_once_and_blank_ones_stay(dealer: Person) -> None:
    declare(dealer, line="recall", state="nothing")
    where = declare(
        dealer,
        line=["gravame", "leilao", "recall"],
        state=["nothing", "something", ""],
        what=["", "2021", ""],
        amount=["", "", ""],
        source="vistoria",
    )
    assert where == SHEET
    text = words(dealer.pages.get(SHEET).text)
    assert f"Faltam {len(LINES) - 3} de {len(LINES)} linhas" in text
    assert "passagem por leilão (2021)" in text
    declare(dealer, line="recall", state="unchecked")
    assert f"Faltam {len(LINES) - 2}" in words(dealer.pages.get(SHEET).text)


def test_declaration_against_a_record_is_refused_with_the_record_named(
    dealer: Person, upstream: FaultUpstream
) -> None:
    body = factories.renajud_body(factories.restriction())
    upstream.script(path_of("renajud", "ABC1D23"), faults.answer("application/json", body))
    dealer.pages.get("/placa/ABC1D23?completo=1")
    refused = declare(dealer, 409, line=["justica", "recall"], state=["nothing", "nothing"])
    text = words(refused.text)
    assert "(Renajud) traz 1 restrição judicial" in text and "Nada foi guardado" in text
    assert "declarado por" not in text


@pytest.mark.parametrize(
    "fields",
    [
        {"line": "x", "state": "nothing"},
        {"line": "gravame", "state": "x"},
        {"line": "debitos", "state": "something", "amount": "muito"},
        {"line": "gravame", "state": "nothing", "on": "2999-01-01"},
    ],
)
def test_wrong_fields_are_said(dealer: Person, fields: dict[str, str]) -> None:
    assert "Nada foi guardado" in words(declare(dealer, 400, **fields).text)


def test_form_needs_a_session_and_its_token(here: InProcessPortal, dealer: Person) -> None:
    assert (
        dealer.client.post(DECLARE, data={"line": "gravame", "state": "nothing"}).status_code == 400
    )
    stranger = Person.at(here)
    fields = {"line": "gravame", "state": "nothing"}
    assert stranger.post(DECLARE, **fields).status_code == 401
    assert stranger.client.get(SHEET).status_code == 303


def test_another_owner_does_not_see_it(here: InProcessPortal, dealer: Person) -> None:
    declare(dealer, line="gravame", state="something", what="banco do norte")
    other = Person.at(here).signed_in(issue(here, "other"))
    for path in (SHEET, "/placa/ABC1D23?completo=1", "/placa/ABC1D23/dossie"):
        assert "banco do norte" not in other.pages.get(path).text
        assert "banco do norte" in dealer.pages.get(path).text


def test_visitors_of_the_demonstration_do_not_share(portal: PortalFactory) -> None:
    demo = portal({})
    one, other = Person.at(demo), Person.at(demo)
    one.pages.get("/placa/ABC1D23?completo=1")
    declare(one, line="gravame", state="something", what="banco do norte")
    assert "banco do norte" in one.pages.get(SHEET).text
    assert "banco do norte" not in other.pages.get(SHEET).text


def test_issued_dossier_has_the_declared_lines_with_who_vouches(dealer: Person) -> None:
    page = dealer.pages.get("/placa/ABC1D23?completo=1")
    declare(dealer, line="gravame", state="nothing", source="CRLV-e")
    form = {"csrf_token": page.csrf_token()}
    where = dealer.pages.post("/placa/ABC1D23/dossie/emitir", data=form)
    assert isinstance(where, str)
    paper = dealer.client.get(f"{where}/papel").get_data(as_text=True)
    assert "declarado por token 1 da configuração" in paper and "CRLV-e" in paper


def test_same_line_is_declared_for_many(dealer: Person, upstream: FaultUpstream) -> None:
    form = dealer.pages.get("/declarar?placas=ABC1D23&placas=LMP0A01&placas=xx")
    fields = {"placas": ["ABC1D23", "LMP0A01"], "line": "identificacao", "state": "nothing"}
    with no_upstream_call(upstream):
        done = dealer.pages.post(
            "/declarar", 200, data={"csrf_token": form.csrf_token(), "source": "pátio", **fields}
        )
    assert not isinstance(done, str) and "2 placas guardadas" in words(done.text)
    for plate in ("ABC1D23", "LMP0A01"):
        assert "pátio" in dealer.pages.get(f"/placa/{plate}/folha").text


def test_more_than_a_hundred_at_once_are_refused(dealer: Person) -> None:
    """A form of 9,000 plates would write for minutes."""
    plates = [f"DEF{at // 100}G{at % 100:02}" for at in range(101)]
    form = dealer.pages.get("/declarar?placas=" + "&placas=".join(plates))
    assert "De uma vez vão até 100 placas" in words(form.text)
    fields = {"placas": plates, "line": "gravame", "state": "nothing"}
    refused = dealer.pages.post("/declarar", 400, data={"csrf_token": form.csrf_token(), **fields})
    assert not isinstance(refused, str) and "nada foi guardado" in words(refused.text)
    assert len(refused.all("input", name="placas")) == 100
    assert "declarado por" not in dealer.pages.get(f"/placa/{plates[0]}/folha").text


def test_one_of_many_that_a_record_contradicts_is_named(
    dealer: Person, upstream: FaultUpstream
) -> None:
    body = factories.renajud_body(factories.restriction())
    upstream.script(path_of("renajud", "ABC1D23"), faults.answer("application/json", body))
    page = dealer.pages.get("/placa/ABC1D23?completo=1")
    fields = {"placas": ["ABC1D23", "LMP0A01"], "line": "justica", "state": "nothing"}
    done = dealer.pages.post("/declarar", 200, data={"csrf_token": page.csrf_token(), **fields})
    assert not isinstance(done, str)
    assert "1 placa guardada" in done.text and "ABC1D23: não guardada" in done.text


def test_pdf_has_the_sheet_and_no_form(dealer: Person) -> None:
    pytest.importorskip("weasyprint")
    declare(dealer, line="gravame", state="nothing", source="CRLV-e")
    response = dealer.client.get(f"{SHEET}.pdf")
    assert response.content_type == "application/pdf"
    assert "folha-ABC1D23.pdf" in response.headers["Content-Disposition"]
    pages = PdfReader(BytesIO(response.data)).pages
    assert len(pages) <= 3
    text = words(re.sub(r"\s+", " ", " ".join(page.extract_text() for page in pages)))
    assert "Lei 13.111/2015" in text and "Renave" in text and "CRLV-e" in text
    assert "Guardar" not in text and "14 linhas não verificadas" in text
