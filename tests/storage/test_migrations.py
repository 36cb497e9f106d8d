"""Migrations of new databases, former versions' databases and unknown schemas."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from portal.storage import database as database_module
from portal.storage import migrations, schema
from portal.storage.database import current_revision, open_engine, reading, upgrade_schema
from portal.storage.migrations import alembic_config
from portal.storage.schema import REVISIONS, SCHEMA_HEAD, SchemaMismatch
from portal.storage.tables import metadata
from tests.fakes.closing import closed_later
from tests.fakes.databases import Database, opened
from tests.fakes.one_tenant import ledger_of, tokens_in
from tests.gateway.gateways import as_caller
from tests.gateway.ledgers import buy
from tests.storage.former_schemas import BEFORE_THE_FIRST_RELEASE, UNRECORDED, execute

OLDER = {"0011": BEFORE_THE_FIRST_RELEASE, "0000": UNRECORDED}
NEXT = "0013"
NEXT_MIGRATION = f"""
import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{SCHEMA_HEAD}"

def upgrade() -> None:
    op.add_column("ledger", sa.Column("note", sa.String, nullable=False, server_default="none"))
"""


def unprepared(database: Database) -> Engine:
    """Return an engine as commands open it, without creating or migrating tables."""
    engine = open_engine(database.url, database.folder, required=False, create=False)
    return closed_later(engine, Engine.dispose)


@pytest.fixture
def former(database: Database, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Database:
    """A database of this version with a call, beside a later version with one more migration."""
    with opened(database.url, database.folder) as engine:
        buy(ledger_of(engine), as_caller("ana"))
    (tmp_path / f"{NEXT}_next.py").write_text(NEXT_MIGRATION)

    def config() -> Config:
        found = alembic_config()
        own = Path(migrations.__file__).parent / "versions"
        found.set_main_option("path_separator", "newline")
        found.set_main_option("version_locations", f"{own}\n{tmp_path}")
        return found

    monkeypatch.setattr(migrations, "alembic_config", config)
    for module in (schema, migrations):
        monkeypatch.setattr(module, "REVISIONS", (*REVISIONS, NEXT))
    for module in (schema, migrations, database_module):
        monkeypatch.setattr(module, "SCHEMA_HEAD", NEXT)
    return database


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


def test_former_database_is_migrated_with_every_row(former: Database) -> None:
    assert upgrade_schema(unprepared(former)) == SCHEMA_HEAD
    assert current_revision(unprepared(former)) == NEXT
    assert execute(former, "SELECT caller, note FROM ledger") == [("ana", "none")]
    assert upgrade_schema(unprepared(former)) == NEXT


def test_start_migrates_the_embedded_database_alone(former: Database) -> None:
    if former.url is None:
        with opened(former.url, former.folder) as engine:
            assert current_revision(engine) == NEXT
        return
    with pytest.raises(
        SchemaMismatch,
        match=rf"a former version \({SCHEMA_HEAD}, this version needs {NEXT}\): run flask",
    ):
        open_engine(former.url, former.folder)
    assert current_revision(unprepared(former)) == SCHEMA_HEAD


@pytest.mark.parametrize("revision", OLDER)
def test_database_before_the_first_release_is_refused_and_kept(
    database: Database, revision: str
) -> None:
    database.open()
    execute(database, OLDER[revision])
    line = (
        rf"^the database has the schema of a version before the first release \({revision}, this "
        rf"version needs {SCHEMA_HEAD}\): set it aside and start with an empty database$"
    )
    with pytest.raises(SchemaMismatch, match=line):
        open_engine(database.url, database.folder)
    with pytest.raises(SchemaMismatch, match=line):
        upgrade_schema(unprepared(database))
    assert current_revision(unprepared(database)) == revision
    assert execute(database, "SELECT count(*) FROM ledger") == [(0,)]


def test_concurrent_upgrades_migrate_once(former: Database) -> None:
    engines = [unprepared(former) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = sorted(map(str, pool.map(upgrade_schema, engines)))
    assert found == [SCHEMA_HEAD] + [NEXT] * 3
    assert execute(former, "SELECT caller, note FROM ledger") == [("ana", "none")]


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
