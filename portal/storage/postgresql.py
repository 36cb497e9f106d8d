"""A PostgreSQL database, with few connections and short time-outs."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty
from typing import Any, Self, TypeVar

import psycopg
from psycopg.abc import PQGen
from sqlalchemy import URL, Connection, create_engine, event, func, insert, make_url, select
from sqlalchemy.exc import IntegrityError, ProgrammingError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.pool import ConnectionPoolEntry, NullPool, QueuePool

from portal.storage import origin
from portal.storage.database import LOCKS, Database, Lock
from portal.storage.revision import require_current_schema
from portal.storage.tables import call_counters, history, ledger
from portal.storage.turn_queue import TurnQueue
from portal.system.error_kind import error_kind

T = TypeVar("T")

log = logging.getLogger(__name__)

# Hide the debug and info messages that SQLAlchemy logs for _FifoPool. By default SQLAlchemy hides
# these messages only for its own pool classes.
logging.getLogger(f"{__name__}._FifoPool").setLevel(logging.WARNING)

# The largest number of connections per process. By default a PostgreSQL server accepts 100
# connections in total. More connections would not be faster, because all upstream calls update
# the same counter row, one after another.
CONNECTIONS = 8
# Further connections per process for tokens and histories, so that slow writes to the ledger do not
# delay cached answers.
SIDE_CONNECTIONS = 2
# A thread waits at most LONGEST_WAIT_S seconds for a connection. If no thread opens or returns a
# connection for POOL_TIMEOUT_S seconds, the database is probably unreachable, and the waiting
# thread fails.
POOL_TIMEOUT_S = 4
LONGEST_WAIT_S = 12.0
# Seconds to wait for each response. ANSWER_TIMEOUT_S is longer than the server's statement_timeout,
# so that the server's error, which states the reason, arrives first.
ANSWER_TIMEOUT_S = 6.0
# ``idle_in_transaction_session_timeout`` releases the locks of a machine that fails during a
# transaction.
_OPTIONS: dict[str, Any] = {
    "connect_timeout": "4",
    "tcp_user_timeout": "5000",
    "options": "-c statement_timeout=5000 -c idle_in_transaction_session_timeout=5000",
    # Without "client_encoding", psycopg returns the texts of an SQL_ASCII database as bytes.
    "client_encoding": "utf8",
    # Prepare no statements. In transaction mode, PgBouncer may run each transaction on another
    # connection to the server, where the prepared statements do not exist.
    "prepare_threshold": None,
}


def connect_options(address: URL) -> dict[str, Any]:
    """Return the default connection options, without those that the URL ``address`` sets."""
    return {name: value for name, value in _OPTIONS.items() if name not in address.query}


class PostgresDatabase(Database):
    """A PostgreSQL database with time-outs. Parameters in ``url`` override the defaults."""

    def __init__(self, url: str | URL, connections: int = CONNECTIONS) -> None:
        address = make_url(url).set(drivername="postgresql+psycopg")
        engine = create_engine(
            address,
            poolclass=_FifoPool,
            pool_size=connections,
            max_overflow=0,
            pool_timeout=POOL_TIMEOUT_S,
            pool_pre_ping=True,
            connect_args=connect_options(address),
            execution_options={LOCKS: _take_lock},
        )
        event.listen(engine, "do_connect", _connect)
        super().__init__(engine)

    def reading(self) -> Connection:
        return self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def writing(self, wait_s: float = 0.0) -> Iterator[Connection]:  # noqa: ARG002
        """Wait as long as the connection pool lets a thread wait, which is the queue."""
        with self.engine.begin() as db:
            yield db

    def side(self) -> Self:
        """Return the same database with connections of its own."""
        return type(self)(self.engine.url, SIDE_CONNECTIONS)

    def set_up(self, *, required: bool) -> None:  # noqa: ARG002
        require_current_schema(self)

    @contextmanager
    def set_up_transaction(self) -> Iterator[Connection]:
        options = connect_options(self.engine.url)
        for name in ("options", "tcp_user_timeout"):
            options.pop(name, None)
        alone = create_engine(self.engine.url, poolclass=NullPool, connect_args=options)
        with alone.begin() as db:
            # If this machine fails during the transaction, PostgreSQL releases the locks after
            # 60 s.
            db.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = '60s'")
            _take_lock(db, Lock.SET_UP, shared=False)
            # While a migration waits for a table's lock, statements of running portals on this
            # table also wait. ``lock_timeout`` ends both waits.
            db.exec_driver_sql("SET LOCAL lock_timeout = '5s'")
            yield db

    def try_to_write(self) -> None:
        """Insert test rows and roll back.

        If the server is temporarily read-only, as a standby server is, only log a warning.
        """
        values = {"subject": "", "origin": "", "caller": "", "price": "0", "outcome": "probe"}
        try:
            with self.engine.connect() as db:
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

    def is_in_place(self) -> bool:
        return True

    def size(self) -> int | None:
        with self.reading() as db:
            size = db.exec_driver_sql("SELECT pg_database_size(current_database())").scalar()
        return None if size is None else int(size)

    def erase_deleted(self) -> None:
        """Do nothing, because the server itself vacuums its files."""

    def is_restored(self) -> bool:
        with self.reading() as db:
            return not db.execute(origin.IS_OWN_IN_POSTGRESQL).scalar()

    def record_origin(self) -> None:
        with self.writing() as db:
            origin.forget(db)
            db.execute(origin.RECORD_IN_POSTGRESQL)


def _take_lock(db: Connection, lock: Lock, shared: bool) -> None:
    take = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
    db.execute(select(take(lock.value)))


class _FifoPool(QueuePool):
    """A connection pool that serves waiting threads in the order of their arrival.

    In QueuePool, a thread that has returned a connection can overtake waiting threads with its next
    request. In a measurement, 256 threads each ran three short transactions. The slowest 1 % of the
    transactions waited at least 11.6 s with QueuePool, and at least 4 s with _FifoPool.
    ``test_pool_serves_waiters_in_order`` checks the order.

    The server may allow fewer connections than the pool's size. If the server refuses a connection,
    the thread waits until another thread returns a connection
    (``test_fewer_connections_than_the_pool_wants_are_shared``).

    The overridden methods are private to SQLAlchemy. The class was tested with SQLAlchemy 2.1.9.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._turns = TurnQueue(self.size(), self.timeout())

    def _do_get(self) -> ConnectionPoolEntry:
        self._turns.acquire(time.monotonic() + LONGEST_WAIT_S)
        try:
            try:
                return super()._do_get()
            except psycopg.OperationalError:
                if self._turns.is_stalled:
                    raise  # the server is unreachable
                return self._next_returned()
        except BaseException:
            self._turns.release()
            raise

    def _next_returned(self) -> ConnectionPoolEntry:
        try:
            return self._pool.get(True, self.timeout())
        except Empty:
            raise NoConnectionFree("no connection was returned in time") from None

    def _create_connection(self) -> ConnectionPoolEntry:
        record = super()._create_connection()
        self._turns.note_progress()
        return record

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        if record.dbapi_connection is not None:
            self._turns.note_progress()
        super()._do_return_conn(record)
        self._turns.release()


class _Connection(psycopg.Connection[Any]):
    """A psycopg connection with a time-out on each wait for the server.

    By default psycopg waits without a limit. The server's own time-outs do not help if the server
    process hangs while its kernel still acknowledges packets
    (``test_hung_database_delays_one_page_and_not_the_next``).
    """

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        try:
            return super().wait(gen, interval, timeout or ANSWER_TIMEOUT_S)
        except psycopg.OperationalError as error:
            # The server has not answered in time, or the connection is lost, unless the error has
            # a code of the server. Close the connection, because a late response would be read as
            # the response to the next statement.
            if error.sqlstate is None:
                self.pgconn.finish()
            raise


def _connect(_dialect: object, _record: object, args: Any, options: Any) -> _Connection:
    try:
        return _Connection.connect(*args, **options)
    except psycopg.OperationalError as error:
        # By default PgBouncer refuses the parameter "options" (tests/outages/test_pgbouncer.py).
        # Connect without this parameter. PgBouncer's settings must then limit statement times.
        if "unsupported startup parameter" not in str(error) or "options" not in options:
            raise
        del options["options"]
        return _Connection.connect(*args, **options)
