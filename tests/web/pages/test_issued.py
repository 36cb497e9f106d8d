"""Issued dossiers: issue, share, revoke, list, and the pages behind a dossier's link."""

import re
import sqlite3
import time
from contextlib import closing

import pytest

from tests.conftest import PortalFactory
from tests.factories import report_body
from tests.fakes import FaultUpstream
from tests.fakes.in_process import InProcessPortal, pass_through
from tests.web.json_paths import no_upstream_call
from tests.web.page_client import PageClient
from tests.web.person import Person

PLATE = "ABC1D23"
ISSUER = {
    "ISSUER_NAME": "Loja Central Veículos",
    "ISSUER_DOCUMENT": "11222333000181",
    "ISSUER_CONTACT": "(11) 5555-0100",
}


def issue(person: Person, plate: str = PLATE) -> str:
    """Look a plate up, issue its dossier and return its path."""
    person.pages.get(f"/placa/{plate}?completo=1")
    done = person.post(f"/placa/{plate}/dossie/emitir")
    assert done.status_code == 303, done.get_data(as_text=True)
    return str(done.headers["Location"])


def link_of(person: Person, path: str) -> str:
    """The path of a dossier's link."""
    address = str(person.pages.get(path).by_id("link").get("value"))
    return re.sub(r"^https?://[^/]+", "", address)


def stranger(portal: InProcessPortal) -> PageClient:
    return PageClient(portal.app.test_client())


def change_rows(portal: InProcessPortal, change: str) -> None:
    """Change every stored dossier, as time or another process would."""
    with closing(sqlite3.connect(portal.settings.data_dir / "portal.sqlite")) as db, db:
        db.execute(f"UPDATE dossiers SET {change}")


def test_issuing_gives_a_number_a_link_and_the_same_pdf_for_both(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    running = portal(**ISSUER)
    ana = Person.at(running).signed_in()
    ana.pages.get(f"/placa/{PLATE}?completo=1")
    with no_upstream_call(upstream):
        path = issue(ana)
    assert re.fullmatch(r"/dossie/[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){2}", path)
    page = ana.pages.get(path)
    assert path.rpartition("/")[2] in page.h1
    link = link_of(ana, path)
    assert re.fullmatch(r"/d/[A-Za-z0-9_-]{22}", link)
    shared = stranger(running).get(link)
    assert "Dossiê autêntico, emitido por Loja Central Veículos em" in shared.text
    assert "CNPJ 11.222.333/0001-81" in shared.text
    assert path.rpartition("/")[2] in shared.text
    mine = ana.client.get(f"{path}.pdf")
    if mine.status_code == 501:
        pytest.skip("the libraries that WeasyPrint loads are not installed")
    assert mine.content_type == "application/pdf"
    assert mine.data.startswith(b"%PDF")
    assert running.app.test_client().get(f"{link}.pdf").data == mine.data


def test_snapshot_outlives_the_answers_a_restart_and_a_change_upstream(
    portal: PortalFactory, upstream: FaultUpstream
) -> None:
    settings = {"FRESH_DECODE": "1", "STALE_DECODE": "0"}
    first = portal(**settings)
    ana = Person.at(first).signed_in()
    path = issue(ana)
    link = link_of(ana, path)
    client = stranger(first)
    before = [client.client.get(f"{link}{part}").data for part in ("", ".pdf", "/papel")]
    upstream.set("decode", 500)
    ana.post(f"/placa/{PLATE}/atualizar")
    restarted = stranger(portal(**settings))
    with no_upstream_call(upstream):
        after = [restarted.client.get(f"{link}{part}").data for part in ("", ".pdf", "/papel")]
    assert after[1:] == before[1:]
    same = [re.sub(rb"<code>[0-9a-f]{16}</code>", b"", page[0]) for page in (before, after)]
    assert same[0] == same[1]
