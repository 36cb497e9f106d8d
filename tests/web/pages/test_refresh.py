"""The "Atualizar agora" form: result, failures, scopes and price."""

import re
import sqlite3

import pytest

from portal.gateway.sqlite_cache import SQLiteCache
from tests.conftest import PortalFactory
from tests.factories import fine, renainf_body
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.web.json_paths import issue
from tests.web.page_client import Page, PageClient
from tests.web.person import Person

PAGE = "/placa/ABC1D23"
ALL = frozenset({"decode", "renainf", "renajud", "report", "refresh"})


def refresh(pages: PageClient) -> Page:
    token = pages.get(PAGE).csrf_token()
    pages.post(f"{PAGE}/atualizar", data={"csrf_token": token})
    return pages.get(PAGE)


def disk_full(*_: object, **__: object) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def status_of(page: Page) -> str:
    (notice,) = page.all("div", role="status")
    return " ".join("".join(notice.itertext()).split())


def test_complete_refresh_shows_its_time(buyer: PageClient) -> None:
    buyer.get(f"{PAGE}?completo=1")
    after = refresh(buyer)
    assert re.fullmatch(r"Atualizado às \d\d:\d\d: nada mudou", status_of(after))
    assert "resposta guardada no portal" not in after.text
    assert "Nem tudo" not in after.text


def test_refresh_says_what_changed(buyer: PageClient, upstream: FaultUpstream) -> None:
    buyer.get(f"{PAGE}?completo=1")
    more = faults.answer("given", renainf_body(fine(), fine(), fine()))
    upstream.script(path_of("renainf", "ABC1D23"), more)
    assert re.search(r"\d\d:\d\d: \d+ mudanças? em multas$", status_of(refresh(buyer)))


def test_failed_lookup_in_refresh_is_named(buyer: PageClient, upstream: FaultUpstream) -> None:
    buyer.get(f"{PAGE}?completo=1")
    upstream.script("/detran/v1/restrictions/renainf", faults.status(500))
    status_text = status_of(refresh(buyer))
    assert status_text.startswith("Nem tudo foi atualizado")
    assert "Multas: não veio resposta nova." in status_text
    assert "Dados do veículo" not in status_text


def test_token_limit_is_given_as_the_reason(portal: PortalFactory) -> None:
    built = portal()
    token = issue(built, "balcao", ALL, daily_limit=3)
    pages = Person.at(built).signed_in(token).pages
    pages.get(f"{PAGE}?completo=1")
    status_text = status_of(refresh(pages))
    assert "O limite diário de consultas do seu acesso foi atingido." in status_text
    assert "não respondeu" not in status_text


def test_refresh_form_says_what_is_left_today(portal: PortalFactory) -> None:
    built = portal()
    pages = Person.at(built).signed_in(issue(built, "balcao", ALL, daily_limit=9)).pages
    assert "restam 2 hoje" in pages.get(f"{PAGE}?completo=1").text
    refresh(pages)
    assert "resta 1 hoje" in pages.get(PAGE).text
    spent = refresh(pages)
    assert "O limite de consultas de hoje foi usado" in spent.text
    assert not spent.all("form", action=f"{PAGE}/atualizar")


def test_out_of_scope_lookups_are_neither_run_nor_reported(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    built = portal()
    token = issue(built, "balcao", frozenset({"decode", "renainf", "refresh"}))
    pages = Person.at(built).signed_in(token).pages
    page = pages.get(f"{PAGE}?completo=1")
    assert upstream.count() == 2
    assert "Atualizado às" in status_of(refresh(pages))
    assert upstream.count() == 4
    assert "O seu acesso não inclui escrever análises." in page.text
    assert not page.all("form", action=f"{PAGE}/laudo")


def test_refresh_price_covers_only_lookups_in_scope(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    prices = {f"PORTAL_PRICE_{name}": "2" for name in ("DECODE", "RENAINF", "RENAJUD")}
    built = portal(managed(upstream.url) | prices)
    for scopes, price_text in (
        (ALL, "as três consultas custam R$ 6,00"),
        (ALL - {"decode"}, "as duas consultas custam R$ 4,00"),
        (ALL - {"decode", "renajud"}, "a consulta custa R$ 2,00"),
    ):
        token = issue(built, f"of-{len(scopes)}", scopes)
        assert price_text in Person.at(built).signed_in(token).pages.get(PAGE).text


@pytest.mark.parametrize("scopes", [ALL - {"refresh"}, frozenset({"refresh"})])
def test_refresh_button_requires_its_scopes(portal: PortalFactory, scopes: frozenset[str]) -> None:
    built = portal()
    pages = Person.at(built).signed_in(issue(built, "balcao", scopes)).pages
    page = pages.get(PAGE)
    assert not page.all("form", action=f"{PAGE}/atualizar")
    assert "O seu acesso não inclui" in page.text


def test_panel_timeout_follows_the_deadline(portal: PortalFactory) -> None:
    """With a shorter time-out the script would report a paid answer as missing."""
    for deadline, expected in (("15", "30"), ("120", "135")):
        page = PageClient(portal({"PORTAL_DEADLINE": deadline}).client).get("/")
        assert page.tree.get("data-panel-seconds") == expected


def test_unstored_answer_is_shown_at_once_with_a_notice(
    portal: PortalFactory, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A redirect would show the previous answer, not the answer just paid for."""
    built = portal()
    pages = Person.at(built).signed_in(PORTAL_TOKEN).pages
    token = pages.get(f"{PAGE}?completo=1").csrf_token()

    monkeypatch.setattr(SQLiteCache, "replace", disk_full)
    page = pages.post(f"{PAGE}/atualizar", 200, data={"csrf_token": token})
    assert isinstance(page, Page)
    assert "A resposta não pôde ser guardada" in page.text
    assert "pode ser cobrada de novo" in page.text


def test_page_with_unstored_answers_says_what_is_left_today(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = portal()
    pages = Person.at(built).signed_in(issue(built, "balcao", ALL, daily_limit=9)).pages
    token = pages.get(f"{PAGE}?completo=1").csrf_token()
    monkeypatch.setattr(SQLiteCache, "replace", disk_full)
    page = pages.post(f"{PAGE}/atualizar", 200, data={"csrf_token": token})
    assert isinstance(page, Page)
    assert "resta 1 hoje" in page.text


def test_page_with_unstored_answers_says_that_the_report_is_outdated(
    portal: PortalFactory, upstream: FaultUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    buyer, path = Person.at(portal()).signed_in().pages, path_of("renainf")
    upstream.script(path, faults.answer("none", renainf_body()))
    page = buyer.get("/placa/ABC1D23?completo=1")
    token = {"csrf_token": page.csrf_token()}
    buyer.post("/placa/ABC1D23/laudo", data=token)
    upstream.script(path, faults.answer("one", renainf_body(fine())))
    monkeypatch.setattr(SQLiteCache, "replace", disk_full)
    unstored = buyer.post("/placa/ABC1D23/atualizar", 200, data=token)
    assert isinstance(unstored, Page)
    assert "A resposta não pôde ser guardada" in unstored.text
    assert "Os registros mudaram desde então" in unstored.text
