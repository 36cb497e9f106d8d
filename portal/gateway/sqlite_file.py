"""One SQLite file that processes share: its connections, and what becomes of a corrupt one."""

import contextlib
import fcntl
import functools
import logging
import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from portal.gateway.memory import Version
from portal.storage import PageSearch

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F")

log = logging.getLogger(__name__)

# A paid answer waits for another process's write lock no longer than this; the store keeps an
# answer that could not be written and writes it later.
WRITE_WAIT_S = 0.5
SET_UP_WAIT_S = 10.0
# A file that was set aside is deleted after this time: no retention holds inside it.
BROKEN_KEPT_S = 24 * 3600.0
MOST_IDLE = 16
# SQLite keeps the file of a closed connection open while the process holds a lock on the database,
# so without a bound a crowd's connections would take descriptors for good.
MOST_OPEN = 64

# A connection's own pages, in KiB: room for the inner ones of the tree at millions of entries.
_OWN_PAGES_KIB = 8192
# Pages of 4 KiB after which a writer folds the log itself, for want of anybody who sweeps.
_LONGEST_LOG = 16_384


class Connection(sqlite3.Connection):
    """Knows which file it was opened on: device and inode."""

    file: tuple[int, int]


def mending(
    method: Callable[Concatenate[F, P], R],
) -> Callable[Concatenate[F, P], R]:
    """Try again, once, after a corrupt file was set aside."""

    def tried(self: F, /, *args: P.args, **named: P.kwargs) -> R:
        try:
            return method(self, *args, **named)
        except sqlite3.DatabaseError as error:
            if not _is_corrupt(error):
                raise
        return method(self, *args, **named)

    return functools.update_wrapper(tried, method)


class SQLiteFile(ABC):
    """Connections that follow the path: a file that was replaced is opened anew, and a corrupt one
    is set aside under another name."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # A stack: as many connections as are used at once, not one a thread.
        self._idle: deque[Connection] = deque()
        self._places = threading.BoundedSemaphore(MOST_OPEN)
        self._start = threading.Lock()
        self._file: tuple[int, int] | None = None  # the file that was set up; None before that
        self._closed = False
        # Never written through: its data_version tells what other connections have committed.
        self._watch: Connection | None = None
        self._watches = 0
        self._watching = threading.Lock()
        self._pages = PageSearch(path)
        self._broken_looked_at = 0.0

    def version(self) -> Version | None:
        self._set_up()
        with self._watching:
            if self._closed:
                return None
            try:
                if self._watch is not None and self._watch.file != self._file:
                    self._watch.close()
                    self._watch = None
                if self._watch is None:
                    self._watch, self._watches = self._open(), self._watches + 1
                (number,) = self._watch.execute("PRAGMA data_version").fetchone()
            except sqlite3.Error:
                if self._watch is not None:
                    self._watch.close()
                    self._watch = None
                raise
            return self._watches, number

    def remove_broken(self) -> list[str]:
        """Delete the files that were set aside as corrupt; the names of those deleted."""
        names = [file.name for file in self._broken()]
        for file in self._broken():
            file.unlink(missing_ok=True)
        return [name for name in names if not name.endswith(("-wal", "-shm"))]

    def close(self) -> None:
        """Keep no connection open any more: who comes late opens one and closes it."""
        self._closed = True
        self._keep(0)
        with self._watching:
            if self._watch is not None:
                self._watch.close()
                self._watch = None
        self._pages.close()

    @contextlib.contextmanager
    def _connection(self, wait_s: float | None = None) -> Iterator[Connection]:
        """A connection to the file that is at the path now; ``wait_s`` for another's write lock."""
        self._set_up()
        with self._places:
            db = self._taken()
            with self._closed_on_failure(db):
                if wait_s is not None:
                    db.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}")
                yield db
                if wait_s is not None:
                    db.execute(f"PRAGMA busy_timeout = {int(WRITE_WAIT_S * 1000)}")
            self._idle.append(db)
        if self._closed or len(self._idle) > MOST_IDLE:
            self._keep(0 if self._closed else MOST_IDLE)

    def _taken(self) -> Connection:
        while True:
            try:
                db = self._idle.pop()
            except IndexError:
                return self._open()
            if db.file == self._file:
                return db
            db.close()

    def _keep(self, most: int) -> None:
        with contextlib.suppress(IndexError):  # others may take them meanwhile, and bring them back
            while len(self._idle) > most:
                self._idle.pop().close()

    def _open(self) -> Connection:
        # Under the directory's lock: while another process sets the file aside, this connection
        # must not meet the former file with the new one's log.
        failure: sqlite3.Error | None = None
        with self._directory_lock(fcntl.LOCK_SH):
            # Autocommit: every statement is its own short transaction, so a write takes its lock
            # at once (a deferred one would fail as "locked") and no reader keeps the log from
            # shrinking.
            db = sqlite3.connect(
                self._path,
                timeout=SET_UP_WAIT_S,
                isolation_level=None,
                check_same_thread=False,
                factory=Connection,
            )
            db.file = _identity(self._path) or (0, 0)
            try:
                _write_ahead(db)
            except sqlite3.Error as error:
                failure = error  # raised without the lock: to set the file aside takes it too
        with self._closed_on_failure(db):
            if failure is not None:
                raise failure
            for pragma in (
                *("synchronous = NORMAL", "secure_delete = ON"),
                *(f"cache_size = -{_OWN_PAGES_KIB}", f"wal_autocheckpoint = {_LONGEST_LOG}"),
                f"busy_timeout = {int(WRITE_WAIT_S * 1000)}",
            ):
                db.execute(f"PRAGMA {pragma}")
        return db

    def _set_up(self) -> None:
        """Make the tables where the file at the path is not the one that was set up before."""
        if self._file is not None and _identity(self._path) == self._file:
            return
        with self._start:
            if self._file is not None and _identity(self._path) == self._file:
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Before SQLite opens it: the log beside it takes the mode of the file.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            db = self._open()
            with self._closed_on_failure(db):
                db.execute(f"PRAGMA busy_timeout = {int(SET_UP_WAIT_S * 1000)}")
                self._make_tables(db)
                db.execute(f"PRAGMA busy_timeout = {int(WRITE_WAIT_S * 1000)}")
            self._file = db.file
            self._idle.append(db)

    @abstractmethod
    def _make_tables(self, db: sqlite3.Connection) -> None:
        """Create the tables that do not exist yet."""

    @contextlib.contextmanager
    def _closed_on_failure(self, db: Connection) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            db.close()
            if isinstance(error, sqlite3.DatabaseError) and _is_corrupt(error):
                self._set_aside(db.file)
            raise

    def _set_aside(self, file: tuple[int, int]) -> None:
        """Give the corrupt file and its log another name, unless another thread or process has
        done so already."""
        with self._directory_lock(fcntl.LOCK_EX):
            if _identity(self._path) != file:
                return
            self.remove_broken()  # one at most: a failing disk must not fill up with copies
            now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
            name = f"{self._path.name}.broken-{now}"
            for suffix in ("-wal", "-shm", ""):  # the file last: by it the others are told
                with contextlib.suppress(FileNotFoundError):
                    self._path.with_name(self._path.name + suffix).rename(
                        self._path.with_name(name + suffix)
                    )
        log.error("%s is corrupt: set aside as %s, a new one is begun", self._path.name, name)

    @contextlib.contextmanager
    def _directory_lock(self, kind: int) -> Iterator[None]:
        """Over processes, and over threads: each opens a descriptor of its own."""
        directory = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(directory, kind)
            yield
        finally:
            os.close(directory)

    def _broken(self) -> list[Path]:
        return list(self._path.parent.glob(f"{self._path.name}.broken-*"))

    def remove_old_broken(self) -> None:
        now = time.monotonic()
        if now - self._broken_looked_at < 60:
            return
        self._broken_looked_at = now
        for file in self._broken():
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_ctime > BROKEN_KEPT_S:
                    file.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 twice as fast as Path.stat, on every read
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_corrupt(error: sqlite3.DatabaseError) -> bool:
    """Corrupt, no database, or one without our tables."""
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
        with contextlib.suppress(sqlite3.Error):  # a corrupt file ended it already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _write_ahead(db: sqlite3.Connection) -> None:
    """Two processes that switch a new store at once: SQLite lets one fail without waiting."""
    ends_at = time.monotonic() + SET_UP_WAIT_S
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > ends_at:
                raise
            time.sleep(0.01)
