"""Migrates the database's schema with Alembic. ``versions`` has one file per revision."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from portal.storage.schema import REVISIONS, SCHEMA_HEAD, mismatch, schema_revision


def migrate(db: Connection) -> str | None:
    """Migrate a database with tables to SCHEMA_HEAD. Return the former revision.

    The caller's transaction must hold ``Lock.SET_UP``. Raises SQLAlchemyError. Raises
    SchemaMismatch if this version of the portal does not know the database's revision.
    """
    former = schema_revision(db)
    if former not in REVISIONS:
        raise mismatch(former or "")
    config = alembic_config()
    config.attributes["connection"] = db
    command.upgrade(config, SCHEMA_HEAD)
    return former


def alembic_config() -> Config:
    """Return Alembic's configuration, which replaces the usual ini file."""
    config = Config()
    config.set_main_option("script_location", "portal.storage:migrations")
    return config
