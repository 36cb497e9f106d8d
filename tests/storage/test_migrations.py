"""Migrations of new databases, former versions' databases and unknown schemas."""

import multiprocessing
from collections.abc import Iterator
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from portal.access.history import History
from portal.access.tokens import UnknownToken, digest
from portal.storage.database import current_revision, open_engine, reading, upgrade_schema
from portal.storage.migrations import alembic_config
from portal.storage.schema import REVISIONS, SCHEMA_HEAD, SchemaMismatch
from portal.storage.tables import (
    metadata,
)
from tests.fakes.closing import closed_later
from tests.fakes.databases import Database, opened
from tests.fakes.one_tenant import ledger_of, subject_keys, tokens_in
from tests.fakes.preloaded import PRELOADED
from tests.storage.former_schemas import FORMER, LEDGER_ROW, TAG, UNRECORDED, execute

FORMER_TABLES = {"tokens", "spending", "hits"}


def unprepared(database: Database) -> Engine:
    """Return an engine as commands open it, without creating or migrating tables."""
    engine = open_engine(database.url, database.folder, required=False, create=False)
    return closed_later(engine, Engine.dispose)


@pytest.fixture
def former(database: Database) -> Database:
    """A database of the version before namespaces, with rows in every table."""
    execute(database, FORMER)
    return database


@pytest.fixture
def upgraded(former: Database) -> Iterator[Engine]:
    upgrade_schema(unprepared(former))
    with opened(former.url, former.folder) as engine:
        yield engine


def differences(engine: Engine) -> list[Any]:
    """Return how the database's tables differ from the metadata."""
    # On SQLite, Alembic reports an empty default as different from itself.
    options = {"compare_server_default": engine.dialect.name == "postgresql"}
    with reading(engine) as db:
        return list(compare_metadata(MigrationContext.configure(db, opts=options), metadata))


def test_constants_match_the_migration_files() -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    assert scripts.get_heads() == [SCHEMA_HEAD]
    assert tuple(each.revision for each in scripts.walk_revisions())[::-1] == REVISIONS


def test_new_database_has_the_tables_of_the_metadata(engine: Engine) -> None:
    assert differences(engine) == []
    assert current_revision(engine) == SCHEMA_HEAD


def test_migrated_database_differs_by_the_former_tables_alone(upgraded: Engine) -> None:
    found = differences(upgraded)
    assert {kind for kind, _ in found} == {"remove_table"}
    assert {table.name for _, table in found} == FORMER_TABLES


def test_unrecorded_schema_is_recognised_and_keeps_its_rows(database: Database) -> None:
    """Versions that had namespaces but no migrations recorded no revision."""
    execute(database, UNRECORDED)
    assert upgrade_schema(unprepared(database)) == "0002"
    with opened(database.url, database.folder) as engine:
        assert differences(engine) == []
        assert current_revision(engine) == SCHEMA_HEAD
        assert tokens_in(engine, ()).identify(digest("live")).name == "ana"
        assert len(list(ledger_of(engine).rows(everywhere=True))) == 1
    assert execute(database, "SELECT version_num FROM alembic_version") == [(SCHEMA_HEAD,)]


def test_every_former_row_is_kept(former: Database, upgraded: Engine) -> None:
    assert execute(former, "SELECT digest, name, daily_limit, revoked_at FROM access_tokens") == [
        (digest("live"), "ana", 0, None),
        (digest("revoked"), "bia", 5, 1790000001.5),
    ]
    assert execute(former, "SELECT name FROM tokens ORDER BY name") == [("ana",), ("bia",)]
    rows = execute(former, "SELECT id, sent_at, subject, price, status, namespace FROM ledger")
    assert rows == [(each, 1790000000.5, TAG, "0.30", 200, "") for each in (1, 2)]
    assert execute(former, "SELECT visitor, subject, asked_at FROM history") == [("ana", TAG, 4e9)]
    assert execute(former, "SELECT * FROM spending") == [("2026-09-21", "day", 2)]
    assert execute(former, "SELECT * FROM hits") == [("2026-09-21", "decode", "0.30", 7, 1)]


def test_former_rows_are_set_aside_and_logged_once(
    former: Database,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert upgrade_schema(unprepared(former)) == "0001"
    assert upgrade_schema(unprepared(former)) == SCHEMA_HEAD
    with opened(former.url, former.folder) as engine:
        assert list(ledger_of(engine).rows()) == []
        assert [row.caller for row in ledger_of(engine).rows(everywhere=True)] == ["ana", "ana"]
    (line,) = caplog.messages
    assert "2 ledger rows and 2 tokens are set aside" in line
    assert "issue tokens again" in line


def test_empty_former_database_logs_nothing(
    former: Database,
    caplog: pytest.LogCaptureFixture,
) -> None:
    execute(former, "DELETE FROM ledger; DELETE FROM tokens")
    upgrade_schema(unprepared(former))
    assert caplog.messages == []


def _upgrade(database: Database, ended: "multiprocessing.Queue[str]") -> None:
    try:
        engine = open_engine(database.url, database.folder, required=False, create=False)
        ended.put(str(upgrade_schema(engine)))
        engine.dispose()
    except Exception as error:
        ended.put(str(error))


def test_concurrent_upgrades_migrate_once(former: Database) -> None:
    ended = PRELOADED.Queue()
    racers = [PRELOADED.Process(target=_upgrade, args=(former, ended)) for _ in range(4)]
    for racer in racers:
        racer.start()
    assert sorted(ended.get(timeout=120) for _ in racers) == ["0001"] + [SCHEMA_HEAD] * 3
    for racer in racers:
        racer.join(60)
    assert execute(former, "SELECT count(*) FROM access_tokens") == [(2,)]
    assert execute(former, "SELECT count(*) FROM ledger") == [(2,)]
    assert execute(former, "SELECT version_num FROM alembic_version") == [(SCHEMA_HEAD,)]


def test_start_migrates_the_embedded_database_alone(former: Database) -> None:
    if former.url is None:
        with opened(former.url, former.folder) as engine:
            assert current_revision(engine) == SCHEMA_HEAD
        return
    with pytest.raises(SchemaMismatch, match=r"^the database .*: run flask --app app db upgrade$"):
        open_engine(former.url, former.folder)
    assert current_revision(unprepared(former)) == "0001"


def test_worker_on_another_versions_schema_logs_it_and_starts(
    database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    """During an upgrade, a restarted worker of the former version must not exit."""
    database.open()
    execute(database, "UPDATE alembic_version SET version_num = '9999'")
    with opened(database.url, database.folder, required=False) as engine:
        assert tokens_in(engine, ()).listed() == []
    (line,) = caplog.messages
    assert "another version (9999" in line


def test_unknown_revision_is_refused_and_kept(database: Database) -> None:
    database.open()
    execute(database, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaMismatch, match="start the version that migrated it"):
        open_engine(database.url, database.folder)
    with pytest.raises(SchemaMismatch, match="start the version that migrated it"):
        upgrade_schema(unprepared(database))
    assert execute(database, "SELECT version_num FROM alembic_version") == [("9999",)]


def test_failed_migration_changes_nothing(former: Database) -> None:
    execute(former, "CREATE TABLE meta (name VARCHAR(40))")  # so that 0002 fails at its last table
    with pytest.raises(SQLAlchemyError, match="meta"):
        upgrade_schema(unprepared(former))
    assert current_revision(unprepared(former)) == "0001"
    execute(former, "DROP TABLE meta")
    assert upgrade_schema(unprepared(former)) == "0001"
    assert execute(former, "SELECT count(*) FROM access_tokens") == [(2,)]


def test_former_tokens_are_unknown_and_their_names_reusable(upgraded: Engine) -> None:
    tokens = tokens_in(upgraded, ())
    for token in ("live", "revoked"):
        with pytest.raises(UnknownToken):
            tokens.identify(digest(token))
        assert tokens.was_issued(digest(token))
    assert tokens.listed() == []
    assert not tokens.revoke("ana")
    again = tokens.issue("ana", frozenset({"decode"}), None, 0)
    assert tokens.identify(digest(again)).name == "ana"


def test_dossiers_are_added_to_a_recorded_database_of_the_former_version(
    database: Database,
) -> None:
    execute(database, UNRECORDED)
    execute(
        database,
        "CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY);"
        "INSERT INTO alembic_version VALUES ('0002')",
    )
    assert upgrade_schema(unprepared(database)) == "0002"
    with opened(database.url, database.folder) as engine:
        assert differences(engine) == []
    assert execute(database, "SELECT count(*) FROM dossiers") == [(0,)]
    assert execute(database, "SELECT count(*) FROM ledger") == [(1,)]


def test_purge_reaches_former_rows(former: Database, upgraded: Engine) -> None:
    assert ledger_of(upgraded).forget(TAG) == 2
    History(upgraded, subject_keys(b"s" * 32, lambda _: TAG)).forget("ABC1D23")
    assert execute(former, "SELECT subject FROM ledger") == [("",), ("",)]
    assert execute(former, "SELECT count(*) FROM history") == [(0,)]


def test_former_version_can_keep_writing(former: Database, upgraded: Engine) -> None:
    """Machines are upgraded one after another, so both versions run at the same time."""
    execute(
        former,
        f"{LEDGER_ROW} UPDATE tokens SET revoked_at = 1790000002.5 WHERE name = 'ana';"
        "UPDATE spending SET calls = 3; UPDATE hits SET hits = 8",
    )
    assert list(ledger_of(upgraded).rows()) == []
    assert len(list(ledger_of(upgraded).rows(everywhere=True))) == 3


def test_counts_of_savings_become_rows_without_a_caller(database: Database) -> None:
    execute(database, UNRECORDED)
    execute(
        database,
        "INSERT INTO savings VALUES ('upstream', '2026-09-21', 'decode', '0.30', 7, 1)",
    )
    upgrade_schema(unprepared(database))
    assert execute(database, "SELECT * FROM lookup_counts") == [
        ("upstream", "2026-09-21", "", "decode", "0.30", 7, 0, 1)
    ]


def test_spending_of_a_batch_is_the_sum_of_its_charged_calls(database: Database) -> None:
    database.open()
    call = (
        "INSERT INTO ledger (sent_at, day, operation, subject, origin, caller, price, outcome, "
        "batch) VALUES (1790000000.5, '2026-09-21', 'decode', '', 'primary', 'ana', "
    )
    started, draft = (
        "INSERT INTO batches (id, namespace, owner, created_at, expires_at, state, reason, tries, "
        f"claimed_at, ask, at_most, sealed_wrong) VALUES ('{name}', '', '', 0, 0, '{state}', '', "
        "0, 0, 'decode', '3.00', '');"
        for name, state in (("b1", "running"), ("b2", "draft"))
    )
    execute(
        database,
        "ALTER TABLE batches DROP COLUMN spent; UPDATE alembic_version SET version_num = '0007';"
        f"{started} {draft} {call} '0.30', 'answered', 'b1'); {call} '0.30', 'maybe', 'b1');"
        f"{call} '0.25', 'timed_out', 'b1'); {call} '0', 'not_sent', 'b1');"
        f"{call} '7.00', 'answered', 'gone'); {call} '9.00', 'answered', NULL);",
    )
    assert upgrade_schema(unprepared(database)) == "0007"
    with opened(database.url, database.folder) as engine:
        assert differences(engine) == []
    assert execute(database, "SELECT id, spent, at_most FROM batches ORDER BY id") == [
        ("b1", "0.85", "3.00"),
        ("b2", "0", "3.00"),
    ]
