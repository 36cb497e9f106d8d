"""Opens a portal's database, and creates or migrates its tables."""

import logging
from pathlib import Path

from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from portal.storage.database import Database
from portal.storage.revision import current_revision
from portal.storage.schema import (
    SCHEMA_HEAD,
    SchemaMismatch,
    record_revision,
    require_fitting_tables,
    schema_revision,
)
from portal.storage.sqlite import SqliteDatabase
from portal.storage.tables import metadata
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)


def open_database(
    url: str | None, data_dir: Path, required: bool = True, create: bool = True
) -> Database:
    """Create or migrate the database's tables, and return the database.

    If ``url`` is None, the database is an SQLite file in ``data_dir``. An existing PostgreSQL
    database is not migrated, because other portals may be using the database. The operator must run
    ``flask db upgrade``. Raises OSError or SQLAlchemyError if the database cannot be opened or
    denies access to its tables. Raises SchemaMismatch if the schema belongs to another version or
    was changed by hand.

    If ``required`` is False, errors are only logged. Worker processes pass False, because a worker
    that starts during an outage of the database must not exit. If ``create`` is False, the function
    only returns the database, and does not connect to it.
    """
    database = _database(url, data_dir)
    if not create:
        return database
    try:
        database.set_up(required=required)
        upgrade_schema(database)
        if required:
            with database.reading() as db:
                require_fitting_tables(db, metadata)
            database.try_to_write()
    except (OSError, SQLAlchemyError, SchemaMismatch) as error:
        if required:
            database.dispose()
            raise
        if isinstance(error, SchemaMismatch):
            log.warning("%s", error)
        else:
            log.warning("the database is away: %s", error_kind(error))
    return database


def _database(url: str | None, data_dir: Path) -> Database:
    file = database_file(url, data_dir)
    if file is not None:
        return SqliteDatabase(file)
    from portal.storage.postgresql import PostgresDatabase  # lazy: SQLite needs no psycopg

    return PostgresDatabase(url or "")


def upgrade_schema(database: Database) -> str | None:
    """Migrate the schema and return its former revision, or None for an empty database.

    In an empty database, the tables are created without migrations. All migrations run in one
    transaction. Concurrent calls wait for this transaction. Raises SQLAlchemyError. Raises
    SchemaMismatch if this version of the portal does not know the database's revision.
    """
    revision = current_revision(database)
    if revision == SCHEMA_HEAD:
        return revision
    if revision is None:
        with database.set_up_transaction() as db:
            if schema_revision(db) is None:
                metadata.create_all(db)
                record_revision(db, SCHEMA_HEAD)
                return None
    # Import Alembic only here, because most starts need no migration. The import comes before the
    # transaction, because other portals may wait for the transaction's end.
    from portal.storage.migrations import migrate

    with database.set_up_transaction() as db:
        return migrate(db)


def database_file(url: str | None, data_dir: Path) -> Path | None:
    """Return the file of an SQLite database, or None for PostgreSQL."""
    if url is None:
        return data_dir / "portal.sqlite"
    return None if url.startswith("postgresql") else Path(make_url(url).database or "")
