"""Which secret key a cache's entries were written under, by the key's fingerprint.

Under another key an entry can be neither read nor found by a purge, so it is deleted.
"""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from sqlalchemy import Engine

from portal.gateway.backend import PURGED, new_era
from portal.gateway.backend_breaker import BackendBreaker
from portal.gateway.envelope import KEY_ID_BYTES, SEAL_BYTES, key_id
from portal.storage import adopt_key, settle_former_keys

log = logging.getLogger(__name__)

_NAME = "key_fingerprint"
_BATCH = 500  # keys looked at in one step


class KeyRecord(Protocol):
    def read(self) -> str | None:
        """The fingerprint recorded beside the entries; None where there is none."""
        ...

    def adopt(self, fingerprint: str, formers: Sequence[str]) -> int:
        """Delete the entries of the ``formers``, the keys in use before; how many there were."""
        ...


def record_key(fingerprint: str, engine: Engine, store: KeyRecord) -> None:
    """Have the database and the store adopt the secret key; logs a change of key in one line.

    Raises SQLAlchemyError. A store that is away is left as it is.
    """
    is_new, formers = adopt_key(engine, fingerprint)
    try:
        gone = store.adopt(fingerprint, formers)
        settle_former_keys(engine)
    except Exception as error:
        log.warning(
            "the store cannot be reached (%s): answers under a former secret key, if any, are "
            "deleted at the next start",
            type(error).__name__,
        )
        return
    if is_new or gone:
        log.warning(
            "the secret key is a new one: %d stored answers that it cannot read were deleted", gone
        )


class SQLiteKeyRecord:
    """A row beside the entries of an SQLite file, which all are of one key."""

    def __init__(self, connect: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._connect = connect

    def read(self) -> str | None:
        with self._connect() as db:
            return _recorded(db)

    def adopt(self, fingerprint: str, formers: Sequence[str]) -> int:  # noqa: ARG002 entries tell
        with self._connect() as db:
            if _recorded(db) == fingerprint:
                return 0
            db.execute("BEGIN IMMEDIATE")  # portals may all start at once
            # By the key id in each entry: a file that was made anew while a portal ran has no
            # record of its key.
            gone = db.execute(
                "DELETE FROM entries WHERE substr(value, ?, ?) <> ?",
                (SEAL_BYTES + 1, KEY_ID_BYTES, key_id(fingerprint)),
            ).rowcount
            if gone:
                db.execute("UPDATE era SET name = ?", (new_era(PURGED),))
            db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_NAME, fingerprint))
            db.execute("COMMIT")
            if gone:  # where a reader prevents it, the next sweep empties the log
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return gone


def _recorded(db: sqlite3.Connection) -> str | None:
    db.execute("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    row = db.execute("SELECT value FROM meta WHERE name = ?", (_NAME,)).fetchone()
    return row[0] if row else None


class RedisKeyRecord:
    """Finds a key's entries ``<prefix><tag>:<name>`` by the key id in each, ``id_at`` bytes behind
    its start: portals of other keys may use the same Redis.

    ``begin_era`` tells every process that entries were deleted.
    """

    def __init__(
        self,
        client: Any,
        fuse: BackendBreaker,
        prefix: str,
        id_at: int,
        begin_era: Callable[[], object],
    ) -> None:
        self._client = client
        self._fuse = fuse
        self._pattern = f"{prefix}{'[0-9a-f]' * 24}:*"
        self._id_at = id_at
        self._begin_era = begin_era

    def read(self) -> None:
        """No portal owns a Redis, so nothing is recorded there; the database tells."""

    def adopt(self, fingerprint: str, formers: Sequence[str]) -> int:  # noqa: ARG002 of the database
        if not formers:
            return 0
        gone, cursor = 0, 0
        key_ids = {key_id(each) for each in formers}
        while True:
            with self._fuse.guarding():
                cursor, keys = self._client.scan(cursor, match=self._pattern, count=_BATCH)
                asking = self._client.pipeline(transaction=False)
                for key in keys:
                    asking.getrange(key, self._id_at, self._id_at + KEY_ID_BYTES - 1)
                ids = zip(keys, asking.execute(), strict=True)
                if found := [key for key, held in ids if held in key_ids]:
                    gone += self._client.unlink(*found)
                    self._begin_era()
            if cursor == 0:
                return gone
