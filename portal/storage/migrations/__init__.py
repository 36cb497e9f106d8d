"""Migrations of the database's schema with Alembic, one file per revision in ``versions``."""

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from portal.storage.schema import REVISIONS, SCHEMA_HEAD, mismatch, schema_revision, stored_revision


def migrate(db: Connection) -> str | None:
    """Migrate to SCHEMA_HEAD and return the former revision, None for an empty database.

    Idempotent. Call it in a transaction that holds the set-up lock. Raises SQLAlchemyError, or
    SchemaMismatch if another version migrated the database to a revision unknown here.
    """
    stored, former = stored_revision(db), schema_revision(db)
    if stored == SCHEMA_HEAD:
        return stored
    if former is not None and former not in REVISIONS:
        raise mismatch(former)
    config = alembic_config()
    config.attributes["connection"] = db
    if stored is None and former is not None:
        command.stamp(config, former)
    command.upgrade(config, SCHEMA_HEAD)
    return former


def alembic_config() -> Config:
    """Return the configuration of Alembic, which needs no ini file."""
    config = Config()
    config.set_main_option("script_location", "portal.storage:migrations")
    return config
