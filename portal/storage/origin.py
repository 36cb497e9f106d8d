"""Recognises a database that was restored from a copy.

The table ``meta`` records the database in which the record was written. In PostgreSQL, this is the
server's identifier and the transaction that wrote the record. ``pg_restore`` writes the record in
a transaction of its own. In SQLite, it is the file's inode.
"""

from sqlalchemy import Connection, Engine, delete, insert, select, text

from portal.storage.database import reading, writing
from portal.storage.file_identity import file_identity
from portal.storage.tables import meta

_NAME = "origin"
_RECORD_IN_POSTGRESQL = text(
    "INSERT INTO meta (name, value) "
    "SELECT :name, system_identifier || ' ' || txid_current() % 4294967296 "
    "FROM pg_control_system()"
)
_IS_OWN_IN_POSTGRESQL = text(
    "SELECT value = system_identifier || ' ' || xmin FROM meta, pg_control_system() "
    "WHERE name = :name"
)


def is_restored(engine: Engine) -> bool:
    """Return whether the database is a copy, or has no record of its origin.

    A database of a former version has no record. Raises SQLAlchemyError.
    """
    with reading(engine) as db:
        if engine.dialect.name == "postgresql":
            return not db.execute(_IS_OWN_IN_POSTGRESQL, {"name": _NAME}).scalar()
        recorded = db.execute(select(meta.c.value).where(meta.c.name == _NAME)).scalar()
        return bool(recorded != _inode(db))


def record_origin(engine: Engine) -> None:
    """Record that the database is no copy. Raises SQLAlchemyError."""
    with writing(engine) as db:
        db.execute(delete(meta).where(meta.c.name == _NAME))
        if engine.dialect.name == "postgresql":
            db.execute(_RECORD_IN_POSTGRESQL, {"name": _NAME})
        else:
            db.execute(insert(meta).values(name=_NAME, value=_inode(db)))


def forget_origin(engine: Engine) -> None:
    """Delete the record, so that the database counts as restored. Raises SQLAlchemyError."""
    with writing(engine) as db:
        db.execute(delete(meta).where(meta.c.name == _NAME))


def _inode(db: Connection) -> str:
    file = db.exec_driver_sql("PRAGMA database_list").all()[0][2]
    identity = file_identity(file)
    return str(identity[1]) if identity else ""
