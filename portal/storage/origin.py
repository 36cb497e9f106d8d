"""Recognises a database that was restored from a copy.

The table ``meta`` records the database in which the record was written. In PostgreSQL, this is the
server's identifier, the database's number and the transaction that wrote the record. ``pg_restore``
writes the record in a transaction of its own. In SQLite, it is the file's inode and birth time.
A file system often gives a new file the inode of a deleted one.
"""

import ctypes
import struct
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, delete, insert, select, text

from portal.storage.tables import meta

_NAME = "origin"
RECORD_IN_POSTGRESQL = text(
    "INSERT INTO meta (name, value) "
    "SELECT :name, system_identifier || ' ' || oid || ' ' || txid_current() % 4294967296 "
    "FROM pg_control_system(), pg_database WHERE datname = current_database()"
).bindparams(name=_NAME)
IS_OWN_IN_POSTGRESQL = text(
    "SELECT value = system_identifier || ' ' || oid || ' ' || meta.xmin "
    "FROM meta, pg_control_system(), pg_database "
    "WHERE name = :name AND datname = current_database()"
).bindparams(name=_NAME)
_AT_FDCWD: Final = -100
_STATX_BTIME: Final = 0x800


def recorded(db: Connection) -> str | None:
    """Return what is recorded as the database's origin."""
    return db.execute(select(meta.c.value).where(meta.c.name == _NAME)).scalar()


def record(db: Connection, origin: str) -> None:
    forget(db)
    db.execute(insert(meta).values(name=_NAME, value=origin))


def forget(db: Connection) -> None:
    """Delete the record, so that the database counts as restored."""
    db.execute(delete(meta).where(meta.c.name == _NAME))


def of_file(path: Path) -> str:
    """Return what tells an SQLite file from its copy."""
    return f"{path.stat().st_ino} {_born_at(str(path))}"


def _born_at(path: str) -> str:
    """Return when the file was created, or "" if the system does not tell.

    Python has no function for this time on Linux. The file is not opened, because closing it would
    release the locks that SQLite holds on it in this process.
    """
    status = ctypes.create_string_buffer(256)
    try:
        failed = ctypes.CDLL(None).statx(_AT_FDCWD, path.encode(), 0, _STATX_BTIME, status)
    except (AttributeError, OSError):  # another system, or an old one
        return ""
    seconds, nanoseconds = struct.unpack_from("qI", status, 80)
    return "" if failed else f"{seconds}.{nanoseconds:09}"
