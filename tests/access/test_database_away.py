"""With the database of tokens away nobody is let in by mistake, and pages still come."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.access import (
    Gatekeeper,
    RefusedToken,
    Tokens,
    TokensUnavailable,
    UnknownToken,
    digest,
)
from portal.access import tokens as tokens_room
from portal.access.tokens import AWAY_PAUSE_S, LAST_KNOWN_S, REMEMBERED_S
from portal.storage import reading
from tests.conftest import PortalFactory
from tests.fakes import Clock
from tests.fakes.databases import PostgresProcess, opened
from tests.web.page_client import PageClient

PLATE = "ABC1D23"
DECODE = frozenset({"decode"})
REVOKED_WITHIN_S = 5.0  # what is promised
EDGE_HOLDS_S = 1.0  # a judgement of the edge's, which no lookup of a token revises


@pytest.fixture
def mortal() -> Iterator[PostgresProcess]:
    """A server of the test's own, to be stopped."""
    with PostgresProcess() as server:
        yield server


def test_a_token_that_held_goes_on_while_its_revocation_could_not_be_late(
    mortal: PostgresProcess, clock: Clock, tmp_path: Path
) -> None:
    """PostgreSQL dies for real; a short death is nobody's outage, a long one lets nobody in."""
    assert REMEMBERED_S < LAST_KNOWN_S <= REVOKED_WITHIN_S - EDGE_HOLDS_S
    with opened(mortal.url, tmp_path) as engine:
        tokens = Tokens(engine, ("configured",), clock, clock)
        known, late = (digest(tokens.issue(name, DECODE, None, 0)) for name in ("known", "late"))
        assert tokens.identify(known).name == "known"
        mortal.stop()
        clock.advance(LAST_KNOWN_S - 0.1)
        assert tokens.identify(known).name == "known"
        for stranger in (late, digest("nobody's")):
            with pytest.raises(TokensUnavailable):  # not UnknownToken: nobody knows
                tokens.identify(stranger)
        clock.advance(0.1)
        with pytest.raises(TokensUnavailable):
            tokens.identify(known)
        assert tokens.identify(digest("configured")).name == "settings:1"
        mortal.start()
        clock.advance(AWAY_PAUSE_S)
        assert tokens.identify(known).name == "known"
        with pytest.raises(UnknownToken):
            tokens.identify(digest("nobody's"))


def test_pass_through_goes_on_for_credentials_that_were_checked_before(
    mortal: PostgresProcess, clock: Clock, tmp_path: Path
) -> None:
    """A credential that is no portal token does not become one; any other one is not let in."""
    with opened(mortal.url, tmp_path) as engine:
        tokens = Tokens(engine, (), clock, clock)
        portals_own = tokens.issue("ana", DECODE, None, 0)
        gatekeeper = Gatekeeper("pass-through", tokens, b"s" * 32)
        gatekeeper.admit("checked")
        mortal.stop()
        clock.advance(3600)
        assert gatekeeper.admit("checked").credential == "checked"
        for unchecked in ("unchecked", portals_own):
            with pytest.raises(TokensUnavailable):
                gatekeeper.admit(unchecked)


def test_a_failure_is_met_once_and_not_by_everybody_in_turn(
    mortal: PostgresProcess,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The server stands still: to ask it costs a time-out, and a thread for as long."""
    from portal.storage import postgresql

    with opened(mortal.url, tmp_path) as engine:
        tokens = Tokens(engine, (), clock, clock)
        known = digest(tokens.issue("known", DECODE, None, 0))
        tokens.identify(known)
        asked = []
        monkeypatch.setattr(tokens_room, "reading", lambda db: asked.append(db) or reading(db))
        clock.advance(REMEMBERED_S)
        with monkeypatch.context() as paused:
            paused.setattr(postgresql, "ANSWER_TIMEOUT_S", 0.3)
            mortal.pause()
            for _ in range(50):
                assert tokens.identify(known).name == "known"
            assert len(asked) == 1
            mortal.resume()
        clock.advance(AWAY_PAUSE_S)
        assert tokens.revoke("known")
        with pytest.raises(RefusedToken):
            tokens.identify(known)


def test_a_lost_database_is_503_for_vehicles_and_nothing_at_all_for_open_pages(
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
    monkeypatch.setattr(tokens_room, "REMEMBERED_S", 0.0)
    monkeypatch.setattr(tokens_room, "LAST_KNOWN_S", 0.0)
    for path in ("/", "/glossario"):
        pages.get(path)
    pages.get("/nada", 404)
    lookup = built.get(f"/detran/v1/decode/{PLATE}", token=token)
    assert lookup.status_code == 503 and "message" in lookup.json
    assert lookup.headers["Retry-After"]
    page = pages.get(f"/placa/{PLATE}", 503)
    assert "Indisponível no momento" in page.text


def test_a_history_that_cannot_be_read_costs_no_page(portal: PortalFactory) -> None:
    built = portal({})
    pages = PageClient(built.client)
    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("DROP TABLE history")
    database.close()
    pages.get(f"/placa/{PLATE}")
    pages.get("/")
    pages.get("/buscar?q=x", 400)


def test_a_history_that_cannot_be_erased_is_not_said_to_be_gone(portal: PortalFactory) -> None:
    built = portal({})
    pages = PageClient(built.client)
    pages.get(f"/placa/{PLATE}")
    form = pages.get("/")
    with sqlite3.connect(built.settings.data_dir / "portal.sqlite") as database:
        database.execute("ALTER TABLE history RENAME TO elsewhere")
    database.close()
    token = {"csrf_token": form.csrf_token()}
    page = pages.post("/historico/apagar", data=token, status=503)
    assert "Indisponível no momento" in page.text


def test_what_is_kept_is_readable_by_its_owner_alone(portal: PortalFactory) -> None:
    built = portal({})
    built.client.get(f"/placa/{PLATE}?completo=1")
    kept = [path for path in built.settings.data_dir.iterdir() if path.is_file()]
    assert {"cache.sqlite", "portal.sqlite", "secret_key"} <= {path.name for path in kept}
    for path in kept:
        assert path.stat().st_mode & 0o077 == 0, path.name
