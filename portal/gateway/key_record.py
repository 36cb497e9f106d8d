"""Records the secret keys that have signed the cache's entries, and deletes the entries of some.

A purge (deletion of a vehicle's data) finds an entry only with the entry's secret key.
"""

import sqlite3
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from typing import Protocol

from portal.gateway.envelope import KEY_ID_BYTES, SEAL_BYTES, key_id

_NAME = "key_fingerprint"  # of the key of the last start
_ALL_NAME = "accepted_key_fingerprints"


class KeyRecord(Protocol):
    def read(self) -> Collection[str]:
        """Return the fingerprints of the recorded secret keys."""
        ...

    def record(self, fingerprint: str) -> None:
        """Record the secret key with which this start will sign."""
        ...

    def forget(self, kept: str | None, others: Collection[str]) -> int:
        """Delete the entries of the keys ``others`` and their record, and return how many.

        ``kept`` is the fingerprint of the secret key whose entries remain, if there is such a key.
        """
        ...


class SQLiteKeyRecord:
    """Records the secret keys in the table ``meta`` of the SQLite cache file."""

    def __init__(self, connect: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._connect = connect

    def read(self) -> Collection[str]:
        with self._connect() as db:
            return _recorded(db)

    def record(self, fingerprint: str) -> None:
        with self._connect() as db:
            if fingerprint not in _recorded(db):
                db.execute("BEGIN IMMEDIATE")  # several processes may start at once
                _record(db, fingerprint, _recorded(db) | {fingerprint})
                db.execute("COMMIT")

    def forget(self, kept: str | None, others: Collection[str]) -> int:  # noqa: ARG002
        with self._connect() as db:
            db.execute("BEGIN IMMEDIATE")
            # Check the key id in each entry. The recorded fingerprints are not enough. If this file
            # has replaced a corrupt file, it may have entries but no recorded fingerprints.
            gone = db.execute(
                "DELETE FROM entries WHERE substr(value, ?, ?) != ?",
                (SEAL_BYTES + 1, KEY_ID_BYTES, key_id(kept) if kept else b""),
            ).rowcount
            _record(db, kept, {kept} if kept else set())
            db.execute("COMMIT")
            # Truncate the write-ahead log, which still contains the deleted entries. If a reader
            # prevents the truncation, the next ``sweep`` tries again.
            if gone:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return gone


def _recorded(db: sqlite3.Connection) -> set[str]:
    rows = db.execute("SELECT value FROM meta WHERE name IN (?, ?)", (_NAME, _ALL_NAME))
    return {each for (value,) in rows for each in value.split()}


def _record(db: sqlite3.Connection, fingerprint: str | None, every: set[str]) -> None:
    rows = [(_NAME, fingerprint or ""), (_ALL_NAME, " ".join(sorted(every)))]
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


class RedisKeyRecord:
    """Deletes the Redis entries that other secret keys of this portal have signed.

    The database alone records these keys. Entries of unknown secret keys are kept, because other
    portals may use the same Redis. ``delete_signed`` deletes the entries whose signing key has one
    of the given ids, and returns the number of deleted entries.
    """

    def __init__(self, delete_signed: Callable[[Collection[bytes]], int]) -> None:
        self._delete_signed = delete_signed

    def read(self) -> Collection[str]:
        return ()

    def record(self, fingerprint: str) -> None:
        pass

    def forget(self, kept: str | None, others: Collection[str]) -> int:  # noqa: ARG002
        return self._delete_signed({key_id(each) for each in others}) if others else 0
