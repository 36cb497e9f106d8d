"""Engines and transactions for SQLite and PostgreSQL, and the set-up of the schema."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote
from weakref import WeakKeyDictionary

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    Select,
    Table,
    create_engine,
    event,
    func,
    insert,
    make_url,
    select,
)
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.exc import (
    DatabaseError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    OperationalError,
    ProgrammingError,
    SQLAlchemyError,
)
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, Pool, QueuePool

from portal.storage.schema import (
    SCHEMA_HEAD,
    SchemaMismatch,
    mismatch,
    record_revision,
    require_fitting_tables,
    schema_revision,
)
from portal.storage.sqlite_traces import PRAGMAS, DeletedBytes, file_identity
from portal.storage.tables import call_counters, history, ledger, metadata
from portal.storage.turn_queue import TurnQueue
from portal.system.erasure import BytesKept
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

# The default number of seconds that ``writing`` waits for other writers of an SQLite file.
WRITE_WAIT_S = 10.0
# The largest number of connections that a process opens to an SQLite file. Threads use no
# connection while they wait in the write queue.
SQLITE_CONNECTIONS = 16
# Seconds to wait for a pooled connection to SQLite.
POOL_TIMEOUT_S = 5.0


class Lock(Enum):
    """PostgreSQL advisory locks. All portals that share a database must use the same numbers.

    Without DOSSIERS and BATCHES, two transactions that lock the same rows in different orders could
    deadlock. A transaction that checks the log of purges before it inserts data about a vehicle
    shares PURGES. A transaction that logs a purge waits for these. The purge then deletes what they
    have inserted. TRAIL comes last: a transaction that holds it waits for no other lock.
    """

    SET_UP = 0x646F7373  # creates or migrates tables
    DOSSIERS = 0x64737372  # deletes dossiers
    BATCHES = 0x62617463  # writes batches
    PURGES = 0x70757267  # logs purges
    TRAIL = 0x74726169  # continues, empties or shortens the trail


# What else a transaction does.
Also = Callable[[Connection], object]


def nothing_else(_: Connection) -> None:
    """Do nothing else in a transaction."""


_deleted_bytes: "WeakKeyDictionary[Engine, DeletedBytes]" = WeakKeyDictionary()
# Without a queue, each writing thread would poll for SQLite's lock with growing pauses. Among
# hundreds of threads, some would not get the lock in time. The queue first admits the thread with
# the earliest deadline. A write that records the end of an upstream call has an early deadline, so
# the queue admits it before the writes of new lookups.
_write_queues: "WeakKeyDictionary[Engine, TurnQueue]" = WeakKeyDictionary()


def open_engine(
    url: str | None, data_dir: Path, required: bool = True, create: bool = True
) -> Engine:
    """Create or migrate the database's tables, and return the database's engine.

    If ``url`` is None, the database is an SQLite file in ``data_dir``. An existing PostgreSQL
    database is not migrated, because other portals may be using the database. The operator must run
    ``flask db upgrade``. Raises OSError or SQLAlchemyError if the database cannot be opened or
    denies access to its tables. Raises SchemaMismatch if the schema belongs to another version or
    was changed by hand.

    If ``required`` is False, errors are only logged. Worker processes pass False, because a worker
    that starts during an outage of the database must not exit. If ``create`` is False, the function
    only returns the engine, and does not open the database.
    """
    file = database_file(url, data_dir)
    if file is None:
        from portal.storage.postgresql import postgresql  # lazy: SQLite needs no psycopg

        engine = postgresql(url or "")
    else:
        engine = _sqlite(file)
    if not create:
        return engine
    try:
        if file is None:
            require_current_schema(engine)
        else:
            create_file(file)
            if required:
                _check_integrity(engine, file)
        upgrade_schema(engine)
        if required:
            with reading(engine) as db:
                require_fitting_tables(db, metadata)
            _try_to_write(engine)
    except (OSError, SQLAlchemyError, SchemaMismatch) as error:
        if required:
            engine.dispose()
            raise
        if isinstance(error, SchemaMismatch):
            log.warning("%s", error)
        else:
            log.warning("the database is away: %s", error_kind(error))
    return engine


def side_engine(engine: Engine) -> Engine:
    """Return an engine for the tables of tokens and histories.

    Requests with cached answers need these tables, but not the ledger. Slow writes to the ledger
    must not delay these requests. On PostgreSQL, the new engine therefore has its own connections.
    On SQLite, reads do not wait for writers, so the function returns ``engine`` itself.
    """
    if engine.dialect.name != "postgresql":
        return engine
    from portal.storage.postgresql import SIDE_CONNECTIONS, postgresql  # lazy: needs psycopg

    return postgresql(engine.url, SIDE_CONNECTIONS)


def _try_to_write(engine: Engine) -> None:
    """Insert test rows into PostgreSQL and roll back. Raises SQLAlchemyError if INSERT is denied.

    If the server is temporarily read-only, as a standby server is, the function only logs a
    warning.
    """
    if engine.dialect.name != "postgresql":
        return
    values = {"subject": "", "origin": "", "caller": "", "price": "0", "outcome": "probe"}
    try:
        with engine.connect() as db:
            db.execute(
                insert(ledger).values(sent_at=0.0, day="", operation="", namespace="", **values)
            )
            db.execute(insert(history).values(visitor="", subject="", asked_at=0.0, sealed=b""))
            db.execute(insert(call_counters).values(namespace="", day="", payer="", calls=0))
            db.rollback()
    except (ProgrammingError, IntegrityError):
        raise
    except SQLAlchemyError as error:
        log.warning("the database refuses writes: %s", error_kind(error))


def require_current_schema(engine: Engine) -> None:
    """Raise SchemaMismatch unless the database is empty or has the schema of this version.

    Raises SQLAlchemyError.
    """
    found = current_revision(engine)
    if found is not None and found != SCHEMA_HEAD:
        raise mismatch(found)


def current_revision(engine: Engine) -> str | None:
    """Return the revision of the schema, or None for an empty database. Raises SQLAlchemyError."""
    with reading(engine) as db:
        return schema_revision(db)


def upgrade_schema(engine: Engine) -> str | None:
    """Migrate the schema and return its former revision, or None for an empty database.

    In an empty database, the tables are created without migrations. All migrations run in one
    transaction. Concurrent calls wait for this transaction. Raises SQLAlchemyError. Raises
    SchemaMismatch if this version of the portal does not know the database's revision.
    """
    found = current_revision(engine)
    if found == SCHEMA_HEAD:
        return found
    if found is None:
        with _set_up_transaction(engine) as db:
            if schema_revision(db) is None:
                metadata.create_all(db)
                record_revision(db, SCHEMA_HEAD)
                return None
    # Import Alembic only here, because most starts need no migration. The import comes before the
    # transaction, because other portals may wait for the transaction's end.
    from portal.storage.migrations import migrate

    with _set_up_transaction(engine) as db:
        return migrate(db)


@contextmanager
def _set_up_transaction(engine: Engine) -> Iterator[Connection]:
    """Begin a transaction that keeps other processes from creating or migrating tables."""
    if engine.dialect.name != "postgresql":
        with writing(engine) as db:
            yield db
        return
    from portal.storage.postgresql import connect_options  # lazy: needs psycopg

    options = connect_options(engine.url)
    for name in ("options", "tcp_user_timeout"):
        options.pop(name, None)
    with create_engine(engine.url, poolclass=NullPool, connect_args=options).begin() as db:
        # If this machine fails during the transaction, PostgreSQL releases the locks after 60 s.
        db.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = '60s'")
        hold(db, Lock.SET_UP)
        # While a migration waits for a table's lock, statements of running portals on this table
        # also wait. ``lock_timeout`` ends both waits.
        db.exec_driver_sql("SET LOCAL lock_timeout = '5s'")
        yield db


def database_file(url: str | None, data_dir: Path) -> Path | None:
    """Return the file of an SQLite database, or None for PostgreSQL."""
    if url is None:
        return data_dir / "portal.sqlite"
    return None if url.startswith("postgresql") else Path(make_url(url).database or "")


def hold(db: Connection, lock: Lock, *, shared: bool = False) -> None:
    """Take a lock, and hold it until the transaction ends.

    Any number of transactions may hold a shared lock at a time. On SQLite, the function does
    nothing, because a writing transaction already excludes other writers.
    """
    if db.dialect.name == "postgresql":
        take = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        db.execute(select(take(lock.value)))


def is_in_place(engine: Engine) -> bool:
    """Return whether the SQLite file is still at its path, or True for PostgreSQL."""
    if engine.dialect.name == "postgresql":
        return True
    try:
        reading(engine).close()
    except SQLAlchemyError:
        return False
    return True


def database_bytes(engine: Engine) -> int | None:
    """Return the size of the database in bytes, or None if it is unknown."""
    if engine.dialect.name == "postgresql":
        query = "SELECT pg_database_size(current_database())"
    else:
        query = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    with reading(engine) as db:
        found = db.exec_driver_sql(query).scalar()
    return None if found is None else int(found)


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


def _check_integrity(engine: Engine, file: Path) -> None:
    """Raise OSError if the file's pages are corrupt.

    The caller must not replace a corrupt file by a new one, because the corrupt file may be the
    only copy of the rows.
    """
    try:
        with reading(engine) as db:
            is_whole = db.exec_driver_sql("PRAGMA quick_check(1)").scalar() == "ok"
    except DatabaseError as error:
        # An OperationalError means that the file is locked or unreachable, but not corrupt.
        if isinstance(error, OperationalError):
            raise
        is_whole = False
    if not is_whole:
        raise OSError(f"{file.name} is corrupt: restore it from a backup")


def _sqlite(path: Path) -> Engine:
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
    )
    engine.dialect.statement_compiler = _HintCompiler
    event.listen(engine, "connect", _set_up_sqlite)

    refuse_replaced_file(engine, path)
    _write_queues[engine] = TurnQueue()
    deleted = _deleted_bytes[engine] = DeletedBytes(path)
    event.listen(engine, "engine_disposed", lambda _engine: deleted.close())
    return engine


class _HintCompiler(SQLiteCompiler):
    """Writes the hints of ``indexed_by``, which SQLAlchemy leaves out for SQLite."""

    def get_from_hint_text(self, _table: object, text: str | None) -> str | None:
        return text


def indexed_by(query: Select[Any], table: Table, index: str) -> Select[Any]:
    """Make SQLite read a table by an index.

    Between indexes with equal columns SQLite prefers the one that was made last, even if the other
    index has fewer rows. SQLAlchemy makes the indexes of a table in no certain order.
    """
    return query.with_hint(table, f"INDEXED BY {index}", "sqlite")


def refuse_replaced_file(pool: Engine | Pool, path: Path) -> None:
    """Make a pool of SQLite connections open new connections if its file was replaced.

    Rows that are written to a removed file are lost without an error.
    """

    def note_inode(_connection: object, record: ConnectionPoolEntry) -> None:
        record.info["inode"] = file_identity(path)

    def check_inode(_connection: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        with suppress(OSError):
            found = os.stat(path)  # noqa: PTH116 for every read; twice as fast as Path.stat
            if record.info.get("inode") == (found.st_dev, found.st_ino):
                return
        raise DisconnectionError("the file was removed or replaced")  # the pool reconnects

    event.listen(pool, "connect", note_inode)
    event.listen(pool, "checkout", check_inode)


def _set_up_sqlite(connection: Any, _record: object) -> None:
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


@contextmanager
def writing(engine: Engine, wait_s: float = WRITE_WAIT_S) -> Iterator[Connection]:
    """Begin a transaction that is committed at the end of the block. Raises SQLAlchemyError.

    On SQLite, ``wait_s`` limits the wait for other writers. The call first waits for other threads
    of the process, without using a connection. It then waits for SQLite's write lock. Calls of
    ``writing`` must not be nested, because the inner call would wait for the outer call.
    """
    queue = _write_queues.get(engine)
    if queue is None:  # on PostgreSQL, the connection pool is the queue
        with engine.begin() as db:
            yield db
        return
    until = time.monotonic() + wait_s
    queue.acquire(until)
    try:
        with engine.connect() as db, db.begin():
            _begin_immediate(db, max(0.0, until - time.monotonic()))
            yield db
    finally:
        queue.release()


def erase_deleted(engine: Engine) -> None:
    """Overwrite the bytes that deleted rows have left in SQLite's files.

    Raises BytesKept if bytes may remain. On PostgreSQL the function does nothing, because the
    server itself vacuums its files.
    """
    deleted = _deleted_bytes.get(engine)
    if deleted is None:
        return
    try:
        erased = deleted.overwrite()
    except (sqlite3.Error, OSError) as error:
        log.warning("deleted rows may have left bytes: %s", type(error).__name__)
        erased = False
    if not erased:
        raise BytesKept


def reading(engine: Engine) -> Connection:
    """Return a connection for reading, with one transaction for each query.

    The queries do not wait for writers and do not block writers.
    """
    connection = engine.connect()
    if engine.dialect.name == "postgresql":
        return connection.execution_options(isolation_level="AUTOCOMMIT")
    return connection
