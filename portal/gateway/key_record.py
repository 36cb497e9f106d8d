"""The fingerprint of the secret key that a cache's entries were written under.

Entries written under another key can be neither read nor found by a purge, so they are deleted.
"""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Engine

from portal.gateway.backend import PURGED, new_generation
from portal.gateway.envelope import KEY_ID_BYTES, SEAL_BYTES, key_id
from portal.storage import adopt_key, settle_former_keys
from portal.system.dependency_breaker import DependencyBreaker

log = logging.getLogger(__name__)

_NAME = "key_fingerprint"
_BATCH = 500  # keys scanned in one step


class KeyRecord(Protocol):
    def read(self) -> str | None:
        """Return the fingerprint recorded with the entries, or None."""
        ...

    def adopt(self, fingerprint: str, formers: Sequence[str]) -> int:
        """Delete the entries of the former keys and return their number."""
        ...


def record_key(fingerprint: str, engine: Engine, store: KeyRecord) -> None:
    """Record the secret key in the database and the store; log a change of key once.

    If the store is unavailable, the answers of former keys are deleted at the next start. Raises
    SQLAlchemyError.
    """
    is_new, formers = adopt_key(engine, fingerprint)
    try:
        gone = store.adopt(fingerprint, formers)
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
    """The fingerprint in a row of the SQLite file, whose entries are all of one key."""

    def __init__(self, connect: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._connect = connect

    def read(self) -> str | None:
        with self._connect() as db:
            return _recorded(db)

    def adopt(self, fingerprint: str, formers: Sequence[str]) -> int:  # noqa: ARG002
        with self._connect() as db:
            if _recorded(db) == fingerprint:
                return 0
            db.execute("BEGIN IMMEDIATE")  # several processes may start at once
            # Select by the key id in each entry, because a file that was created anew while a
            # portal ran holds no fingerprint.
            gone = db.execute(
                "DELETE FROM entries WHERE substr(value, ?, ?) <> ?",
                (SEAL_BYTES + 1, KEY_ID_BYTES, key_id(fingerprint)),
            ).rowcount
            if gone:
                db.execute("UPDATE generation SET name = ?", (new_generation(PURGED),))
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_NAME, fingerprint))
            db.execute("COMMIT")
            if gone:  # if a reader blocks it, the next sweep truncates the WAL
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return gone


def _recorded(db: sqlite3.Connection) -> str | None:
    db.execute("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    row = db.execute("SELECT value FROM meta WHERE name = ?", (_NAME,)).fetchone()
    return row[0] if row else None


class RedisKeyRecord:
    """Deletes the entries of a former key from a shared Redis.

    Portals with other keys may use the same Redis. Entries are ``<prefix><tag>:<name>``. The key id
    in an entry's value, ``id_at`` bytes from the start, identifies the secret key.

    ``begin_generation`` signals the deletion to every process.
    """

    def __init__(
        self,
        client: Any,
        breaker: DependencyBreaker,
        prefix: str,
        id_at: int,
        begin_generation: Callable[[], object],
    ) -> None:
        self._client = client
        self._breaker = breaker
        self._pattern = f"{prefix}{'[0-9a-f]' * 24}:*"
        self._id_at = id_at
        self._begin_generation = begin_generation

    def read(self) -> None:
        """Return None: no fingerprint is recorded in Redis.

        Redis may be shared by several portals. The database holds the fingerprint.
        """

    def adopt(self, fingerprint: str, formers: Sequence[str]) -> int:  # noqa: ARG002
        if not formers:
            return 0
        key_ids = {key_id(each) for each in formers}
        gone, cursor = 0, 0
        while True:
            with self._breaker.guard():
                cursor, keys = self._client.scan(cursor, match=self._pattern, count=_BATCH)
                pipeline = self._client.pipeline(transaction=False)
                for key in keys:
                    pipeline.getrange(key, self._id_at, self._id_at + KEY_ID_BYTES - 1)
                ids = zip(keys, pipeline.execute(), strict=True)
                if found := [key for key, held in ids if held in key_ids]:
                    gone += self._client.unlink(*found)
                    self._begin_generation()
            if cursor == 0:
                return gone
