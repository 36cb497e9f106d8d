"""PostgreSQL, as several portals share one: few connections, and patience that ends."""

import math
import threading
import time
from collections import deque
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout
from sqlalchemy import Engine, create_engine, event, make_url
from sqlalchemy.exc import TimeoutError as NoConnectionFree
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

T = TypeVar("T")

# A server takes a hundred connections unless told otherwise, from all processes of all machines
# together. More would not be faster: calls are counted one after the other.
CONNECTIONS = 8
# A database out of reach must cost seconds, not the threads of everybody who waits for it; but
# while it answers, the line moves, and whoever stands in it may stay as long as a lookup may take.
POOL_TIMEOUT_S = 2
LONGEST_WAIT_S = 12.0
ANSWER_TIMEOUT_S = 6.0  # of one statement; longer than the server's own, which can still say why
# And a machine that vanishes in mid-transaction must not hold up the others for longer.
_PATIENCE = {
    "connect_timeout": "2",
    "tcp_user_timeout": "5000",
    "options": "-c statement_timeout=5000 -c idle_in_transaction_session_timeout=5000",
}


def postgresql(url: str) -> Engine:
    """An engine whose every step ends; what ``url`` sets itself is left to it."""
    address = make_url(url).set(drivername="postgresql+psycopg")
    patience = {name: value for name, value in _PATIENCE.items() if name not in address.query}
    engine = create_engine(
        address,
        poolclass=_Line,
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        pool_pre_ping=True,
        connect_args=patience,
    )
    event.listen(engine, "do_connect", _connect)
    return engine


class _Line(QueuePool):
    """First come, first served: the queue it stands before lets newcomers in ahead, and one of a
    crowd might wait for ever. Whoever waits stays while others come back with a connection that
    lives; with the database away none does."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        # Reentrant: a forgotten connection comes back out of a garbage collection, anywhere.
        self._turn = threading.RLock()
        self._free = self.size()
        self._waiting: deque[threading.Lock] = deque()
        self._moved_at = -math.inf

    def _do_get(self) -> ConnectionPoolEntry:
        self._wait()
        try:
            return super()._do_get()
        except BaseException:
            self._call_next()
            raise

    def _do_return_conn(self, record: ConnectionPoolEntry) -> None:
        if record.dbapi_connection is not None:
            self._moved_at = time.monotonic()
        super()._do_return_conn(record)
        self._call_next()

    def _wait(self) -> None:
        with self._turn:
            if self._free:
                self._free -= 1
                return
            called = threading.Lock()
            called.acquire()
            self._waiting.append(called)
        came_at = looked_at = time.monotonic()
        while not called.acquire(timeout=self.timeout()):
            now = time.monotonic()
            if self._moved_at >= looked_at and now - came_at < LONGEST_WAIT_S:
                looked_at = now
                continue
            with self._turn:
                if called in self._waiting:  # else it was called in this very moment
                    self._waiting.remove(called)
                    raise NoConnectionFree("no connection became free in time")

    def _call_next(self) -> None:
        with self._turn:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1


class _Connection(psycopg.Connection[Any]):
    """psycopg waits for an answer forever. The limits above do not help where the server stands
    still while its kernel goes on confirming what is sent."""

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        try:
            return super().wait(gen, interval, timeout or ANSWER_TIMEOUT_S)
        except _WaitTimeout:
            self.pgconn.finish()  # what comes later would be taken for another question's answer
            raise psycopg.OperationalError("the server did not answer in time") from None


def _connect(_dialect: object, _record: object, args: Any, options: Any) -> _Connection:
    return _Connection.connect(*args, **options)
