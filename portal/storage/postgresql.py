"""PostgreSQL engine for a server that several portals share: few connections, short time-outs."""

import logging
import math
import threading
import time
from collections import deque
from queue import Empty
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout
from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

T = TypeVar("T")

# SQLAlchemy logs what a pool does under the name of its class, and silences only its own classes.
logging.getLogger(f"{__name__}._FifoPool").setLevel(logging.WARNING)

# Connections per process. By default a server accepts 100 connections from all processes of all
# machines together. More would not be faster, because calls are counted serially.
CONNECTIONS = 8
# Of these processes besides, for tokens and histories. A slow ledger then delays no stored answer.
SIDE_CONNECTIONS = 2
# A thread that waits for a connection fails if none is opened or returned within POOL_TIMEOUT_S, so
# that an unreachable database does not block threads. While connections are being opened or
# returned, it waits for up to LONGEST_WAIT_S, the time that a lookup may take.
POOL_TIMEOUT_S = 4
LONGEST_WAIT_S = 12.0
# Seconds to wait for each response. It exceeds the server's statement_timeout, so that the server's
# own error, which states the reason, arrives first.
ANSWER_TIMEOUT_S = 6.0
# The idle time-out also releases the locks of a machine that vanishes in mid-transaction.
_OPTIONS: dict[str, Any] = {
    "connect_timeout": "4",
    "tcp_user_timeout": "5000",
    "options": "-c statement_timeout=5000 -c idle_in_transaction_session_timeout=5000",
    # Otherwise psycopg returns the texts of an SQL_ASCII database as bytes.
    "client_encoding": "utf8",
    # PgBouncer in transaction mode gives each transaction another connection to the server, on
    # which a statement prepared before does not exist.
    "prepare_threshold": None,
}


def connect_options(address: URL) -> dict[str, Any]:
    """Return the options of a connection that the address does not set itself."""
    return {name: value for name, value in _OPTIONS.items() if name not in address.query}


def postgresql(url: str | URL, connections: int = CONNECTIONS) -> Engine:
    """Return an engine with a time-out on every step; parameters in ``url`` override these."""
    address = make_url(url).set(drivername="postgresql+psycopg")
    engine = create_engine(
        address,
        poolclass=_FifoPool,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        pool_pre_ping=True,
        connect_args=connect_options(address),
    )
    event.listen(engine, "do_connect", _connect)
    return engine


class _FifoPool(QueuePool):
    """A connection pool that serves waiting threads in their order.

    QueuePool may serve a newcomer before a waiter, which can starve the waiter
    (``test_pool_serves_waiters_in_order``). In tests with 256 threads of three short transactions
    each on a busy machine, 16 and 50 threads failed with QueuePool and a time-out of 8 s, and 2
    with this pool. A waiter keeps its place for up to LONGEST_WAIT_S while other callers open
    or return live connections. While the database is unreachable nobody does, and waiters fail
    after the pool's time-out. If the server refuses a further connection, because fewer are
    allowed than the pool's size, the caller waits for one that another caller returns.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # Reentrant, because the garbage collector may return an unclosed connection at any point.
        self._lock = threading.RLock()
        self._free = self.size()
        self._waiters: deque[threading.Lock] = deque()
        self._live_at = -math.inf

    def _do_get(self) -> ConnectionPoolEntry:
        self._acquire()
        try:
            try:
                return super()._do_get()
            except psycopg.OperationalError:
                if time.monotonic() - self._live_at > self.timeout():
                    raise  # the server is unreachable
                return self._next_returned()
        except BaseException:
            self._release()
            raise

    def _next_returned(self) -> ConnectionPoolEntry:
        try:
            return self._pool.get(True, self.timeout())
        except Empty:
            raise NoConnectionFree("no connection was returned in time") from None

    def _create_connection(self) -> ConnectionPoolEntry:
        record = super()._create_connection()
        self._live_at = time.monotonic()
        return record

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        if record.dbapi_connection is not None:
            self._live_at = time.monotonic()
        super()._do_return_conn(record)
        self._release()

    def _acquire(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            permit = threading.Lock()
            permit.acquire()
            self._waiters.append(permit)
        started_at = checked_at = time.monotonic()
        while not permit.acquire(timeout=self.timeout()):
            now = time.monotonic()
            if self._live_at >= checked_at and now - started_at < LONGEST_WAIT_S:
                checked_at = now
                continue
            with self._lock:
                if permit in self._waiters:  # otherwise it was granted just now
                    self._waiters.remove(permit)
                    raise NoConnectionFree("no connection became free in time")

    def _release(self) -> None:
        with self._lock:
            if self._waiters:
                self._waiters.popleft().release()
            else:
                self._free += 1


class _Connection(psycopg.Connection[Any]):
    """A psycopg connection with a time-out on each wait for the server.

    psycopg waits without a limit. The time-outs above do not apply if the server hangs while its
    kernel still acknowledges what is sent.
    """

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        try:
            return super().wait(gen, interval, timeout or ANSWER_TIMEOUT_S)
        except _WaitTimeout:
            self.pgconn.finish()  # or a late response would count as the next statement's
            raise psycopg.OperationalError("the server did not answer in time") from None


def _connect(_dialect: object, _record: object, args: Any, options: Any) -> _Connection:
    try:
        return _Connection.connect(*args, **options)
    except psycopg.OperationalError as error:
        # PgBouncer refuses it unless told otherwise. Its own settings must bound statements then.
        if "unsupported startup parameter" not in str(error) or "options" not in options:
            raise
        del options["options"]
        return _Connection.connect(*args, **options)
