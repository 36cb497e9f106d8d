"""Opens connections to a shared SQLite file, and replaces the file if it is corrupt."""

import contextlib
import fcntl
import functools
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy.pool import NullPool, Pool, QueuePool

from portal.storage.database import create_file, refuse_replaced_file
from portal.storage.sqlite_traces import PRAGMAS, DeletedBytes, file_identity

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
MAX_IDLE = 16
# The largest number of connections in use at a time. Without this limit, many connections at once
# could use up the process's file descriptors. After a connection is closed, SQLite keeps its
# descriptor open while another connection of the process holds a lock on the file.
MAX_OPEN = 64

# A connection's page cache of 8 MiB holds the inner pages of a B-tree with millions of entries. A
# writer runs a checkpoint when the write-ahead log (WAL) has 16,384 pages of 4 KiB. ``sweep``
# normally runs a checkpoint earlier.
_OWN_PRAGMAS = ("cache_size = -8192", "wal_autocheckpoint = 16384")


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


class SQLiteFile:
    """A pool of connections to the SQLite file at ``path``, which has the tables of ``schema``.

    If the file at the path is replaced, the pool opens connections to the new file. A corrupt file
    is renamed (quarantine), and a new file is created.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
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
        self._broken_checked_at = 0.0

    def _watched(self, pool: Pool) -> Pool:
        refuse_replaced_file(pool, self._path)
        return pool

    def remove_broken(self) -> list[str]:
        """Delete the corrupt files that ``_quarantine`` renamed, and return their names."""
        names = [file.name for file in self._broken()]
        for file in self._broken():
            file.unlink(missing_ok=True)
        return [name for name in names if not name.endswith(("-wal", "-shm"))]

    def close(self) -> None:
        """Close all pooled connections.

        A method that is called after ``close`` opens a connection and closes it again.
        """
        pool, self._pool = self._pool, self._watched(NullPool(self._open))
        pool.dispose()
        self._deleted_bytes.close()

    @contextlib.contextmanager
    def _connection(self, wait_s: float | None = None) -> Iterator[sqlite3.Connection]:
        """Yield a connection to the file that is now at the path.

        ``wait_s`` is the longest wait, in seconds, for another process's write lock.
        """
        with contextlib.closing(self._pool.connect()) as pooled:
            db: Any = pooled.driver_connection
            inode = pooled.info["inode"]
            try:
                if wait_s is not None:
                    db.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
                yield db
                if wait_s is not None:
                    db.execute(f"PRAGMA busy_timeout = {int(WRITE_WAIT_S * 1000)}")
            except BaseException as error:
                pooled.invalidate()
                self._quarantine_if_corrupt(error, inode)
                raise

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
                db.executescript(self._schema)
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

    def _broken(self) -> list[Path]:
        return list(self._path.parent.glob(f"{self._path.name}.broken-*"))

    def remove_old_broken(self) -> None:
        now = time.monotonic()
        if now - self._broken_checked_at < 60:
            return
        self._broken_checked_at = now
        for file in self._broken():
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_ctime > BROKEN_KEPT_S:
                    file.unlink()


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    """Return whether the error says that the file is corrupt.

    A file that is not a database, or that lacks the cache's tables, counts as corrupt.
    """
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or str(error).startswith(
        "no such table"
    )


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with contextlib.suppress(sqlite3.Error):  # a corrupt file may have ended the transaction
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
