"""What differs from the visit before, on the page, in a session's JSON and in lists."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import PortalFactory
from tests.factories import fine, renainf_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN
from tests.web.page_client import PageClient
from tests.web.person import Person

RENAINF = "/detran/v1/restrictions/renainf"
PATH = "/placa/ABC1D23?completo=1"


@pytest.fixture
def buyer(portal: PortalFactory, monkeypatch: pytest.MonkeyPatch) -> PageClient:
    """A person for whom each request is a visit of its own."""
    monkeypatch.setattr("portal.law.last_seen.VISIT", timedelta(0))
    return Person.at(portal()).signed_in().pages


@pytest.fixture
def fines(upstream: FaultUpstream) -> Callable[..., None]:
    return lambda *records: upstream.script(RENAINF, faults.answer("given", renainf_body(*records)))


def since(buyer: PageClient) -> Any:
    return buyer.client.get("/api/v1/vehicles/ABC1D23").get_json()["since_last_seen"]


def refresh(buyer: PageClient) -> None:
    token = buyer.get(PATH, headers={"X-Purpose": "preview"}).csrf_token()
    buyer.post("/placa/ABC1D23/atualizar", data={"csrf_token": token})


def test_box_names_the_difference_above_the_numbers(
    buyer: PageClient, fines: Callable[..., None]
) -> None:
    fines()
    first = buyer.get(PATH)
    assert "quando você olhou" not in first.text
    assert "Nada mudou desde" in buyer.get(PATH).text
    fines(fine())
    refresh(buyer)
    told = since(buyer)
    assert [each["code"] for each in told["changes"]][-1] in ("fines_added", "notices_added")
    assert told["nothing_changed"] is False
    html = buyer.get(PATH).html
    assert html.index("quando você olhou") < html.index("hero__numbers")


def test_token_has_seen_nothing(portal: PortalFactory) -> None:
    client = portal().client
    answer = client.get("/api/v1/vehicles/ABC1D23", headers={"Authorization": PORTAL_TOKEN})
    assert answer.status_code == 200 and answer.get_json()["since_last_seen"] is None


def test_request_of_the_browser_alone_moves_nothing(
    buyer: PageClient, fines: Callable[..., None]
) -> None:
    fines()
    buyer.get(PATH, headers={"X-Purpose": "preview"})
    assert since(buyer) is None


def test_list_has_a_tab_of_what_changed(buyer: PageClient, fines: Callable[..., None]) -> None:
    fines()
    buyer.get(PATH)
    assert "Mudou" not in buyer.get("/historico").text
    fines(fine())
    refresh(buyer)
    # The refresh leads to no page here, so the visit before is that without fines.
    page = buyer.get("/historico?so=mudou")
    assert "Mudou 1" in page.text and "ABC1D23" in page.text


def test_history_is_kept_for_ninety_days_by_choice(buyer: PageClient) -> None:
    buyer.get(PATH)
    page = buyer.get("/historico")
    assert "nos últimos 30 dias" in page.text
    buyer.post("/historico", data={"csrf_token": page.csrf_token(), "dias": "90"})
    assert "nos últimos 90 dias" in buyer.get("/historico").text
    buyer.post("/historico", data={"csrf_token": page.csrf_token(), "dias": "400"})
    assert "nos últimos 90 dias" in buyer.get("/historico").text
