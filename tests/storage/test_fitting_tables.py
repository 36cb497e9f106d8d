"""At its start, the portal checks the database's tables and write permissions."""

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import ProgrammingError

from portal.gateway import ledger as ledger_module
from portal.gateway.lookup import Failure
from portal.storage.opening import open_database
from portal.storage.schema import SchemaMismatch
from portal.system import repeated_warning
from tests.fakes import Clock
from tests.fakes.databases import EmptyDatabase, PostgresProcess, kept_open, opened
from tests.fakes.one_tenant import ledger_of, tokens_in
from tests.gateway.ledgers import buy, spent

CHANGES = {
    "ALTER TABLE lookup_counts DROP COLUMN stale": "lookup_counts.stale is missing",
    "ALTER TABLE access_tokens DROP COLUMN daily_limit": "access_tokens.daily_limit is missing",
    "DROP TABLE call_counters": "call_counters is missing",
    "ALTER TABLE ledger ADD COLUMN vat INTEGER NOT NULL": (
        "ledger.vat is unknown and must not be NULL"
    ),
}
HARMLESS = [
    "ALTER TABLE ledger ADD COLUMN note VARCHAR",
    "ALTER TABLE ledger ADD COLUMN vat INTEGER DEFAULT 0 NOT NULL",
    "CREATE TABLE mine (id INTEGER)",
]


def change(empty_database: EmptyDatabase, statement: str) -> None:
    with (
        opened(empty_database.url, empty_database.folder) as database,
        database.engine.begin() as db,
    ):
        if empty_database.url is None:  # SQLite cannot add this column without a default
            statement = statement.replace("ADD COLUMN vat INTEGER NOT NULL", "RENAME TO former")
        db.exec_driver_sql(statement)
        if statement.endswith("RENAME TO former"):
            db.exec_driver_sql(
                "CREATE TABLE ledger AS SELECT * FROM former",
            )
            sql = "SELECT sql FROM sqlite_master WHERE name = 'former'"
            made = str(db.exec_driver_sql(sql).scalar())
            db.exec_driver_sql("DROP TABLE ledger")
            db.exec_driver_sql(
                made.replace('"former" (', "ledger (vat INTEGER NOT NULL, ", 1),
            )


@pytest.mark.parametrize("statement", CHANGES)
def test_changed_tables_end_the_start_with_what_is_missing(
    empty_database: EmptyDatabase, statement: str
) -> None:
    change(empty_database, statement)
    with pytest.raises(SchemaMismatch) as caught:
        open_database(empty_database.url, empty_database.folder)
    assert str(caught.value) == f"the database's tables were changed: {CHANGES[statement]}"


@pytest.mark.parametrize("statement", HARMLESS)
def test_harmless_additions_are_accepted(empty_database: EmptyDatabase, statement: str) -> None:
    change(empty_database, statement)
    with opened(empty_database.url, empty_database.folder) as database:
        buy(ledger_of(database))


def run(url: str, *statements: str) -> None:
    address = make_url(url).set(drivername="postgresql+psycopg")
    database = create_engine(address, isolation_level="AUTOCOMMIT")
    with database.engine.connect() as db:
        for statement in statements:
            db.exec_driver_sql(statement)
    database.dispose()


@pytest.fixture
def url(postgres: PostgresProcess, tmp_path: Path) -> str:
    """The address of a PostgreSQL database with the portal's tables."""
    made = postgres.new_database()
    open_database(made, tmp_path).dispose()
    return made


@pytest.mark.long
@pytest.mark.slow
def test_missing_right_ends_the_start(url: str, tmp_path: Path) -> None:
    run(
        url,
        "DROP ROLE IF EXISTS narrow",
        "CREATE ROLE narrow LOGIN",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO narrow",
    )
    with pytest.raises(ProgrammingError, match="permission denied for sequence ledger_id_seq"):
        open_database(url.replace("portal@", "narrow@"), tmp_path)
    run(url, "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO narrow")
    open_database(url.replace("portal@", "narrow@"), tmp_path).dispose()
    run(url, "DROP OWNED BY narrow", "DROP ROLE narrow")


@pytest.mark.long
@pytest.mark.slow
def test_read_only_database_is_a_line_once_a_minute(
    url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = make_url(url).database
    run(url, f'ALTER DATABASE "{name}" SET default_transaction_read_only = on')
    clock = Clock()
    warn = repeated_warning.RepeatedWarning(logging.getLogger("portal.ledger"), clock)
    monkeypatch.setattr(ledger_module, "_warn", warn)
    ledger = ledger_of(kept_open(url, tmp_path))
    assert caplog.messages == ["the database refuses writes: InternalError, SQLSTATE 25006"]
    caplog.clear()
    for _ in range(3):
        for _ in range(20):
            with pytest.raises(Failure):
                buy(ledger)
        clock.advance(61)
    line = "cannot write to the ledger, so nothing is sent: InternalError, SQLSTATE 25006"
    assert caplog.messages == [line] * 3


@pytest.mark.long
@pytest.mark.slow
def test_database_without_an_encoding_holds_portuguese_text(
    postgres: PostgresProcess, tmp_path: Path
) -> None:
    """``initdb`` under LANG=C creates databases with this encoding."""
    run(
        postgres.url,
        "CREATE DATABASE ascii ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'",
    )
    database = kept_open(postgres.url.replace("/postgres", "/ascii"), tmp_path)
    tokens = tokens_in(database, [])
    tokens.issue("joão", frozenset({"decode"}), None, 0)
    assert [each.name for each in tokens.listed()] == ["joão"]


@pytest.mark.long
@pytest.mark.slow
def test_fewer_connections_than_the_pool_wants_are_shared(url: str, tmp_path: Path) -> None:
    run(
        url,
        "DROP ROLE IF EXISTS few",
        "CREATE ROLE few LOGIN CONNECTION LIMIT 3",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO few",
        "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO few",
    )
    with opened(url.replace("portal@", "few@"), tmp_path) as database:
        ledger = ledger_of(database)
        with ThreadPoolExecutor(64) as pool:
            for done in [pool.submit(buy, ledger) for _ in range(300)]:
                done.result()
        ledger.settle()
        assert spent(ledger) == ["answered"] * 300
    run(url, "DROP OWNED BY few", "DROP ROLE few")
