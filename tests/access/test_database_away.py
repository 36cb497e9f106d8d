"""Authentication and pages while the token or history tables are unavailable."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from portal.access import tokens as tokens_module
from portal.access.history import History
from portal.access.tokens import (
    LAST_KNOWN_S,
    REMEMBERED_S,
    Gatekeeper,
    RefusedToken,
    Tokens,
    TokensUnavailable,
    UnknownToken,
    digest,
)
from portal.storage.database import Database
from tests.conftest import PortalFactory
from tests.fakes import Clock, wait_until
from tests.fakes.databases import PostgresProcess, opened
from tests.fakes.one_tenant import subject_keys, tokens_in
from tests.web.page_client import Page, PageClient

PLATE = "ABC1D23"
DECODE = frozenset({"decode"})
REVOKED_WITHIN_S = 5.0  # the documented time until a revocation takes effect
HIT_CACHE_HOLDS_S = 1.0  # the cache of hits keeps an authorisation for this time


@pytest.fixture
def stoppable() -> Iterator[PostgresProcess]:
    """A PostgreSQL server that the test may stop."""
    with PostgresProcess() as server:
        yield server


def is_read(tokens: Tokens, token_digest: str) -> bool:
    try:
        tokens.identify(token_digest)
    except TokensUnavailable:
        return False
    return True


@pytest.mark.long
@pytest.mark.slow
def test_known_token_outlives_a_short_database_outage(
    stoppable: PostgresProcess, clock: Clock, tmp_path: Path
) -> None:
    """Tokens read before the outage stay valid for ``LAST_KNOWN_S``.

    Tokens from the settings stay valid for the whole outage.
    """
    assert REMEMBERED_S < LAST_KNOWN_S <= REVOKED_WITHIN_S - HIT_CACHE_HOLDS_S
    with opened(stoppable.url, tmp_path) as database:
        tokens = tokens_in(database, ("configured",), clock, clock)
        known, unread = (
            digest(tokens.issue(name, DECODE, None, 0)) for name in ("known", "unread")
        )
        assert tokens.identify(known).name == "known"
        stoppable.stop()
        clock.advance(LAST_KNOWN_S - 0.1)
        assert tokens.identify(known).name == "known"
        for unread_digest in (unread, digest("nobody's")):
            with pytest.raises(TokensUnavailable):  # not UnknownToken, because the token may exist
                tokens.identify(unread_digest)
        clock.advance(0.1)
        with pytest.raises(TokensUnavailable):
            tokens.identify(known)
        assert tokens.identify(digest("configured")).name == "settings:1"
        stoppable.start()
        wait_until(lambda: is_read(tokens, known), "the database")
        assert tokens.identify(known).name == "known"
        with pytest.raises(UnknownToken):
            tokens.identify(digest("nobody's"))


@pytest.mark.long
@pytest.mark.slow
def test_pass_through_accepts_checked_credentials_in_an_outage(
    stoppable: PostgresProcess, clock: Clock, tmp_path: Path
) -> None:
    """Credentials checked before the outage stay accepted; others are rejected."""
    with opened(stoppable.url, tmp_path) as database:
        tokens = tokens_in(database, (), clock, clock)
        portals_own = tokens.issue("ana", DECODE, None, 0)
        gatekeeper = Gatekeeper("pass-through", tokens, b"s" * 32)
        gatekeeper.authenticate("checked")
        stoppable.stop()
        clock.advance(3600)
        assert gatekeeper.authenticate("checked").credential == "checked"
        for unchecked in ("unchecked", portals_own):
            with pytest.raises(TokensUnavailable):
                gatekeeper.authenticate(unchecked)


@pytest.mark.long
@pytest.mark.slow
def test_hung_database_delays_one_page_and_not_the_next(
    stoppable: PostgresProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from portal.storage import postgresql

    monkeypatch.setattr(postgresql, "ANSWER_TIMEOUT_S", 1.0)
    with opened(stoppable.default_url, tmp_path) as database:
        history = History(database, subject_keys(b"s" * 32, lambda subject: f"tag-of-{subject}"))
        history.record("ana", PLATE)
        stoppable.pause()
        assert history.recent("ana") == []
        started = time.monotonic()
        for _ in range(20):
            history.record("ana", PLATE)
            assert history.recent("ana") == []
        assert time.monotonic() - started < 1
        stoppable.resume()
        wait_until(lambda: [each.subject for each in history.recent("ana")] == [PLATE], "the rows")


@pytest.mark.long
@pytest.mark.slow
def test_failed_token_read_pauses_further_reads(
    stoppable: PostgresProcess,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """While PostgreSQL hangs, each read would block a thread until its time-out."""
    from portal.storage import postgresql

    with opened(stoppable.url, tmp_path) as database:
        tokens = tokens_in(database, (), clock, clock)
        known = digest(tokens.issue("known", DECODE, None, 0))
        tokens.identify(known)
        reads: list[Database] = []

        reading = postgresql.PostgresDatabase.reading

        def count_reads(database: postgresql.PostgresDatabase) -> Connection:
            if threading.current_thread() is threading.main_thread():  # omits breaker pings
                reads.append(database)
            return reading(database)

        monkeypatch.setattr(postgresql.PostgresDatabase, "reading", count_reads)
        clock.advance(REMEMBERED_S)
        connect = postgresql._Connection.connect

        def connect_impatiently(*args: Any, **options: Any) -> Any:
            # The test database's address has a ``connect_timeout`` of 60 s.
            return connect(*args, **{**options, "connect_timeout": 2})

        with monkeypatch.context() as while_hanging:
            while_hanging.setattr(postgresql, "ANSWER_TIMEOUT_S", 0.3)
            while_hanging.setattr(postgresql._Connection, "connect", connect_impatiently)
            stoppable.pause()
            for _ in range(50):
                assert tokens.identify(known).name == "known"
            assert len(reads) == 1
            stoppable.resume()
        clock.advance(LAST_KNOWN_S)
        wait_until(lambda: is_read(tokens, known), "the database")
        assert tokens.revoke("known")
        with pytest.raises(RefusedToken):
            tokens.identify(known)


def test_lost_token_table_is_503_for_lookups_not_for_public_pages(
    portal: PortalFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = portal()
    issued = built.app.test_cli_runner().invoke(args=["token", "issue", "ana"])
    token = issued.output.split()[-1]
    pages = PageClient(built.client)
    form = pages.get("/entrar")
    pages.post("/entrar", data={"token": token, "csrf_token": form.csrf_token()})
    assert built.client.get(f"/placa/{PLATE}").status_code == 200

    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("DROP TABLE access_tokens")
    database.close()
    monkeypatch.setattr(tokens_module, "REMEMBERED_S", 0.0)
    monkeypatch.setattr(tokens_module, "LAST_KNOWN_S", 0.0)
    for path in ("/", "/glossario"):
        pages.get(path)
    pages.get("/nada", 404)
    lookup = built.get(f"/detran/v1/decode/{PLATE}", token=token)
    assert lookup.status_code == 503 and "message" in lookup.get_json()
    assert lookup.headers["Retry-After"]
    page = pages.get(f"/placa/{PLATE}", 503)
    assert "Indisponível no momento" in page.text


def test_unreadable_history_does_not_fail_pages(portal: PortalFactory) -> None:
    built = portal({})
    pages = PageClient(built.client)
    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("DROP TABLE history")
    database.close()
    pages.get(f"/placa/{PLATE}")
    pages.get("/")
    pages.get("/buscar?q=x", 400)


def test_closed_portal_looks_no_more_for_its_tables(portal: PortalFactory) -> None:
    built = portal({})
    before = {*threading.enumerate()}
    with closing(sqlite3.connect(built.settings.data_dir / "portal.sqlite")) as database:
        for table in ("history", "declarations", "access_tokens"):
            database.execute(f"DROP TABLE {table}")
    PageClient(built.client).get(f"/placa/{PLATE}")
    built.get("/", "an unknown token")
    pinging = [
        thread
        for thread in threading.enumerate()
        if thread.name == "breaker" and thread not in before
    ]
    assert pinging
    built.parts.close()
    for thread in pinging:
        thread.join(60)
        assert not thread.is_alive()


def test_failed_history_erasure_returns_503(portal: PortalFactory) -> None:
    built = portal({})
    pages = PageClient(built.client)
    pages.get(f"/placa/{PLATE}")
    form = pages.get("/")
    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("ALTER TABLE history RENAME TO elsewhere")
    database.close()
    token = {"csrf_token": form.csrf_token()}
    page = pages.post("/historico/apagar", data=token, status=503)
    assert isinstance(page, Page)
    assert "Indisponível no momento" in page.text


def test_lost_batch_tables_are_503_for_batches_alone(
    portal: PortalFactory, caplog: pytest.LogCaptureFixture
) -> None:
    built = portal({})
    pages = PageClient(built.client)
    csrf_token = {"csrf_token": pages.get("/lote").csrf_token()}
    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("DROP TABLE batches")
        database.execute("ALTER TABLE ledger RENAME TO elsewhere")
    database.close()
    batch = "0" * 24
    for path in ("/lote", f"/lote/{batch}"):
        assert "Indisponível no momento" in pages.get(path, 503).text
    for path in ("/lote", f"/lote/{batch}/iniciar", f"/lote/{batch}/pausar"):
        pages.post(path, 503, data=csrf_token | {"placas": PLATE, "consulta": "decode"})
    pages.get("/")
    base = "/api/v1/batches"
    for method, path in (
        ("GET", base),
        ("POST", base),
        ("GET", f"{base}/{batch}"),
        ("GET", f"{base}/{batch}/results.csv"),
        ("POST", f"{base}/{batch}/start"),
        ("POST", f"{base}/{batch}/cancel"),
    ):
        response = built.client.open(
            path,
            method=method,
            headers={"Authorization": "demo"},
            json={"plates": [PLATE]} if path == base and method == "POST" else None,
        )
        document = response.get_json()
        assert (response.status_code, document["code"]) == (503, "portal_unavailable"), path
        assert response.headers["Retry-After"] == "1"
    assert "unexpected" not in caplog.text
    assert "SQLITE_ERROR" in caplog.text
    assert batch not in caplog.text and PLATE not in caplog.text


def test_data_files_are_accessible_to_their_owner_only(portal: PortalFactory) -> None:
    built = portal({})
    built.client.get(f"/placa/{PLATE}?completo=1")
    kept = [path for path in built.settings.data_dir.iterdir() if path.is_file()]
    assert {"cache.sqlite", "portal.sqlite", "secret_key"} <= {path.name for path in kept}
    for path in kept:
        assert path.stat().st_mode & 0o077 == 0, path.name
