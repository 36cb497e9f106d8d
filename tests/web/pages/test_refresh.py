"""What "Atualizar agora" tells: what came anew, what did not and why, and who may ask at all."""

import re
import sqlite3

import pytest

from portal.gateway.sqlite_cache import SQLiteCache
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.web.json_paths import issue
from tests.web.page_client import Page, PageClient
from tests.web.person import Person

PAGE = "/placa/ABC1D23"
ALL = frozenset({"decode", "renainf", "renajud", "report", "refresh"})


def asked_again(pages: PageClient) -> Page:
    token = pages.get(PAGE).csrf_token()
    pages.post(f"{PAGE}/atualizar", data={"csrf_token": token})
    return pages.get(PAGE)


def status_of(page: Page) -> str:
    (notice,) = page.all("div", role="status")
    return " ".join("".join(notice.itertext()).split())


def test_a_whole_refresh_says_when(buyer: PageClient) -> None:
    buyer.get(f"{PAGE}?completo=1")
    after = asked_again(buyer)
    assert re.fullmatch(r"Atualizado às \d\d:\d\d", status_of(after))
    assert "da memória do portal" not in after.text
    assert "Nem tudo" not in after.text


def test_a_stored_answer_that_stands_in_is_named_without_blame(
    buyer: PageClient, upstream: FaultUpstream
) -> None:
    buyer.get(f"{PAGE}?completo=1")
    upstream.script("/detran/v1/restrictions/renainf", faults.status(500))
    told = status_of(asked_again(buyer))
    assert told.startswith("Nem tudo foi atualizado")
    assert "Multas: não veio resposta nova." in told
    assert "Dados do veículo" not in told


def test_a_spent_limit_is_not_laid_at_the_sources_door(portal: PortalFactory) -> None:
    built = portal()
    token = issue(built, "balcao", ALL, daily_limit=3)
    pages = Person.at(built).signed_in(token).pages
    pages.get(f"{PAGE}?completo=1")
    told = status_of(asked_again(pages))
    assert "O limite diário de consultas do seu acesso foi atingido." in told
    assert "não respondeu" not in told


def test_what_lies_outside_the_access_is_neither_asked_nor_missed(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    built = portal()
    token = issue(built, "balcao", frozenset({"decode", "renainf", "refresh"}))
    pages = Person.at(built).signed_in(token).pages
    page = pages.get(f"{PAGE}?completo=1")
    assert upstream.count() == 2
    assert "Atualizado às" in status_of(asked_again(pages))
    assert upstream.count() == 4
    assert "O seu acesso não inclui escrever laudos." in page.text
    assert not page.all("form", action=f"{PAGE}/laudo")


def test_the_price_of_asking_again_is_that_of_what_the_access_includes(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    prices = {f"PORTAL_PRICE_{name}": "2" for name in ("DECODE", "RENAINF", "RENAJUD")}
    built = portal(managed(upstream.url) | prices)
    for scopes, said in (
        (ALL, "as três consultas custam R$ 6,00"),
        (ALL - {"decode"}, "as duas consultas custam R$ 4,00"),
        (ALL - {"decode", "renajud"}, "a consulta custa R$ 2,00"),
    ):
        token = issue(built, f"of-{len(scopes)}", scopes)
        assert said in Person.at(built).signed_in(token).pages.get(PAGE).text


@pytest.mark.parametrize("scopes", [ALL - {"refresh"}, frozenset({"refresh"})])
def test_a_button_that_would_end_in_a_refusal_is_not_shown(
    portal: PortalFactory, scopes: frozenset[str]
) -> None:
    built = portal()
    pages = Person.at(built).signed_in(issue(built, "balcao", scopes)).pages
    page = pages.get(PAGE)
    assert not page.all("form", action=f"{PAGE}/atualizar")
    assert "O seu acesso não inclui consultar a fonte de novo antes do prazo." in page.text


def test_a_page_tells_its_panels_how_long_the_server_may_work(portal: PortalFactory) -> None:
    """A script that gives up before would say that a paid answer did not come."""
    for deadline, told in (("15", "30"), ("120", "135")):
        page = PageClient(portal({"PORTAL_DEADLINE": deadline}).client).get("/")
        assert page.tree.get("data-panel-seconds") == told


def test_an_answer_that_was_not_kept_is_shown_at_once_and_called_so(
    portal: PortalFactory, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is paid for, and to lead back to the page would show what was known before."""
    built = portal()
    pages = Person.at(built).signed_in(PORTAL_TOKEN).pages
    token = pages.get(f"{PAGE}?completo=1").csrf_token()

    def full(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(SQLiteCache, "replace", full)
    monkeypatch.setattr(SQLiteCache, "set", full)
    page = pages.post(f"{PAGE}/atualizar", 200, data={"csrf_token": token})
    assert isinstance(page, Page)
    assert "A resposta não pôde ser guardada" in page.text
    assert "pode ser cobrada de novo" in page.text
