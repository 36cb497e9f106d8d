"""A Flask-Caching backend in one SQLite file that the worker processes share.

Values are stored as bytes, so that a read never unpickles data.

The row number of an entry is computed from the entry's key, so that a read needs no index on the
key. One vehicle's entries are next to each other in the table's B-tree. A write normally only
appends to the write-ahead log (WAL), without waiting for the disk. ``sweep`` copies a long WAL into
the database file (a checkpoint), and waits for the disk.
"""

import json
import sqlite3
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flask import Flask
from flask_caching.backends.base import BaseCache

from portal.gateway.backend import (
    BEGUN,
    BUCKETS,
    PURGED,
    READER_KEEPS_BYTES,
    BytesRemain,
    Held,
    Stored,
    StoreSize,
    compare_counters,
    new_generation,
    purge_bucket,
)
from portal.gateway.key_record import SQLiteKeyRecord
from portal.gateway.local_cache import Version
from portal.gateway.sqlite_file import SET_UP_WAIT_S, SQLiteFile, retry_if_corrupt, transaction
from portal.storage.sqlite_traces import empty_log

SWEEP_BATCH = 500
PURGE_WAIT_S = 5.0
# The number of this process's writes after which ``sweep`` runs a checkpoint.
CHECKPOINT_AFTER = 300

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, expires_at REAL NOT NULL, fence INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_at);
CREATE TABLE IF NOT EXISTS generation (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS contents (
    one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, retention TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS purges (bucket INTEGER PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS purged_to (log TEXT PRIMARY KEY, number INTEGER NOT NULL);
"""
_PURGE_COUNTER = """(
    (SELECT id FROM contents) || ':' || coalesce((SELECT count FROM purges WHERE bucket = ?), 0)
)"""
_VALUE = "(SELECT value FROM entries WHERE id = ? AND key = ? AND expires_at > ?)"
_COUNT_PURGE = """
    INSERT INTO purges VALUES (?, 1) ON CONFLICT (bucket) DO UPDATE SET count = count + 1"""
# ``entry_id`` contains the purge bucket in the bits 32 to 47. The index has the row numbers in
# fewer pages than the table.
_DELETE_BUCKETS = """
    DELETE FROM entries WHERE id IN (
        SELECT id FROM entries INDEXED BY entries_by_expiry
        WHERE (id >> 32) & ? IN (SELECT value FROM json_each(?))
    )"""
# The largest expected clock error, in microseconds. A fence is the time at which a lease was
# acquired (see Leases). A fence that is further in the future comes from a wrong clock, so a write
# with a lower fence may replace the entry.
_SKEW_US = 60_000_000


class SQLiteCache(SQLiteFile, BaseCache):
    """Stores entries under keys ``tag:name`` (see ``Backend``)."""

    def __init__(self, path: Path, default_timeout: int = 300) -> None:
        SQLiteFile.__init__(self, path)
        BaseCache.__init__(self, default_timeout=default_timeout)
        self._writes_since_checkpoint = 0
        self._log_has_deleted = True  # whether the WAL may contain bytes of deleted entries
        self._bytes_remain = False  # whether ``sweep`` must erase bytes of purged entries
        self.key_record = SQLiteKeyRecord(lambda: self._connection(SET_UP_WAIT_S))

    @classmethod
    def factory(
        cls, _app: Flask, config: dict[str, Any], _args: list[Any], _options: dict[str, Any]
    ) -> "SQLiteCache":
        return cls(Path(config["CACHE_DIR"]) / "cache.sqlite")

    def get(self, key: str) -> bytes | None:
        return self.read_many([key]).values[0]

    @retry_if_corrupt
    def read_many(self, keys: Sequence[str]) -> Held:
        now = time.time()
        which = [value for key in keys for value in (entry_id(key), key, now)]
        columns = ", ".join([_VALUE] * len(keys))
        with self._connection() as db:
            *values, generation, counter = db.execute(
                f"SELECT {columns}, name, {_PURGE_COUNTER} FROM generation",  # noqa: S608 only our own text
                (*which, purge_bucket(keys[0])),
            ).fetchone()
        return Held(values, generation, counter)

    @retry_if_corrupt
    def version(self) -> Version | None:
        return super().version()

    @retry_if_corrupt
    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        ids = json.dumps([entry_id(key) for key in keys])
        with self._connection() as db:
            # Read the generation name, which each purge changes, before the signatures. In the
            # opposite order, signatures of entries that a purge deletes between the two reads would
            # be returned with the new name, and the deleted entries would be confirmed.
            (generation,) = db.execute("SELECT name FROM generation").fetchone()
            found = db.execute(
                "SELECT key, substr(value, 1, ?) FROM entries "
                "WHERE id IN (SELECT value FROM json_each(?)) AND expires_at > ?",
                (size, ids, time.time()),
            ).fetchall()
        return dict(found), generation

    def set(self, key: str, value: bytes, timeout: Any = None) -> bool:
        return self.replace(key, value, self.default_timeout if timeout is None else timeout)

    @retry_if_corrupt
    def replace(
        self,
        key: str,
        value: bytes,
        timeout: float,
        fence: int = 0,
        purge_counter: str | None = None,
    ) -> bool:
        now = time.time()
        self._writes_since_checkpoint += 1
        bucket = purge_bucket(key)
        with self._connection() as db:
            written = db.execute(
                "INSERT INTO entries SELECT ?, ?, ?, ?, ? "
                f"WHERE ? IS NULL OR ? = {_PURGE_COUNTER} ON CONFLICT (id) DO UPDATE "
                "SET key = excluded.key, expires_at = excluded.expires_at, "
                "fence = excluded.fence, value = excluded.value "
                "WHERE excluded.fence >= entries.fence OR entries.expires_at <= ? "
                "OR entries.fence > ? OR entries.key <> excluded.key",
                (
                    *(entry_id(key), key, now + timeout, fence, value),
                    *(purge_counter, purge_counter, bucket),
                    *(now, int(now * 1e6) + _SKEW_US),
                ),
            ).rowcount
            if written or purge_counter is None:
                return bool(written)
            (current,) = db.execute(f"SELECT {_PURGE_COUNTER}", (bucket,)).fetchone()
        compare_counters(purge_counter, current)
        return False

    @retry_if_corrupt
    def delete(self, key: str) -> bool:
        with self._connection() as db:
            gone = db.execute("DELETE FROM entries WHERE id = ? AND key = ?", (entry_id(key), key))
            return bool(gone.rowcount)

    @retry_if_corrupt
    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        with self._connection(PURGE_WAIT_S) as db, transaction(db):
            gone = db.execute(
                "DELETE FROM entries WHERE id BETWEEN ? AND ? AND substr(key, 1, ?) = ?",
                (*_ids_of(tag), len(tag) + 1, f"{tag}:"),
            ).rowcount
            db.execute("UPDATE generation SET name = ?", (new_generation(PURGED),))
            db.execute(_COUNT_PURGE, (purge_bucket(tag),))
            if number == 1:
                db.execute("INSERT OR IGNORE INTO purged_to VALUES (?, 0)", (log,))
            db.execute(
                "UPDATE purged_to SET number = ? WHERE log = ? AND number = ?",
                (number, log, number - 1),
            )
        return gone

    @retry_if_corrupt
    def erase_deleted(self) -> None:
        if not self._deleted_bytes.overwrite():
            raise BytesRemain(READER_KEEPS_BYTES)

    @retry_if_corrupt
    def purged_to(self, log: str) -> int:
        with self._connection() as db:
            found = db.execute("SELECT number FROM purged_to WHERE log = ?", (log,)).fetchone()
        return int(found[0]) if found else 0

    @retry_if_corrupt
    def set_purged_to(self, log: str, number: int) -> None:
        with self._connection() as db:
            db.execute("INSERT OR REPLACE INTO purged_to VALUES (?, ?)", (log, number))

    @retry_if_corrupt
    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        with self._connection(PURGE_WAIT_S) as db, transaction(db):
            if buckets is None:
                deleted = db.execute("DELETE FROM entries").rowcount
                db.execute("UPDATE contents SET id = ?", (new_generation(PURGED),))
            else:
                deleted = db.execute(
                    _DELETE_BUCKETS, (BUCKETS - 1, json.dumps(sorted(buckets)))
                ).rowcount
                db.executemany(_COUNT_PURGE, [(bucket,) for bucket in buckets])
            if deleted:
                db.execute("UPDATE generation SET name = ?", (new_generation(PURGED),))
        self._bytes_remain |= deleted > 0
        return deleted

    @retry_if_corrupt
    def retention(self) -> str:
        with self._connection() as db:
            return str(db.execute("SELECT retention FROM contents").fetchone()[0])

    @retry_if_corrupt
    def set_retention(self, text: str) -> None:
        with self._connection() as db:
            db.execute("UPDATE contents SET retention = ?", (text,))

    @retry_if_corrupt
    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        with self._connection() as db:
            rows = db.execute(
                "SELECT id, key, fence, value FROM entries WHERE id > ? ORDER BY id LIMIT ?",
                (-(2**63) if cursor is None else cursor, SWEEP_BATCH),
            ).fetchall()
        entries = [Stored(key, value, fence) for _, key, fence, value in rows]
        return entries, rows[-1][0] if len(rows) == SWEEP_BATCH else None

    @retry_if_corrupt
    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        with self._connection() as db, transaction(db):
            db.executemany(
                "UPDATE entries SET expires_at = ? "
                "WHERE id = ? AND key = ? AND fence = ? AND expires_at > ?",
                [(at, entry_id(each.key), each.key, each.fence, at) for each, at in ends],
            )

    @retry_if_corrupt
    def sweep(self) -> int:
        """Delete expired entries, and return their number. Checkpoint a long WAL.

        Entries are deleted in small transactions, so that other writers do not wait long.
        """
        self.remove_old_broken()
        gone = 0
        with self._connection() as db:
            if self._writes_since_checkpoint >= CHECKPOINT_AFTER:
                # Checkpoint before deleting, because on a full disk a checkpoint frees the space
                # that a deletion needs.
                self._writes_since_checkpoint = 0
                db.execute("PRAGMA wal_checkpoint(PASSIVE)")
            while True:
                batch = db.execute(
                    "DELETE FROM entries WHERE id IN "
                    "(SELECT id FROM entries WHERE expires_at <= ? LIMIT ?)",
                    (time.time(), SWEEP_BATCH),
                ).rowcount
                gone += batch
                if batch < SWEEP_BATCH:
                    break
            self._log_has_deleted |= gone > 0
            if self._log_has_deleted:
                self._log_has_deleted = not empty_log(db, tries=1)
        if self._bytes_remain:
            self._bytes_remain = not self._deleted_bytes.overwrite()
        return gone

    @retry_if_corrupt
    def size(self) -> StoreSize:
        with self._connection() as db:
            (entries,) = db.execute("SELECT count(*) FROM entries").fetchone()
            (size,) = db.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ).fetchone()
        return StoreSize(entries, size)

    def _make_tables(self, db: sqlite3.Connection) -> None:
        db.executescript(_SCHEMA)
        db.execute("INSERT OR IGNORE INTO generation VALUES (1, ?)", (new_generation(BEGUN),))
        db.execute("INSERT OR IGNORE INTO contents VALUES (1, ?, '')", (new_generation(BEGUN),))


def entry_id(key: str) -> int:
    """Return the row number of a key ``tag:name``, a signed 64-bit integer.

    The upper half is the CRC-32 of the tag, and the lower half is the CRC-32 of the name. Two keys
    of one vehicle have the same row number with a probability of about 1 in 2^32, and keys of
    different vehicles with a probability of about 1 in 2^64. If two keys have the same row number,
    the later entry replaces the earlier entry. Queries also compare the key, so no entry is
    returned for another key.
    """
    tag, _, name = key.partition(":")
    return (zlib.crc32(tag.encode()) << 32 | zlib.crc32(name.encode())) - 2**63


def _ids_of(tag: str) -> tuple[int, int]:
    first = (zlib.crc32(tag.encode()) << 32) - 2**63
    return first, first + 2**32 - 1
