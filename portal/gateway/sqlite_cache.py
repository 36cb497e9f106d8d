"""A Flask-Caching backend in one SQLite file that the worker processes share.

Values are stored as bytes, so that a read never unpickles data.

The row number of an entry is computed from the entry's key, so that a read needs no index on the
key. One vehicle's entries are next to each other in the table's B-tree. A write normally only
appends to the write-ahead log (WAL), without waiting for the disk. ``sweep`` copies a long WAL into
the database file (a checkpoint), and waits for the disk.
"""

import contextlib
import fcntl
import functools
import json
import logging
import math
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from flask_caching.backends.base import BaseCache
from sqlalchemy.pool import NullPool, Pool, QueuePool

from portal.gateway.backend import (
    MOST_COUNTED,
    READER_KEEPS_BYTES,
    BytesRemain,
    EndOf,
    Found,
    Outcome,
    StoreSize,
)
from portal.gateway.envelope import KEY_ID_BYTES, SEAL_BYTES
from portal.storage.purge_log import BUCKETS, purge_bucket
from portal.storage.sqlite import create_file, refuse_replaced_file
from portal.storage.sqlite_traces import PRAGMAS, DeletedBytes, empty_log, file_identity

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F")

log = logging.getLogger(__name__)

# Seconds that a write waits for another process's write lock. ``Store`` queues an answer that
# cannot be written in time.
WRITE_WAIT_S = 0.5
SET_UP_WAIT_S = 10.0
# ``_quarantine`` renames a corrupt file. The renamed file is deleted after this many seconds,
# because ``sweep`` does not delete expired entries in it.
BROKEN_KEPT_S = 24 * 3600.0
BROKEN_CHECKED_EVERY_S = 60.0
MAX_IDLE = 16
# The largest number of connections in use at a time. Without this limit, many connections at once
# could use up the process's file descriptors. After a connection is closed, SQLite keeps its
# descriptor open while another connection of the process holds a lock on the file.
MAX_OPEN = 64

# A connection's page cache of 8 MiB holds the inner pages of a B-tree with millions of entries. A
# writer runs a checkpoint when the write-ahead log (WAL) has 16,384 pages of 4 KiB. ``sweep``
# normally runs a checkpoint earlier.
_OWN_PRAGMAS = ("cache_size = -8192", "wal_autocheckpoint = 16384")

SWEEP_BATCH = 500
PURGE_WAIT_S = 5.0
_NEVER = 1e12  # epoch seconds
# The number of this process's writes after which ``sweep`` runs a checkpoint.
CHECKPOINT_AFTER = 300

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, expires_at REAL NOT NULL, fence INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS entries_by_expiry ON entries (expires_at);
CREATE TABLE IF NOT EXISTS purged (bucket INTEGER PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS purged_to (log TEXT PRIMARY KEY, number INTEGER NOT NULL);
"""
_VALUE = "(SELECT value FROM entries WHERE id = ? AND key = ? AND expires_at > ?)"
# A file of a former version has a row for each secret key.
_PURGED_TO = "(SELECT coalesce(max(number), 0) FROM purged_to)"
_IS_TAGGED = "id BETWEEN ? AND ? AND substr(key, 1, ?) = ?"
_IS_PURGED = "EXISTS (SELECT 1 FROM purged WHERE bucket = ? AND number > ?)"
# ``entry_id`` contains the purge bucket in the bits 32 to 47. The index has the row numbers in
# fewer pages than the table.
_IN_BUCKETS = f"""
    AND id IN (
        SELECT id FROM entries INDEXED BY entries_by_expiry
        WHERE (id >> 32) & {BUCKETS - 1} IN (SELECT value FROM json_each(?))
    )"""  # noqa: S608 only our own text
# The largest expected clock error, in microseconds. A fence is the time at which a lease was
# acquired (see Leases). A fence that is further in the future comes from a wrong clock, so a write
# with a lower fence may replace the entry.
_SKEW_US = 60_000_000


def retry_if_corrupt(
    method: Callable[Concatenate[F, P], R],
) -> Callable[Concatenate[F, P], R]:
    """Decorate a method to run a second time if it fails on a corrupt file.

    The first run has renamed the corrupt file, so the second run uses a new file.
    """

    def retried(self: F, /, *args: P.args, **named: P.kwargs) -> R:
        try:
            return method(self, *args, **named)
        except sqlite3.DatabaseError as error:
            if not _is_corrupt(error):
                raise
        return method(self, *args, **named)

    return functools.update_wrapper(retried, method)


class SQLiteCache(BaseCache):
    """Stores entries under keys ``tag:name`` (see ``Backend``) in the SQLite file at ``path``.

    If the file at the path is replaced, the pool opens connections to the new file. A corrupt file
    is renamed (quarantine), and a new file is created.
    """

    def __init__(self, path: Path, default_timeout: int = 300) -> None:
        super().__init__(default_timeout=default_timeout)
        self._path = path
        self._pool = self._watched(
            QueuePool(
                self._open,
                pool_size=MAX_IDLE,
                max_overflow=MAX_OPEN - MAX_IDLE,
                timeout=SET_UP_WAIT_S,
                use_lifo=True,
                reset_on_return=None,
            )
        )
        self._deleted_bytes = DeletedBytes(path)
        self._broken_checked_at = -math.inf
        self._writes_since_checkpoint = 0
        self._log_has_deleted = True  # whether the WAL may contain bytes of deleted entries
        self._bytes_remain = False  # whether ``sweep`` must erase bytes of purged entries

    @retry_if_corrupt
    def signing_key(self) -> bytes | None:
        """Return the id of the key that has signed the answers, or None if there are none."""
        query = "SELECT substr(value, ?, ?) FROM entries WHERE key GLOB '[0-9a-f]*' LIMIT 1"
        with self._connection() as db:
            row = db.execute(query, (SEAL_BYTES + 1, KEY_ID_BYTES)).fetchone()
        return None if row is None else bytes(row[0])

    def get(self, key: str) -> bytes | None:
        return self.read_many([key]).values[0]

    @retry_if_corrupt
    def read_many(self, keys: Sequence[str]) -> Found:
        now = time.time()
        which: list[object] = []
        for key in keys:
            which += (entry_id(key), key, now)
        columns = ", ".join([*[_VALUE] * len(keys), _PURGED_TO])
        with self._connection() as db:
            *values, purged_to = db.execute(f"SELECT {columns}", which).fetchone()
        return Found(values, purged_to)

    @retry_if_corrupt
    def signatures(self, keys: Sequence[str], size: int) -> dict[str, bytes]:
        ids = json.dumps([entry_id(key) for key in keys])
        with self._connection() as db:
            return dict(
                db.execute(
                    "SELECT key, substr(value, 1, ?) FROM entries "
                    "WHERE id IN (SELECT value FROM json_each(?)) AND expires_at > ?",
                    (size, ids, time.time()),
                )
            )

    def set(self, key: str, value: bytes, timeout: Any = None) -> bool:
        lasts_s = self.default_timeout if timeout is None else timeout
        return self.replace(key, value, lasts_s or _NEVER) == "stored"

    @retry_if_corrupt
    def replace(
        self, key: str, value: bytes, timeout: float, fence: int = 0, purge_no: int = 0
    ) -> Outcome:
        now = time.time()
        self._writes_since_checkpoint += 1
        purged = (purge_bucket(key), purge_no)
        with self._connection() as db:
            written = db.execute(
                f"INSERT INTO entries SELECT ?, ?, ?, ?, ? WHERE NOT {_IS_PURGED} "
                "ON CONFLICT (id) DO UPDATE "
                "SET key = excluded.key, expires_at = excluded.expires_at, "
                "fence = excluded.fence, value = excluded.value "
                "WHERE excluded.fence >= entries.fence OR entries.expires_at <= ? "
                "OR entries.fence > ? OR entries.key <> excluded.key",
                (
                    *(entry_id(key), key, now + timeout, fence, value, *purged),
                    *(now, int(now * 1e6) + _SKEW_US),
                ),
            ).rowcount
            if written:
                return "stored"
            (is_purged,) = db.execute(f"SELECT {_IS_PURGED}", purged).fetchone()
        return "purged" if is_purged else "outdated"

    @retry_if_corrupt
    def begin_purges(self, purges: Mapping[int, int]) -> None:
        with self._transaction() as db:
            db.executemany(
                "INSERT INTO purged VALUES (?, ?) ON CONFLICT (bucket) "
                "DO UPDATE SET number = max(number, excluded.number)",
                purges.items(),
            )

    @retry_if_corrupt
    def count_tagged(self, tags: Collection[str]) -> int:
        counted = f"SELECT count(*) FROM entries WHERE {_IS_TAGGED}"  # noqa: S608 only our own text
        with self._connection() as db:
            return sum(db.execute(counted, _tagged(tag)).fetchone()[0] for tag in tags)

    @retry_if_corrupt
    def delete_tagged(self, tags: Collection[str]) -> int:
        deleted = f"DELETE FROM entries WHERE {_IS_TAGGED}"  # noqa: S608 only our own text
        with self._transaction() as db:
            return sum(db.execute(deleted, _tagged(tag)).rowcount for tag in tags)

    @retry_if_corrupt
    def end_purges(self, before: int, number: int) -> None:
        with self._transaction() as db:
            db.execute(
                f"INSERT OR REPLACE INTO purged_to SELECT '', ? WHERE {_PURGED_TO} = ?",
                (number, before),
            )

    def review(self, end_of: EndOf, buckets: Collection[int] | None = None) -> Iterator[None]:
        after: int | None = -(2**63)
        while after is not None:
            after = self._review_some(end_of, buckets, after)
            yield

    @retry_if_corrupt
    def _review_some(
        self, end_of: EndOf, buckets: Collection[int] | None, after: int
    ) -> int | None:
        """Review the next entries after a row number, and return the last one's row number."""
        limits = "" if buckets is None else _IN_BUCKETS
        listed = [] if buckets is None else [json.dumps(sorted(buckets))]
        query = (
            f"SELECT id, key, fence, value FROM entries WHERE id > ? {limits} ORDER BY id LIMIT ?"  # noqa: S608 only our own text
        )
        with self._connection() as db:
            rows = db.execute(query, (after, *listed, SWEEP_BATCH)).fetchall()
        changes = [
            (end, number, key, fence, end)
            for number, key, fence, value in rows
            if (end := end_of(key, value)) is not None
        ]
        if changes:
            with self._transaction() as db:
                db.executemany(
                    "UPDATE entries SET expires_at = ? "
                    "WHERE id = ? AND key = ? AND fence = ? AND expires_at > ?",
                    changes,
                )
            self._bytes_remain |= buckets is not None
        return rows[-1][0] if len(rows) == SWEEP_BATCH else None

    @retry_if_corrupt
    def erase_deleted(self) -> Sequence[str]:
        broken = self.remove_broken()
        if not self._deleted_bytes.overwrite():
            raise BytesRemain(READER_KEEPS_BYTES)
        return broken

    @retry_if_corrupt
    def sweep(self) -> int:
        """Delete expired entries, and return their number. Checkpoint a long WAL.

        Entries are deleted in small transactions, so that other writers do not wait long.
        """
        if time.monotonic() > self._broken_checked_at + BROKEN_CHECKED_EVERY_S:
            self._broken_checked_at = time.monotonic()
            with contextlib.suppress(OSError):
                self.remove_broken(BROKEN_KEPT_S)
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
            counted = "SELECT count(*) FROM (SELECT 1 FROM entries LIMIT ?)"
            (entries,) = db.execute(counted, (MOST_COUNTED + 1,)).fetchone()
            (size,) = db.execute(
                "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
            ).fetchone()
        return StoreSize(entries, size)

    def remove_broken(self, min_age_s: float = -math.inf) -> list[str]:
        """Delete the corrupt files that ``_quarantine`` renamed, and return their names."""
        names = []
        for file in list(self._path.parent.glob(f"{self._path.name}.broken-*")):
            with contextlib.suppress(FileNotFoundError):
                if time.time() - file.stat().st_ctime > min_age_s:
                    file.unlink()
                    names.append(file.name)
        return [name for name in names if not name.endswith(("-wal", "-shm"))]

    def close(self) -> None:
        """Close all pooled connections.

        A method that is called after ``close`` opens a connection and closes it again.
        """
        pool, self._pool = self._pool, self._watched(NullPool(self._open))
        pool.dispose()
        self._deleted_bytes.close()

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to the file that is now at the path."""
        with contextlib.closing(self._pool.connect()) as pooled:
            db: Any = pooled.driver_connection
            inode = pooled.info["inode"]
            try:
                yield db
            except BaseException as error:
                pooled.invalidate()
                self._quarantine_if_corrupt(error, inode)
                raise

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that waits PURGE_WAIT_S for other writers, in a transaction."""
        with self._connection() as db:
            db.execute(f"PRAGMA busy_timeout = {int(PURGE_WAIT_S * 1000)}")
            db.execute("BEGIN IMMEDIATE")
            with db:
                yield db
            db.execute(f"PRAGMA busy_timeout = {int(WRITE_WAIT_S * 1000)}")

    def _open(self) -> Any:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # to lock it
        # Lock the directory. If two processes switched a new file to WAL at once, SQLite would
        # reject one switch. If another process renamed a corrupt file meanwhile, the connection
        # could combine the old file with the new file's WAL.
        with self._directory_lock():
            create_file(self._path)
            # isolation_level=None makes every statement its own transaction. A write then waits for
            # the write lock. In a transaction that begins with a read, a write could instead fail
            # at once with "database is locked". Long read transactions would also delay the
            # truncation of the WAL.
            db = sqlite3.connect(
                self._path, timeout=SET_UP_WAIT_S, isolation_level=None, check_same_thread=False
            )
            inode = file_identity(self._path)
            try:
                for pragma in ("journal_mode = WAL", *PRAGMAS, *_OWN_PRAGMAS):
                    db.execute(f"PRAGMA {pragma}")
                db.executescript(_SCHEMA)
                db.execute(f"PRAGMA busy_timeout = {int(WRITE_WAIT_S * 1000)}")
                return db
            except sqlite3.Error as error:
                db.close()
                failure = error
        self._quarantine_if_corrupt(failure, inode)
        raise failure

    def _quarantine_if_corrupt(self, error: BaseException, inode: tuple[int, int] | None) -> None:
        if isinstance(error, sqlite3.DatabaseError) and _is_corrupt(error):
            self._quarantine(inode)

    def _quarantine(self, inode: tuple[int, int] | None) -> None:
        """Rename the corrupt file and its WAL, unless they have been renamed already."""
        with self._directory_lock():
            if file_identity(self._path) != inode:
                return
            # Keep at most one quarantined file, so that a failing disk does not fill up with
            # copies.
            self.remove_broken()
            now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
            name = f"{self._path.name}.broken-{now}"
            # Rename the database file last. When it is gone, another process may create a new file,
            # which must not find the old WAL.
            for suffix in ("-wal", "-shm", ""):
                with contextlib.suppress(FileNotFoundError):
                    self._path.with_name(self._path.name + suffix).rename(
                        self._path.with_name(name + suffix)
                    )
        log.error("%s is corrupt: renamed to %s, creating a new one", self._path.name, name)

    @contextlib.contextmanager
    def _directory_lock(self) -> Iterator[None]:
        """Lock the directory against other processes and threads.

        Each caller opens its own descriptor, because flock does not exclude threads that share a
        descriptor.
        """
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):  # some file systems have no locks
                fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)

    def _watched(self, pool: Pool) -> Pool:
        refuse_replaced_file(pool, self._path)
        return pool


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


def _tagged(tag: str) -> tuple[int, int, int, str]:
    """Return the parameters of ``_IS_TAGGED``."""
    first = (zlib.crc32(tag.encode()) << 32) - 2**63
    return first, first + 2**32 - 1, len(tag) + 1, f"{tag}:"


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    """Return whether the error says that the file is corrupt.

    A file that is not a database, or that lacks the cache's tables, counts as corrupt.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(error).startswith(
        "no such table"
    )
