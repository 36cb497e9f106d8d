"""The revision of a database's schema, compared with the one that this version needs."""

from portal.storage.database import Database
from portal.storage.schema import SCHEMA_HEAD, mismatch, schema_revision


def require_current_schema(database: Database) -> None:
    """Raise SchemaMismatch unless the database is empty or has the schema of this version.

    Raises SQLAlchemyError.
    """
    revision = current_revision(database)
    if revision is not None and revision != SCHEMA_HEAD:
        raise mismatch(revision)


def current_revision(database: Database) -> str | None:
    """Return the revision of the schema, or None for an empty database. Raises SQLAlchemyError."""
    with database.reading() as db:
        return schema_revision(db)
