"""The embedded database: one SQLite file that the processes of a machine share."""

import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    DisconnectionError,
    OperationalError,
    SQLAlchemyError,
)
from sqlalchemy.pool import ConnectionPoolEntry, Pool, QueuePool

from portal.storage import origin
from portal.storage.database import LOCKS, WRITE_WAIT_S, Database
from portal.storage.sqlite_traces import PRAGMAS, DeletedBytes, file_identity
from portal.storage.turn_queue import TurnQueue
from portal.system.erasure import BytesKept

log = logging.getLogger(__name__)

# The largest number of connections that a process opens to an SQLite file. Threads use no
# connection while they wait in the write queue.
SQLITE_CONNECTIONS = 16
# Seconds to wait for a pooled connection to SQLite.
POOL_TIMEOUT_S = 5.0


class SqliteDatabase(Database):
    """An SQLite file.

    Without its queue, each writing thread would poll for SQLite's lock with growing pauses. Among
    hundreds of threads, some would not get the lock in time. The queue first admits the thread with
    the earliest deadline. A write that records the end of an upstream call has an early deadline,
    so the queue admits it before the writes of new lookups.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(_engine(file))
        self.writers = TurnQueue()
        self._file = file
        self._deleted = DeletedBytes(file)

    def dispose(self) -> None:
        super().dispose()
        self._deleted.close()

    def reading(self) -> Connection:
        return self.engine.connect()

    @contextmanager
    def writing(self, wait_s: float = WRITE_WAIT_S) -> Iterator[Connection]:
        """Wait for other threads of the process without a connection, then for SQLite's lock."""
        until = time.monotonic() + wait_s
        self.writers.acquire(until)
        try:
            with self.engine.connect() as db, db.begin():
                _begin_immediate(db, max(0.0, until - time.monotonic()))
                yield db
        finally:
            self.writers.release()

    def side(self) -> Self:
        """Return the database itself, because reads do not wait for writers."""
        return self

    def set_up(self, *, required: bool) -> None:
        create_file(self._file)
        if required:
            self._check_integrity()

    @contextmanager
    def set_up_transaction(self) -> Iterator[Connection]:
        with self.writing() as db:
            yield db

    def try_to_write(self) -> None:
        """Do nothing, because a file that can be opened can be written."""

    def is_in_place(self) -> bool:
        try:
            self.reading().close()
        except SQLAlchemyError:
            return False
        return True

    def size(self) -> int | None:
        query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        with self.reading() as db:
            return int(db.exec_driver_sql(query).scalar_one())

    def erase_deleted(self) -> None:
        try:
            erased = self._deleted.overwrite()
        except (sqlite3.Error, OSError) as error:
            log.warning("deleted rows may have left bytes: %s", type(error).__name__)
            erased = False
        if not erased:
            raise BytesKept

    def is_restored(self) -> bool:
        with self.reading() as db:
            return origin.recorded(db) != origin.of_file(self._file)

    def record_origin(self) -> None:
        with self.writing() as db:
            origin.record(db, origin.of_file(self._file))

    def _check_integrity(self) -> None:
        """Raise OSError if the file's pages are corrupt.

        The caller must not replace a corrupt file by a new one, because the corrupt file may be the
        only copy of the rows.
        """
        try:
            with self.reading() as db:
                is_whole = db.exec_driver_sql("PRAGMA quick_check(1)").scalar() == "ok"
        except DatabaseError as error:
            # An OperationalError means that the file is locked or unreachable, but not corrupt.
            if isinstance(error, OperationalError):
                raise
            is_whole = False
        if not is_whole:
            raise OSError(f"{self._file.name} is corrupt: restore it from a backup")


def create_file(file: Path) -> None:
    """Create a SQLite file that only the owner can read, unless it exists.

    SQLite gives the write-ahead log the same access mode. An existing file is not opened, because
    closing it would take this process's locks from SQLite
    (https://sqlite.org/howtocorrupt.html, section 2.2). Another process could then delete the
    write-ahead log while this one uses it.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _engine(path: Path) -> Engine:
    # Open a URI, because only a URI can have mode=rw. Without mode=rw, SQLite would create a
    # missing file, and other users could read the new file.
    address = URL.create(
        "sqlite", database=f"file:{quote(str(path))}", query={"mode": "rw", "uri": "true"}
    )
    engine = create_engine(
        address,
        poolclass=QueuePool,
        pool_size=SQLITE_CONNECTIONS,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        execution_options={LOCKS: _no_lock},
    )
    engine.dialect.statement_compiler = _HintCompiler
    event.listen(engine, "connect", _set_up_connection)
    refuse_replaced_file(engine, path)
    return engine


def _no_lock(_db: Connection, _lock: object, _shared: bool) -> None:
    """A writing transaction already excludes other writers."""


class _HintCompiler(SQLiteCompiler):
    """Writes the hints of ``indexed_by``, which SQLAlchemy leaves out for SQLite."""

    def get_from_hint_text(self, _table: object, text: str | None) -> str | None:
        return text


def refuse_replaced_file(pool: Engine | Pool, path: Path) -> None:
    """Make a pool of SQLite connections open new connections if its file was replaced.

    Rows that are written to a removed file are lost without an error.
    """

    def note_inode(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info["inode"] = file_identity(path)

    def check_inode(_connection: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        with suppress(OSError):
            status = os.stat(path)  # noqa: PTH116 for every read; twice as fast as Path.stat
            if record.info.get("inode") == (status.st_dev, status.st_ino):
                return
        raise DisconnectionError("the file was removed or replaced")  # the pool reconnects

    event.listen(pool, "connect", note_inode)
    event.listen(pool, "checkout", check_inode)


def _set_up_connection(connection: Any, _record: object) -> None:
    # The driver must not begin transactions. ``writing`` begins them, and ``reading`` needs none.
    connection.isolation_level = None
    for pragma in ("journal_mode = WAL", *PRAGMAS):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute(f"PRAGMA busy_timeout = {int(WRITE_WAIT_S * 1000)}")


def _begin_immediate(connection: Connection, wait_s: float) -> None:
    """Acquire SQLite's write lock. Raises OperationalError after ``wait_s``.

    BEGIN IMMEDIATE acquires the lock before the transaction's first read. After a plain BEGIN, a
    write would fail without waiting if another process has written since the first read.
    """
    driver: Any = connection.connection.driver_connection
    begin = "BEGIN IMMEDIATE"
    try:  # SQLAlchemy would take four times as long
        driver.execute(f"PRAGMA busy_timeout = {int(wait_s * 1000)}").close()
        driver.execute(begin).close()
    except sqlite3.Error as error:
        raise DBAPIError.instance(
            begin, None, error, sqlite3.Error, dialect=connection.dialect
        ) from error
