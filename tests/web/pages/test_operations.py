"""The operator's pages: who sees them, what they show, tokens issued and revoked."""

import logging
import random
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, insert

from portal.access import tokens as access_tokens
from portal.access.tokens import SCOPES, RefusedToken, digest
from portal.storage.database import Database
from portal.storage.tables import ledger, lookup_counts
from portal.system.local_time import from_epoch
from portal.web.http import sessions
from tests.conftest import PortalFactory
from tests.fakes import FaultUpstream, faults
from tests.fakes.databases import kept_open
from tests.fakes.in_process import PORTAL_TOKEN, InProcessPortal, pass_through
from tests.web.json_paths import PLATE, issue, tokens_of
from tests.web.page_client import Page
from tests.web.person import Person

PATHS = (
    "/operacao",
    "/operacao/tokens/emitir",
    "/operacao/tokens/ana/revogar",
)
ROWS = 20_000


@pytest.fixture
def here(portal: PortalFactory) -> InProcessPortal:
    return portal(
        PRICE_DECODE="0.85", PRICE_RENAINF="0.95", PRICE_RENAJUD="0", DAILY_CALL_LIMIT="50"
    )


@pytest.fixture
def operator(here: InProcessPortal) -> Person:
    return Person.at(here).signed_in()


def engine_of(here: InProcessPortal) -> Database:
    return kept_open(here.settings.database_url, here.settings.data_dir)


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect the SQL statements of every engine in this process.

    The pings of the breaker's thread are left out, because only a slow read causes them.
    """
    seen: list[str] = []

    def note(_db: Any, _cursor: Any, statement: str, *_rest: object) -> None:
        if threading.current_thread().name != "breaker":
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


def cells(page: Page, caption: str) -> list[list[str]]:
    """Return the rows of a table as texts."""
    for table in page.all("table"):
        if caption in "".join(table[0].itertext()):
            rows = table.iter("{http://www.w3.org/1999/xhtml}tr")
            return [[" ".join("".join(cell.itertext()).split()) for cell in row] for row in rows][
                1:
            ]
    raise AssertionError(f"no table {caption!r}")


# Access


@pytest.fixture
def quiet(here: InProcessPortal, monkeypatch: pytest.MonkeyPatch) -> InProcessPortal:
    """A portal without scheduled reads. It caches a token for the whole test."""
    here.client.get("/healthz")
    here.parts.scheduler.stop()
    monkeypatch.setattr(access_tokens, "REMEMBERED_S", 600.0)
    return here


@pytest.mark.parametrize("path", PATHS)
def test_signed_out_visitor_is_led_to_sign_in(quiet: InProcessPortal, path: str) -> None:
    with statements() as seen:
        response = quiet.client.get(path)
    assert response.status_code == 303
    assert response.headers["Location"] == "/entrar?next=/operacao"
    assert seen == []


@pytest.mark.parametrize("path", PATHS)
def test_token_without_admin_gets_403_and_no_query(quiet: InProcessPortal, path: str) -> None:
    token = issue(quiet, "ana", SCOPES - {"admin"})
    ana = Person.at(quiet).signed_in(token)  # reads and caches the token's row
    with statements() as seen:
        page = ana.pages.get(path, 403)
        posted = ana.client.post(path, data={"csrf_token": page.csrf_token()})
    assert posted.status_code in (403, 405)
    assert seen == []
    assert not page.all("a", href="/operacao")
    (kept,) = tokens_of(quiet).listed()
    assert (kept.name, kept.revoked_at) == ("ana", None)


def test_demo_visitor_must_sign_in_with_an_admin_token(portal: PortalFactory) -> None:
    here = portal({"PORTAL_ACCESS_TOKENS": "operator-of-the-demo"})
    assert here.client.get("/operacao").status_code == 303
    assert Person.at(here).signed_in("demo").client.get("/operacao").status_code == 403
    page = Person.at(here).signed_in("operator-of-the-demo").pages.get("/operacao")
    assert page.h1 == "Operação"


@pytest.mark.parametrize("path", PATHS)
def test_pass_through_has_no_operator(
    portal: PortalFactory, upstream: FaultUpstream, path: str
) -> None:
    here = portal(pass_through(upstream.url))
    assert here.client.get(path).status_code == 403
    assert Person.at(here).signed_in("own-credential").client.get(path).status_code == 403


def test_menu_leads_operators_there(here: InProcessPortal, operator: Person) -> None:
    assert operator.pages.get("/").all("a", href="/operacao")
    assert not Person.at(here).pages.get("/").all("a", href="/operacao")


def test_page_is_neither_stored_nor_indexed(operator: Person) -> None:
    headers = operator.pages.get("/operacao").headers
    assert headers["Cache-Control"] == "no-store, private"
    assert headers["X-Robots-Tag"] == "noindex"


# What the page shows


def test_lookups_of_json_and_pages_are_shown_by_token(
    here: InProcessPortal, upstream: FaultUpstream
) -> None:
    robot = issue(here, "robot")
    for _ in range(4):
        here.get(f"/detran/v1/decode/{PLATE}", token=robot)
    Person.at(here).signed_in(issue(here, "maria")).client.get(f"/placa/{PLATE}?completo=1")
    upstream.default(faults.status(503))
    here.get("/detran/v1/decode/LMP0A01", token=robot)
    run_scheduled(here)
    page = Person.at(here).signed_in().pages.get("/operacao")
    by_token = {row[0]: row[1:] for row in cells(page, "por token")}
    # Columns: lookups, calls, hits, collapsed, stale, spent, saved.
    assert by_token["robot"][2:6] == ["3", "0", "0", by_token["robot"][5]]
    assert by_token["maria"][:4] == ["3", "2", "1", "0"]
    assert by_token["maria"][-2:] == ["R$ 0,95", "R$ 0,85"]
    assert cells(page, "Falhas das chamadas")[0][0].startswith("Erro da fonte")
    assert "de 50 chamadas hoje" in page.text


def run_scheduled(here: InProcessPortal) -> None:
    """Run what the scheduler would: count the hits, then write the counts."""
    for _ in range(2):
        here.parts.scheduler.run_all()


def test_page_names_no_plate(here: InProcessPortal, operator: Person) -> None:
    operator.client.get(f"/placa/{PLATE}?completo=1")
    batch = operator.client.post(
        "/lote",
        data={"csrf_token": operator.csrf_token(), "placas": "LMP0A01", "consulta": ["decode"]},
    ).headers["Location"]
    operator.post(f"{batch}/iniciar")
    run_scheduled(here)
    page = operator.pages.get("/operacao")
    for plate in (PLATE, "LMP0A01", "LMP-0A01"):
        assert plate not in page.html
    assert not re.search(r"\b[A-Z]{3}-?[0-9][A-Z0-9][0-9]{2}\b", page.text)


def test_breaker_state_is_shown(here: InProcessPortal, operator: Person, upstream: Any) -> None:
    upstream.default(faults.status(503))
    for number in range(6):
        here.get(f"/detran/v1/decode/AAA0A{number:02}")
    assert "aberto, testa às" in operator.pages.get("/operacao").text


def fill(database: Database, namespace: str, rows: int = ROWS) -> None:
    """Write ledger rows and counts of the last 30 days for forty tokens."""
    chance, now = random.Random(7), time.time()
    calls, counts = [], {}
    for number in range(rows):
        at = now - chance.random() * 29 * 86400
        day = from_epoch(at).date().isoformat()
        caller, operation = f"token-{number % 40}", ("decode", "renainf", "renajud")[number % 3]
        outcome = "timed_out" if number % 40 == 0 else "answered"
        calls.append(
            {
                "sent_at": at,
                "day": day,
                "operation": operation,
                "subject": f"{number:024}",
                "origin": "primary",
                "caller": caller,
                "price": "0.85",
                "outcome": outcome,
                "status": 200,
                "namespace": namespace,
                "batch": None,
            }
        )
        counts[day, caller, operation] = {
            "namespace": namespace,
            "day": day,
            "caller": caller,
            "operation": operation,
            "price": "0.85",
            "hits": 3,
            "stale": 1,
            "collapsed": 1,
        }
    with database.writing() as db:
        db.execute(insert(ledger), calls)
        db.execute(insert(lookup_counts), list(counts.values()))


def test_twenty_thousand_rows_take_as_many_queries_as_none(
    quiet: InProcessPortal, operator: Person
) -> None:
    def queries() -> int:
        with statements() as seen:
            operator.pages.get("/operacao")
        return sum("PRAGMA busy" not in statement for statement in seen)

    empty = queries()
    fill(engine_of(quiet), quiet.settings.namespace)
    with engine_of(quiet).reading() as db:
        assert db.exec_driver_sql("SELECT count(*) FROM ledger").scalar() == ROWS
    assert queries() == empty
    assert empty <= 13
    assert "os outros" in operator.pages.get("/operacao").text


# Tokens


def test_issued_token_is_shown_once_and_works(
    here: InProcessPortal, operator: Person, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    fields = {"nome": "loja-2", "permissao": "decode", "dias": "30", "limite": "5"}
    response = operator.post("/operacao/tokens/emitir", **fields)
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "no-store, private"
    message = re.search(r"<textarea[^>]*>(.*?)</textarea>", response.get_data(as_text=True), re.S)
    assert message is not None
    enter, token, terms = message[1].splitlines()
    assert enter == "Entre em http://localhost/entrar com este token:"
    assert re.fullmatch(r"Vale até ../../20... São 5 chamadas por dia. Não o repasse.", terms)
    assert here.get(f"/detran/v1/decode/{PLATE}", token=token).status_code == 200
    assert here.get(f"/detran/v1/restrictions/renainf/{PLATE}", token=token).status_code == 403
    (listed,) = tokens_of(here).listed()
    assert (listed.name, listed.scopes, listed.daily_limit) == ("loja-2", frozenset({"decode"}), 5)
    assert listed.expires_at is not None
    assert listed.expires_at - listed.created_at == timedelta(days=30).total_seconds()
    assert token not in operator.pages.get("/operacao").html
    (line,) = [each for each in caplog.records if each.name == "portal.audit"]
    assert line.fields["token_name"] == "loja-2"  # type: ignore[attr-defined]
    assert line.fields["by"] == "settings:1"  # type: ignore[attr-defined]
    everything = "".join(f"{each.getMessage()}{vars(each)}" for each in caplog.records)
    for secret in (token, digest(token), PORTAL_TOKEN):
        assert secret not in everything


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"nome": "é loja", "permissao": "decode"}, "Só letras sem acento"),
        ({"nome": "", "permissao": "decode"}, "Só letras sem acento"),
        ({"nome": "loja"}, "ao menos uma permissão"),
        ({"nome": "loja", "permissao": "root"}, "ao menos uma permissão"),
        ({"nome": "loja", "permissao": "decode", "dias": "0"}, "número de dias"),
        ({"nome": "loja", "permissao": "decode", "dias": "٣"}, "número de dias"),
        ({"nome": "loja", "permissao": "decode", "limite": "-1"}, "Um número de chamadas"),
        ({"nome": "taken", "permissao": "decode"}, "Já existe um token"),
    ],
)
def test_wrong_form_is_kept_and_issues_nothing(
    here: InProcessPortal, operator: Person, fields: dict[str, str], problem: str
) -> None:
    issue(here, "taken")
    data = {"csrf_token": operator.csrf_token(), **fields}
    page = operator.pages.post("/operacao/tokens/emitir", 400, data=data)
    assert isinstance(page, Page)
    assert problem in page.text
    assert page.by_id("nome").get("value") == fields["nome"]
    assert [each.name for each in tokens_of(here).listed()] == ["taken"]


def test_new_token_form_proposes_lookups_an_end_and_a_limit(operator: Person) -> None:
    form = operator.pages.get("/operacao/tokens/emitir")
    assert (form.by_id("dias").get("value"), form.by_id("limite").get("value")) == ("90", "50")
    ticked = [one.get("value") for one in form.all("input", checked="")]
    assert ticked == ["decode", "renainf", "renajud"]


def test_usage_is_a_file_for_a_spreadsheet(here: InProcessPortal, operator: Person) -> None:
    operator.pages.get(f"/placa/{PLATE}?completo=1")
    assert here.app.test_client().get("/operacao/uso.csv").status_code == 303
    answer = operator.client.get("/operacao/uso.csv?dias=7")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    lines = answer.get_data(as_text=True).splitlines()
    assert lines[0] == "\ufeffday;operation;lookups;calls;hits;collapsed;stale;spent;saved"
    today = f"{from_epoch(time.time()):%d/%m/%Y}"
    assert lines[1:] == [
        f"{today};decode;1;1;0;0;0;0,85;0",
        f"{today};renainf;1;1;0;0;0;0,95;0",
        f"{today};renajud;1;1;0;0;0;0;0",
    ]


def test_revoked_token_is_refused(here: InProcessPortal, operator: Person) -> None:
    token = issue(here, "ana")
    assert operator.pages.get("/operacao").all("a", href="/operacao/tokens/ana/revogar")
    question = operator.pages.get("/operacao/tokens/ana/revogar")
    assert question.h1 == "Revogar o token ana?"
    response = operator.post("/operacao/tokens/ana/revogar")
    assert response.headers["Location"] == "/operacao#tokens"
    with pytest.raises(RefusedToken):
        tokens_of(here).identify(digest(token))
    page = operator.pages.get("/operacao")
    assert "O token ana foi revogado." in page.text
    assert not page.all("a", href="/operacao/tokens/ana/revogar")
    assert operator.post("/operacao/tokens/ana/revogar").status_code == 303
    assert "Nenhum token válido se chama ana." in operator.pages.get("/operacao").text


def test_forms_need_the_csrf_token(here: InProcessPortal, operator: Person) -> None:
    issue(here, "ana")
    for path in PATHS[1:]:
        fields = {"nome": "x", "permissao": "decode", "csrf_token": "wrong"}
        assert operator.client.post(path, data=fields).status_code == 400
    assert [(each.name, each.revoked_at) for each in tokens_of(here).listed()] == [("ana", None)]


class TestOldSignIn:
    """After an old sign-in the operator must enter the token again."""

    @pytest.fixture
    def stale(self, here: InProcessPortal, monkeypatch: pytest.MonkeyPatch) -> Person:
        issue(here, "ana")
        person = Person.at(here).signed_in()
        monkeypatch.setattr(sessions, "FRESH_SIGN_IN_S", -1)
        return person

    def test_nothing_is_done_without_the_token(self, here: InProcessPortal, stale: Person) -> None:
        stale.pages.get("/operacao")
        assert stale.pages.get(PATHS[1]).all("input", id="token")
        assert stale.post(PATHS[1], nome="x", permissao="decode").status_code == 400
        for wrong in ("", "another-token", "é"):
            assert stale.post(PATHS[2], token=wrong).status_code == 400
        assert [(each.name, each.revoked_at) for each in tokens_of(here).listed()] == [
            ("ana", None)
        ]

    def test_another_admin_token_is_not_enough(self, here: InProcessPortal, stale: Person) -> None:
        other = issue(here, "other")
        assert stale.post(PATHS[2], token=other).status_code == 400

    def test_own_token_is_enough(
        self, here: InProcessPortal, stale: Person, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        response = stale.post(PATHS[1], nome="x", permissao="decode", token=PORTAL_TOKEN)
        assert response.status_code == 200
        assert [each.name for each in tokens_of(here).listed()] == ["ana", "x"]
        monkeypatch.setattr(sessions, "FRESH_SIGN_IN_S", 600)
        assert not stale.pages.get(PATHS[1]).all("input", id="token")

    def test_wrong_tokens_are_limited(self, stale: Person) -> None:
        told = [stale.post(PATHS[2], token="wrong").get_data(as_text=True) for _ in range(7)]
        assert "Tentativas demais" in told[-1]
        assert "Tentativas demais" in stale.post(PATHS[2], token=PORTAL_TOKEN).get_data(
            as_text=True
        )


def test_database_outage_is_a_503(here: InProcessPortal, operator: Person) -> None:
    with engine_of(here).writing() as db:
        db.exec_driver_sql("DROP TABLE lookup_counts")
    page = operator.pages.get("/operacao", 503)
    assert "lookup_counts" not in page.html


# What flask doctor checks


def test_checkup_is_made_on_demand_and_names_what_is_wrong(
    here: InProcessPortal, operator: Person, upstream: FaultUpstream
) -> None:
    page = operator.pages.get("/operacao")
    assert page.all("a", href="/operacao?dias=30&verificar=1#verificacao")
    assert "em ordem" not in page.text
    text = operator.pages.get("/operacao?verificar=1").text
    assert "Banco de dados: em ordem" in text
    assert "Endereço principal da fonte: em ordem" in text
    assert "Página de privacidade: há uma observação" in text
    assert "há algo errado" not in text
    assert upstream.count() == 0
