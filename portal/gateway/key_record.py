"""Records the fingerprint of the secret key that signs the cache's entries.

Entries that were signed with a key that is no longer configured are deleted, because they can
neither be read nor be found by a purge (deletion of a vehicle's data).
"""

import logging
import sqlite3
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Engine

from portal.gateway.backend import PURGED, new_generation
from portal.gateway.envelope import KEY_ID_BYTES, SEAL_BYTES, key_id
from portal.storage import adopt_key, settle_former_keys

log = logging.getLogger(__name__)

_NAME = "key_fingerprint"
_ACCEPTED = "accepted_key_fingerprints"


class KeyRecord(Protocol):
    def read(self) -> str | None:
        """Return the recorded fingerprint of the signing key, or None if none is recorded."""
        ...

    def adopt(self, fingerprints: Sequence[str], formers: Sequence[str]) -> int:
        """Record the secret keys in use, and delete the entries of keys no longer in use.

        ``fingerprints`` begins with the fingerprint of the signing key. The other fingerprints
        belong to old keys whose entries can still be read. ``formers`` are the fingerprints of keys
        no longer in use. Returns the number of deleted entries.
        """
        ...


def record_key(
    fingerprints: Sequence[str],
    engine: Engine,
    store: KeyRecord,
    drop_unreadable: Callable[[], object] = lambda: None,
) -> None:
    """Record the secret keys in the database and the store. Log a new signing key once.

    ``fingerprints`` begins with the fingerprint of the signing key. The other fingerprints belong
    to old keys whose entries can still be read. ``drop_unreadable`` deletes the database rows that
    none of the keys can decrypt. Answers that were signed with keys no longer in use are deleted
    now, or at the next start if the store is unavailable. Raises SQLAlchemyError.
    """
    is_new, formers = adopt_key(engine, *fingerprints)
    if formers:
        drop_unreadable()
    try:
        gone = store.adopt(fingerprints, formers)
        settle_former_keys(engine)
    except Exception as error:
        log.warning(
            "the store is unavailable (%s): answers under a former secret key, if any, are "
            "deleted at the next start",
            type(error).__name__,
        )
        return
    if is_new or gone:
        log.warning(
            "the secret key is a new one: %d stored answers that it cannot read were deleted", gone
        )


class SQLiteKeyRecord:
    """Records which secret keys are in use, in the table ``meta`` of the SQLite cache file."""

    def __init__(self, connect: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._connect = connect

    def read(self) -> str | None:
        with self._connect() as db:
            return _recorded(db)

    def adopt(self, fingerprints: Sequence[str], formers: Sequence[str]) -> int:  # noqa: ARG002
        accepted = " ".join(sorted(fingerprints))
        with self._connect() as db:
            if (_recorded(db), _recorded(db, _ACCEPTED) or accepted) == (fingerprints[0], accepted):
                return 0
            db.execute("BEGIN IMMEDIATE")  # several processes may start at once
            # Check the key id in each entry. The recorded fingerprints are not enough. If this file
            # has replaced a corrupt file, it may have entries but no recorded fingerprints.
            key_ids = [key_id(each) for each in fingerprints]
            marks = ", ".join("?" * len(key_ids))
            gone = db.execute(
                f"DELETE FROM entries WHERE substr(value, ?, ?) NOT IN ({marks})",  # noqa: S608
                (SEAL_BYTES + 1, KEY_ID_BYTES, *key_ids),
            ).rowcount
            if gone:
                db.execute("UPDATE generation SET name = ?", (new_generation(PURGED),))
            rows = [(_NAME, fingerprints[0]), (_ACCEPTED, accepted)]
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            db.execute("COMMIT")
            # Truncate the write-ahead log, which still contains the deleted entries. If a reader
            # prevents the truncation, the next ``sweep`` tries again.
            if gone:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return gone


def _recorded(db: sqlite3.Connection, name: str = _NAME) -> str | None:
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


class RedisKeyRecord:
    """Deletes the Redis entries that a former secret key of this portal has signed.

    Entries of unknown secret keys are kept, because other portals may use the same Redis.
    ``delete_signed`` deletes the entries whose signing key has one of the given ids, and returns
    the number of deleted entries.
    """

    def __init__(self, delete_signed: Callable[[Collection[bytes]], int]) -> None:
        self._delete_signed = delete_signed

    def read(self) -> None:
        """Return None, because this class records no fingerprint in Redis."""

    def adopt(self, fingerprints: Sequence[str], formers: Sequence[str]) -> int:
        key_ids = {key_id(each) for each in formers} - {key_id(each) for each in fingerprints}
        return self._delete_signed(key_ids) if key_ids else 0
