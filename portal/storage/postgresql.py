"""PostgreSQL, as several portals share one: few connections, and patience that ends."""

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout
from sqlalchemy import Engine, create_engine, event, make_url

T = TypeVar("T")

# A server takes a hundred connections unless told otherwise, from all processes of all machines
# together. More would not be faster: calls are counted one after the other.
CONNECTIONS = 8
# A database out of reach must cost seconds, not the threads of everybody who waits for it.
POOL_TIMEOUT_S = 2
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
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        pool_pre_ping=True,
        connect_args=patience,
    )
    event.listen(engine, "do_connect", _connect)
    return engine


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
