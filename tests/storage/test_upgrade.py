"""Upgrade of a database of the former layout: its rows are kept and not served."""

import multiprocessing
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, make_url

from portal.access import History, RefusedToken, Tokens, UnknownToken, digest
from portal.gateway import Ledger
from tests.fakes.databases import Database, opened

SPAWN = multiprocessing.get_context("spawn")
NUMBER = {"sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT", "postgresql": "SERIAL PRIMARY KEY"}
BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}
TAG = "t" * 24
FORMER = """
CREATE TABLE tokens (digest VARCHAR(64) NOT NULL PRIMARY KEY, name VARCHAR(80) NOT NULL UNIQUE,
    scopes VARCHAR(200) NOT NULL, daily_limit INTEGER NOT NULL, created_at FLOAT NOT NULL,
    expires_at FLOAT, revoked_at FLOAT);
CREATE TABLE ledger (id {number}, sent_at FLOAT NOT NULL, day VARCHAR(10) NOT NULL,
    operation VARCHAR(10) NOT NULL, subject VARCHAR(64) NOT NULL, origin VARCHAR(20) NOT NULL,
    caller VARCHAR(80) NOT NULL, price VARCHAR(20) NOT NULL, outcome VARCHAR(20) NOT NULL,
    status INTEGER);
CREATE TABLE spending (day VARCHAR(10) NOT NULL, payer VARCHAR(90) NOT NULL,
    calls INTEGER NOT NULL, PRIMARY KEY (day, payer));
CREATE TABLE hits (day VARCHAR(10) NOT NULL, operation VARCHAR(10) NOT NULL,
    price VARCHAR(20) NOT NULL, hits INTEGER NOT NULL, collapsed INTEGER NOT NULL,
    PRIMARY KEY (day, operation, price));
CREATE TABLE history (id {number}, visitor VARCHAR(64) NOT NULL, subject VARCHAR(64) NOT NULL,
    asked_at FLOAT NOT NULL, sealed {bytes} NOT NULL);
INSERT INTO tokens VALUES ('{live}', 'ana', 'decode', 0, 1790000000.5, NULL, NULL);
INSERT INTO tokens VALUES ('{revoked}', 'bia', 'decode', 5, 1790000000.5, NULL, 1790000001.5);
INSERT INTO history (visitor, subject, asked_at, sealed) VALUES ('ana', '{tag}', 4e9, 'sealed')
"""
A_ROW = (
    "INSERT INTO ledger (sent_at, day, operation, subject, origin, caller, price, outcome, status) "
    f"VALUES (1790000000.5, '2026-09-21', 'decode', '{TAG}', 'primary', 'ana', '0.30', 'answered', "
    "200)"
)


def execute(database: Database, script: str) -> list[tuple[object, ...]]:
    """Run each statement as the former version would; return the rows of the last one."""
    if database.url is None:
        engine = create_engine(f"sqlite:///{database.folder / 'portal.sqlite'}")
    else:
        engine = create_engine(make_url(database.url).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as db:
            for statement in filter(str.strip, script.split(";")):
                found = db.exec_driver_sql(statement)
            return [tuple(row) for row in found] if found.returns_rows else []
    finally:
        engine.dispose()


@pytest.fixture
def former(database: Database) -> Database:
    kind = "sqlite" if database.url is None else "postgresql"
    execute(
        database,
        FORMER.format(
            number=NUMBER[kind],
            bytes=BYTES[kind],
            live=digest("live"),
            revoked=digest("revoked"),
            tag=TAG,
        )
        + f"; {A_ROW}; {A_ROW}",
    )
    return database


@pytest.fixture
def upgraded(former: Database) -> Iterator[Engine]:
    with opened(former.url, former.folder) as engine:
        yield engine


def test_former_rows_are_set_aside_and_logged_once(
    former: Database, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        with opened(former.url, former.folder) as engine:
            assert list(Ledger(engine).rows()) == []
            assert [row.caller for row in Ledger(engine).rows(everywhere=True)] == ["ana", "ana"]
    (line,) = caplog.messages
    assert "2 ledger rows and 2 tokens are set aside" in line
    assert "issue tokens again" in line
    assert execute(former, "SELECT name FROM tokens ORDER BY name") == [("ana",), ("bia",)]


def test_empty_former_database_logs_nothing(
    former: Database, caplog: pytest.LogCaptureFixture
) -> None:
    execute(former, "DELETE FROM ledger; DELETE FROM tokens")
    with opened(former.url, former.folder):
        assert caplog.messages == []


def _open(database: Database, ended: "multiprocessing.Queue[str]") -> None:
    try:
        database.open().dispose()
    except Exception as error:
        ended.put(str(error))
    else:
        ended.put("")


def test_concurrent_starts_upgrade_once(former: Database) -> None:
    ended = SPAWN.Queue()
    racers = [SPAWN.Process(target=_open, args=(former, ended)) for _ in range(4)]
    for racer in racers:
        racer.start()
    assert {ended.get(timeout=120) for _ in racers} == {""}
    for racer in racers:
        racer.join(60)
    with opened(former.url, former.folder) as engine:
        assert len(list(Ledger(engine).rows(everywhere=True))) == 2
    assert execute(former, "SELECT count(*) FROM access_tokens") == [(2,)]


def test_former_tokens_are_unknown_and_their_names_reusable(upgraded: Engine) -> None:
    tokens = Tokens(upgraded, ())
    for token in ("live", "revoked"):
        with pytest.raises(UnknownToken):
            tokens.identify(digest(token))
        assert tokens.was_issued(digest(token))
    assert tokens.listed() == []
    assert not tokens.revoke("ana")
    again = tokens.issue("ana", frozenset({"decode"}), None, 0)
    assert tokens.identify(digest(again)).name == "ana"


def test_purge_reaches_former_rows(former: Database, upgraded: Engine) -> None:
    assert Ledger(upgraded).forget(TAG) == 2
    History(upgraded, b"s" * 32, lambda _: TAG).forget("ABC1D23")
    assert execute(former, "SELECT subject FROM ledger") == [("",), ("",)]
    assert execute(former, "SELECT count(*) FROM history") == [(0,)]


def test_former_version_can_keep_writing(former: Database, upgraded: Engine) -> None:
    """Machines are upgraded one after another, so both versions run at the same time."""
    execute(former, f"{A_ROW}; UPDATE tokens SET revoked_at = 1790000002.5 WHERE name = 'ana'")
    assert list(Ledger(upgraded).rows()) == []
    assert len(list(Ledger(upgraded).rows(everywhere=True))) == 3


def test_token_of_another_namespace_is_unknown(engine: Engine) -> None:
    here, there = Tokens(engine, (), namespace="here"), Tokens(engine, (), namespace="there")
    token = digest(here.issue("ana", frozenset({"decode"}), None, 0))
    elsewhere = digest(there.issue("ana", frozenset({"report"}), None, 0))
    assert here.identify(token).scopes == {"decode"}
    with pytest.raises(UnknownToken):
        here.identify(elsewhere)
    assert there.revoke("ana")
    assert here.identify(token).name == "ana"
    with pytest.raises(UnknownToken):
        here.identify(elsewhere)
    with pytest.raises(RefusedToken):
        Tokens(engine, (), namespace="there").identify(elsewhere)
