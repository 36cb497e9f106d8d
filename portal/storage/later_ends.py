"""Ends in a restored backup what has ended since the backup: purges, revocations and the like.

The other source is the database of the former data directory, a later state of the same database.
An entry that is missing there was purged, erased or has expired. Only columns that every version
has are read, because the former database may have the schema of another version.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from portal.data_files import read_toml
from portal.storage.backup import BackupRefused
from portal.storage.sqlite_traces import file_uri


class _Statements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    lost: str
    ended: dict[str, tuple[str, ...]]
    changed: tuple[str, ...]
    columns: dict[str, dict[str, str]]


_SQL: Final = read_toml(__package__, "later_ends.toml", _Statements)


def end_what_has_ended(restored: Path, former: Path) -> dict[str, int]:
    """Apply to ``restored`` what has ended in ``former``, and return how much, by its kind.

    Both are database files. The purge log is copied, so that the next start deletes the purged
    vehicles' answers from the cache. The calls of this day are counted as in ``former``. Raises
    BackupRefused if ``former`` is no later state of ``restored``. Raises sqlite3.Error.
    """
    with closing(sqlite3.connect(file_uri(restored, "rw"), uri=True)) as db:
        db.execute("PRAGMA secure_delete = ON")
        db.execute("ATTACH ? AS later", (file_uri(former, "ro"),))
        if db.execute(_SQL.lost).fetchone():
            raise BackupRefused(f"{former.parent} holds no later state of the backup's data")
        with db:
            ended = {
                kind: sum(db.execute(statement).rowcount for statement in statements)
                for kind, statements in _SQL.ended.items()
            }
            for change in _SQL.changed:
                db.execute(change)
            for table, columns in _SQL.columns.items():
                for column, statement in columns.items():
                    if all(_has_column(db, each, table, column) for each in ("main", "later")):
                        db.execute(statement)
    with closing(sqlite3.connect(restored)) as db:
        db.execute("VACUUM")  # removes the copies of deleted rows that SQLite leaves in the file
    return ended


def _has_column(db: sqlite3.Connection, schema: str, table: str, column: str) -> bool:
    query = "SELECT 1 FROM pragma_table_info(?, ?) WHERE name = ?"
    return db.execute(query, (table, schema, column)).fetchone() is not None
