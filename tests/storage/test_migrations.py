"""Migrations of new databases, former versions' databases and unknown schemas."""

import multiprocessing
from decimal import Decimal
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from portal.access.tokens import digest
from portal.gateway.ledger import Ledger
from portal.gateway.usage import Usage
from portal.gateway.usage_report import UsageLog
from portal.storage.database import Database
from portal.storage.migrations import alembic_config
from portal.storage.opening import open_database, upgrade_schema
from portal.storage.revision import current_revision
from portal.storage.schema import REVISIONS, SCHEMA_HEAD, SchemaMismatch
from portal.storage.tables import metadata
from tests.fakes import Clock
from tests.fakes.closing import closed_later
from tests.fakes.databases import EmptyDatabase, opened
from tests.fakes.one_tenant import ledger_of, tokens_in
from tests.fakes.preloaded import PRELOADED
from tests.gateway.gateways import as_caller
from tests.gateway.ledgers import buy
from tests.storage.former_schemas import (
    BEFORE_THE_FIRST_RELEASE,
    FIRST_RELEASE,
    UNRECORDED,
    execute,
)

MORE_CALLS = "".join(
    "INSERT INTO ledger (sent_at, day, operation, subject, origin, caller, price, outcome, status, "
    f"namespace) VALUES (1790000000.5, '2026-09-21', 'decode', '', 'primary', 'ana', {row}, "
    "'upstream');"
    for row in ("'0.35', 'failing', 503", "'0', 'maybe', NULL", "'0', 'not_sent', NULL")
)
OLDER = {"0007": BEFORE_THE_FIRST_RELEASE, "0000": UNRECORDED}


def unprepared(empty_database: EmptyDatabase) -> Database:
    """Return a database as commands open it, without creating or migrating tables."""
    database = open_database(
        empty_database.url, empty_database.folder, required=False, create=False
    )
    return closed_later(database, Database.dispose)


@pytest.fixture
def first(empty_database: EmptyDatabase) -> EmptyDatabase:
    """A database of the first release, with rows in every table."""
    execute(empty_database, FIRST_RELEASE)
    return empty_database


def differences(database: Database) -> list[Any]:
    """Return how the database's tables differ from the metadata."""
    # On SQLite, Alembic reports an empty default as different from itself.
    options = {"compare_server_default": database.engine.dialect.name == "postgresql"}
    with database.reading() as db:
        return list(compare_metadata(MigrationContext.configure(db, opts=options), metadata))


def test_constants_match_the_migration_files() -> None:
    scripts = ScriptDirectory.from_config(alembic_config())
    assert scripts.get_heads() == [SCHEMA_HEAD]
    assert tuple(each.revision for each in scripts.walk_revisions())[::-1] == REVISIONS


def test_new_database_has_the_tables_of_the_metadata(database: Database) -> None:
    assert differences(database) == []
    assert current_revision(database) == SCHEMA_HEAD


TRIGGERS = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name",
    "postgresql": (
        "SELECT tgname, pg_get_triggerdef(t.oid), pg_get_functiondef(tgfoid) FROM pg_trigger t "
        "WHERE NOT tgisinternal ORDER BY tgname"
    ),
}


def test_migrated_database_has_the_triggers_of_a_new_one(
    first: EmptyDatabase, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    upgrade_schema(unprepared(first))
    url = first.url and request.getfixturevalue("postgres").new_database()
    new = EmptyDatabase(url, tmp_path_factory.mktemp("new"))
    with opened(new.url, new.folder) as database:
        kind = database.engine.dialect.name
    found, expected = (
        [[" ".join(str(part).split()) for part in row] for row in execute(each, TRIGGERS[kind])]
        for each in (first, new)
    )
    assert found == expected
    assert len(found) == 5


def test_migration_takes_over_what_a_batch_has_spent(first: EmptyDatabase) -> None:
    upgrade_schema(unprepared(first))
    query = "SELECT payer, calls, most FROM call_counters WHERE day = 'total'"
    assert execute(first, query) == [("batch:b1", 300_000, 3_000_000)]


def test_database_of_the_first_release_is_taken_over_with_every_row(first: EmptyDatabase) -> None:
    added = (
        *("meta", "idempotency_keys", "declarations", "calendar_addresses"),
        *("messages", "deliveries", "channels", "people", "trail", "ends"),
    )
    tables = [name for name in metadata.tables if name not in added]
    execute(first, MORE_CALLS)
    assert upgrade_schema(unprepared(first)) == "0008"
    with opened(first.url, first.folder) as database:
        assert differences(database) == []
        assert current_revision(database) == SCHEMA_HEAD
        assert tokens_in(database, ()).identify(digest("live")).name == "ana"
        call, *more = ledger_of(database).rows()
        assert (call.caller, call.price, call.status) == ("ana", Decimal("0.30"), 200)
        assert len(more) == 2
        _check_sums(database)
    assert execute(first, "SELECT version_num FROM alembic_version") == [(SCHEMA_HEAD,)]
    assert {name: execute(first, f"SELECT count(*) FROM {name}") for name in tables} == {
        name: [({"ledger": 4, "call_sums": 3, "call_counters": 5}.get(name, 1),)] for name in tables
    }
    assert upgrade_schema(unprepared(first)) == SCHEMA_HEAD


def _check_sums(database: Database) -> None:
    """The sums have the former rows and the next one, and a call in progress."""
    clock = Clock(1_790_000_000.5)
    log = UsageLog(database, "upstream", clock)
    assert log.of_caller("ana") == Usage(
        3, Decimal("0.65"), hits=7, stale=1, collapsed=2, known_saved=Decimal("2.40")
    )
    by_operation = log.by_operation()
    assert by_operation["decode"] == log.of_caller("ana")
    failures = log.failures(log.calls(log.today()), log.today())
    kinds = {(each.outcome, each.status, each.calls) for each in failures}
    assert kinds == {("failing", 503, 1), ("not_sent", None, 1)}
    buy(Ledger(database, clock=clock, namespace="upstream"), as_caller("ana"))
    assert log.of_caller("ana").calls == 4
    with database.writing() as db:
        db.exec_driver_sql("DELETE FROM ledger WHERE id = (SELECT max(id) FROM ledger)")


@pytest.mark.parametrize("revision", OLDER)
def test_database_before_the_first_release_is_refused_and_kept(
    first: EmptyDatabase, revision: str
) -> None:
    execute(first, OLDER[revision])
    line = (
        rf"^the database has the schema of a version before the first release \({revision}, this "
        rf"version needs {SCHEMA_HEAD}\): set it aside and start with an empty database$"
    )
    with pytest.raises(SchemaMismatch, match=line):
        open_database(first.url, first.folder)
    with pytest.raises(SchemaMismatch, match=line):
        upgrade_schema(unprepared(first))
    assert current_revision(unprepared(first)) == revision
    assert execute(first, "SELECT count(*) FROM ledger") == [(1,)]


def _upgrade(empty_database: EmptyDatabase, ended: "multiprocessing.Queue[str]") -> None:
    try:
        database = open_database(
            empty_database.url, empty_database.folder, required=False, create=False
        )
        ended.put(str(upgrade_schema(database)))
        database.dispose()
    except Exception as error:
        ended.put(str(error))


def test_concurrent_upgrades_migrate_once(first: EmptyDatabase) -> None:
    ended = PRELOADED.Queue()
    racers = [PRELOADED.Process(target=_upgrade, args=(first, ended)) for _ in range(4)]
    for racer in racers:
        racer.start()
    assert sorted(ended.get(timeout=120) for _ in racers) == ["0008"] + [SCHEMA_HEAD] * 3
    for racer in racers:
        racer.join(60)
    assert execute(first, "SELECT count(*) FROM access_tokens") == [(1,)]
    assert execute(first, "SELECT version_num FROM alembic_version") == [(SCHEMA_HEAD,)]


def test_worker_on_another_versions_schema_logs_it_and_starts(
    empty_database: EmptyDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    """During an upgrade, a restarted worker of the former version must not exit."""
    empty_database.open()
    execute(empty_database, "UPDATE alembic_version SET version_num = '9999'")
    with opened(empty_database.url, empty_database.folder, required=False) as database:
        assert tokens_in(database, ()).listed() == []
    (line,) = caplog.messages
    assert "another version (9999" in line


def test_unknown_revision_is_refused_and_kept(empty_database: EmptyDatabase) -> None:
    empty_database.open()
    execute(empty_database, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaMismatch, match="start the version that migrated it"):
        open_database(empty_database.url, empty_database.folder)
    with pytest.raises(SchemaMismatch, match="start the version that migrated it"):
        upgrade_schema(unprepared(empty_database))
    assert execute(empty_database, "SELECT version_num FROM alembic_version") == [("9999",)]
