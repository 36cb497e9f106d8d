"""Flask-Caching's embedded backend: one SQLite file shared by the worker processes.

It survives a restart, costs the same at a thousand and at a million entries, and deletes what
has expired. Values are bytes; nothing is ever unpickled.

An entry's row number is made of its key, so that one B-tree leads to it and no second one has to
be read and kept; the entries of a tag lie side by side. Who writes only appends to the log:
``sweep``, called every second or so, folds it into the file and waits for the disk.
"""

import contextlib
import json
import os
import sqlite3
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from flask import Flask
from flask_caching.backends.base import BaseCache

from portal.gateway.memory import Version
from portal.gateway.store import BEGUN, PURGED, BytesRemain, new_era

SWEEP_BATCH = 500
BUSY_TIMEOUT_S = 10.0
MOST_IDLE = 16
FOLD_AFTER = 300  # writes: folding waits for the disk, so not for each

# A connection's own pages, in KiB: room for the inner ones of the tree at millions of entries.
_OWN_PAGES_KIB = 8192
# Pages of 4 KiB after which a writer folds the log itself, for want of anybody who sweeps.
_LONGEST_LOG = 16_384
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, expires_at REAL NOT NULL, fence INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_at);
CREATE TABLE IF NOT EXISTS era (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL);
"""
# A fence from further ahead than clocks differ was written before the clock was set back.
_SKEW_US = 60_000_000


class SQLiteCache(BaseCache):
    """Keys are ``tag:name``; all entries of a tag can be deleted at once."""

    def __init__(self, path: Path, default_timeout: int = 300) -> None:
        super().__init__(default_timeout=default_timeout)
        self._path = path
        # A stack: as many connections as are used at once, not one a thread.
        self._idle: deque[sqlite3.Connection] = deque()
        self._start = threading.Lock()
        self._started = False
        self._closed = False
        self._written = 0  # times, since the log was folded
        self._log_tells = True  # whether the log may hold bytes of what was deleted
        # Never written through: its data_version tells what other connections have committed.
        self._watch: sqlite3.Connection | None = None
        self._watches = 0
        self._watching = threading.Lock()

    @classmethod
    def factory(
        cls, _app: Flask, config: dict[str, Any], _args: list[Any], _options: dict[str, Any]
    ) -> "SQLiteCache":
        return cls(Path(config["CACHE_DIR"]) / "cache.sqlite")

    def get(self, key: str) -> bytes | None:
        return self.read(key)[0]

    def read(self, key: str) -> tuple[bytes | None, str]:
        with self._connection() as db:
            value, era = db.execute(
                "SELECT (SELECT value FROM entries WHERE id = ? AND key = ? AND expires_at > ?), "
                "name FROM era",
                (entry_id(key), key, time.time()),
            ).fetchone()
        return value, era

    def version(self) -> Version | None:
        if not self._started:
            self._first_use()
        with self._watching:
            if self._closed:
                return None
            try:
                if self._watch is None:
                    self._watch, self._watches = self._open(), self._watches + 1
                (number,) = self._watch.execute("PRAGMA data_version").fetchone()
            except sqlite3.Error:
                if self._watch is not None:
                    self._watch.close()
                    self._watch = None
                raise
            return self._watches, number

    def heads(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        ids = json.dumps([entry_id(key) for key in keys])
        with self._connection() as db:
            # Before the entries: what a purge deletes meanwhile then belongs to the era before.
            (era,) = db.execute("SELECT name FROM era").fetchone()
            found = db.execute(
                "SELECT key, substr(value, 1, ?) FROM entries "
                "WHERE id IN (SELECT value FROM json_each(?)) AND expires_at > ?",
                (size, ids, time.time()),
            ).fetchall()
        return dict(found), era

    def set(self, key: str, value: bytes, timeout: Any = None) -> bool:
        return self.replace(key, value, self.default_timeout if timeout is None else timeout)

    def replace(self, key: str, value: bytes, timeout: float, fence: int = 0) -> bool:
        now = time.time()
        self._written += 1
        with self._connection() as db:
            return bool(
                db.execute(
                    "INSERT INTO entries VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE "
                    "SET key = excluded.key, expires_at = excluded.expires_at, "
                    "fence = excluded.fence, value = excluded.value "
                    "WHERE excluded.fence >= entries.fence OR entries.expires_at <= ? "
                    "OR entries.fence > ? OR entries.key <> excluded.key",
                    (
                        *(entry_id(key), key, now + timeout, fence, value),
                        *(now, int(now * 1e6) + _SKEW_US),
                    ),
                ).rowcount
            )

    def delete(self, key: str) -> bool:
        with self._connection() as db:
            gone = db.execute("DELETE FROM entries WHERE id = ? AND key = ?", (entry_id(key), key))
            return bool(gone.rowcount)

    def delete_tagged(self, tag: str) -> int:
        """Delete every entry of a tag and leave none of its bytes in the file or its log.

        Raises BytesRemain where a reader keeps the log from being emptied.
        """
        with self._connection() as db:
            gone = db.execute(
                "DELETE FROM entries WHERE id BETWEEN ? AND ? AND substr(key, 1, ?) = ?",
                (*_ids_of(tag), len(tag) + 1, f"{tag}:"),
            ).rowcount
            db.execute("UPDATE era SET name = ?", (new_era(PURGED),))
            emptied = _empty_log(db)
        if not emptied:
            raise BytesRemain(gone)
        return gone

    def sweep(self) -> int:
        """Delete what has expired, in small transactions so that nobody waits; fold the log."""
        gone = 0
        with self._connection() as db:
            if self._written >= FOLD_AFTER:
                # First: on a full disk what is folded makes room for the log of what is deleted.
                self._written = 0
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
            self._log_tells |= gone > 0
            if self._log_tells:
                self._log_tells = not _empty_log(db, tries=1)
        return gone

    def close(self) -> None:
        """Keep no connection open any more: who comes late opens one and closes it."""
        self._closed = True
        self._keep(0)
        with self._watching:
            if self._watch is not None:
                self._watch.close()
                self._watch = None

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if not self._started:
            self._first_use()
        try:
            db = self._idle.pop()
        except IndexError:
            db = self._open()
        with _closed_on_failure(db):
            yield db
        self._idle.append(db)
        if self._closed or len(self._idle) > MOST_IDLE:
            self._keep(0 if self._closed else MOST_IDLE)

    def _keep(self, most: int) -> None:
        with contextlib.suppress(IndexError):  # others may take them meanwhile, and bring them back
            while len(self._idle) > most:
                self._idle.pop().close()

    def _open(self) -> sqlite3.Connection:
        # Autocommit: every statement is its own short transaction, so a write takes its lock at
        # once (a deferred one would fail as "locked") and no reader keeps the log from shrinking.
        db = sqlite3.connect(
            self._path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        with _closed_on_failure(db):
            _write_ahead(db)
            for pragma in (
                *("synchronous = NORMAL", "secure_delete = ON"),
                *(f"cache_size = -{_OWN_PAGES_KIB}", f"wal_autocheckpoint = {_LONGEST_LOG}"),
            ):
                db.execute(f"PRAGMA {pragma}")
        return db

    def _first_use(self) -> None:
        with self._start:
            if self._started:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Before SQLite opens it: the log beside it takes the mode of the file.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            db = self._open()
            with _closed_on_failure(db):
                db.executescript(_SCHEMA)
                _move_in(db)
                db.execute("INSERT OR IGNORE INTO era VALUES (1, ?)", (new_era(BEGUN),))
            self._idle.append(db)
            self._started = True


def entry_id(key: str) -> int:
    """A signed 64-bit row number: the tag's checksum above, the name's below.

    Two keys may share one, once in 10^19 pairs: the later takes the other's place, and neither
    is ever given out under the other's key.
    """
    tag, _, name = key.partition(":")
    return (zlib.crc32(tag.encode()) << 32 | zlib.crc32(name.encode())) - 2**63


@contextlib.contextmanager
def _closed_on_failure(db: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        db.close()
        raise


def _ids_of(tag: str) -> tuple[int, int]:
    first = (zlib.crc32(tag.encode()) << 32) - 2**63
    return first, first + 2**32 - 1


def _write_ahead(db: sqlite3.Connection) -> None:
    """Two processes that switch a new store at once: SQLite lets one fail without waiting."""
    ends_at = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > ends_at:
                raise
            time.sleep(0.01)


def _move_in(db: sqlite3.Connection) -> None:
    """A store of the first shape held its answers by key: what was paid for moves house, a few at
    a time, so that other processes can move some too."""
    moved = 1
    while moved:
        db.execute("BEGIN IMMEDIATE")
        try:
            moved = _move_some(db)
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


def _move_some(db: sqlite3.Connection) -> int:
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'answers'").fetchone():
        return 0
    some = db.execute(
        "SELECT key, expires_at, fence, value FROM answers LIMIT ?", (SWEEP_BATCH,)
    ).fetchall()
    db.executemany(
        "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?, ?)",
        ((entry_id(entry[0]), *entry) for entry in some),
    )
    db.executemany("DELETE FROM answers WHERE key = ?", ((entry[0],) for entry in some))
    if not some:
        db.execute("DROP TABLE answers")
    return len(some)


def _empty_log(db: sqlite3.Connection, tries: int = 40) -> bool:
    """Fold the write-ahead log into the file and empty it; whether that was done. A reader is
    waited for, 0.8 s in all, and never by SQLite: it would hold the lock that writers need."""
    db.execute("PRAGMA busy_timeout = 0")
    try:
        for attempt in range(tries):
            if attempt:
                time.sleep(0.02)
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return True
        return False
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")
