"""Changes between two answers, on the page, the dossier and the report."""

from collections.abc import Callable

import pytest

from tests.conftest import PortalFactory
from tests.factories import decode_body, fine, renainf_body, renajud_body
from tests.fakes import FaultUpstream, faults
from tests.web.page_client import PageClient
from tests.web.person import Person

DECODE, RENAINF, RENAJUD = (
    "/detran/v1/decode",
    *(f"/detran/v1/restrictions/{name}" for name in ("renainf", "renajud")),
)


@pytest.fixture
def buyer(portal: PortalFactory) -> PageClient:
    return Person.at(portal()).signed_in().pages


Script = Callable[[str, bytes], None]


@pytest.fixture
def answers(upstream: FaultUpstream) -> Script:
    """A function that sets the upstream's answer for a path."""
    return lambda path, body: upstream.script(path, faults.answer("given", body))


def test_refresh_shows_what_changed(buyer: PageClient, answers: Script) -> None:
    for path, body in (
        (DECODE, decode_body("ABC1D23")),
        (RENAINF, renainf_body()),
        (RENAJUD, renajud_body()),
    ):
        answers(path, body)
    page = buyer.get("/placa/ABC1D23?completo=1")
    assert "O que mudou" not in page.text
    answers(RENAINF, renainf_body(fine()))
    buyer.post("/placa/ABC1D23/atualizar", data={"csrf_token": page.csrf_token()})
    for path in (
        "/placa/ABC1D23",
        "/placa/ABC1D23?completo=1",
        "/placa/ABC1D23/dossie",
    ):
        text = buyer.get(path).text
        assert "O que mudou" in text, path
        assert "Nova: multa de 14/08/2025" in text, path
    fragment = buyer.client.get("/placa/ABC1D23/painel/resumo").get_data(as_text=True)
    assert "O que mudou" in fragment


def test_stored_report_says_when_its_records_have_changed(
    buyer: PageClient, answers: Script
) -> None:
    answers(RENAINF, renainf_body())
    page = buyer.get("/placa/ABC1D23?completo=1")
    token = {"csrf_token": page.csrf_token()}
    buyer.post("/placa/ABC1D23/laudo", data=token)
    buyer.post("/placa/ABC1D23/atualizar", data=token)
    same = buyer.get("/placa/ABC1D23").text
    assert "Recomenda-se regularizar" in same and "mudaram desde então" not in same
    answers(RENAINF, renainf_body(fine()))
    buyer.post("/placa/ABC1D23/atualizar", data=token)
    for path in ("/placa/ABC1D23", "/placa/ABC1D23/dossie"):
        text = buyer.get(path).text
        assert "Os registros mudaram desde então" in text, path
        assert "Recomenda-se regularizar" in text, path
    buyer.post("/placa/ABC1D23/laudo", data=token)
    assert "mudaram desde então" not in buyer.get("/placa/ABC1D23").text


def test_report_on_records_out_of_scope_is_not_shown_or_outdated(
    portal: PortalFactory, buyer: PageClient
) -> None:
    page = buyer.get("/placa/ABC1D23?completo=1")
    buyer.post("/placa/ABC1D23/laudo", data={"csrf_token": page.csrf_token()})
    built = portal()
    words = ["token", "issue", "despachante", "--scopes", "decode,renainf,report"]
    issued = built.app.test_cli_runner().invoke(args=words)
    narrow = Person.at(built).signed_in(issued.output.split()[-1]).pages
    shown = narrow.get("/placa/ABC1D23?completo=1").text
    assert "O seu acesso não inclui esta consulta" in shown
    assert "Recomenda-se regularizar" not in shown
    assert "mudaram desde então" not in shown
