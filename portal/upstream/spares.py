"""Spare connections to a base address, opened before a lookup needs one.

A connection costs one round trip, and two with TLS. Each is still used for one request only, so
neither bytes of a former response nor a repeated request can be on it.
"""

import os
import socket
import ssl
import threading
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from portal.upstream.connection import connect
from portal.upstream.errors import NotSent
from portal.upstream.trust import trusted

# A spare connection is not used later than LONGEST_IDLE_S after it was opened. ``tick`` closes it
# within 4 s, because the scheduler calls ``tick`` every TICK_S.
TICK_S: Final = 0.5
LONGEST_IDLE_S: Final = 4.0 - TICK_S
# For this long, the spare connections to a server live half as long as one that the server closed.
# A request that is sent just when the server closes the connection is lost, and may be charged.
REMEMBERED_S: Final = 600.0
MOST_EXPECTED: Final = 3  # a page's lookups
# A lookup waits at most LONGEST_OPENING_S for spare connections that are being opened. After a
# second, a packet is lost (RFC 6298 §2), and another connection is likely to be established first.
LONGEST_OPENING_S: Final = 1.0


class Address(NamedTuple):
    """The host of a base address."""

    host: str
    port: int
    tls: bool


class Spare(NamedTuple):
    """An established connection that waits for a request."""

    connection: socket.socket
    opened_at: float


def is_silent(connection: socket.socket) -> bool:
    """Return whether a connection is open, and has received nothing since its handshake.

    TLS records without data, such as session tickets, are processed here and do not count.
    """
    connection.setblocking(False)
    try:
        connection.recv(1)
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        return False
    return False  # the server has closed the connection, or has sent bytes without a request


class Spares:
    """Opens the connections of a process to the upstream, some of them in advance.

    ``open_next`` opens as many spare connections to an address as lookups are under way, at most
    ``kept``. ``expect`` opens at most MOST_EXPECTED. If ``kept`` is 0, no spare connection is ever
    opened. A failed opening has no consequences: the lookup then opens a connection itself.
    """

    def __init__(
        self,
        kept: int,
        timeout_s: float,
        is_draining: Callable[[], bool] = lambda: False,
    ) -> None:
        self._kept = kept
        self._timeout_s = timeout_s
        self._is_draining = is_draining
        # The spare connections of each address, which are open or being opened.
        self._spares: dict[Address, list[Future[Spare]]] = {}
        self._under_way: Counter[Address] = Counter()  # lookups
        # How long the spare connections of an address live, and until when they live so short.
        self._lives: dict[Address, tuple[float, float]] = {}
        self._lock = threading.Lock()
        self._is_closed = kept == 0
        # Both addresses can open all their connections at once, so that neither waits for threads
        # that a dead address holds.
        self._pool = ThreadPoolExecutor(2 * max(kept, MOST_EXPECTED), thread_name_prefix="spare")
        _instances.add(self)

    @contextmanager
    def connection(self, address: Address, until: float) -> Iterator[socket.socket]:
        """Yield a connection for one request, a spare one if there is any, and close it.

        Raises NotSent or LocalFailure if there is no connection by ``until`` (monotonic seconds).
        """
        with self._lock:
            self._under_way[address] += 1
        try:
            with self._connected(address, until) as connection:
                yield connection
        finally:
            with self._lock:
                self._under_way[address] -= 1

    def _connected(self, address: Address, until: float) -> socket.socket:
        spare_until = min(until, time.monotonic() + LONGEST_OPENING_S)
        while (future := self._claim(address)) is not None:
            with suppress(NotSent, TimeoutError):
                spare = future.result(max(0.0, spare_until - time.monotonic()))
                if self._is_usable(address, spare):
                    return spare.connection
            _discard(future)
        return connect(address.host, address.port, tls=address.tls, until=until)

    def open_next(self, address: Address) -> None:
        """Open spare connections for the lookups that may follow those under way."""
        with self._lock:
            self._open(address, min(self._kept, self._under_way[address]))

    def expect(self, address: Address, lookups: int) -> None:
        """Open spare connections for lookups that will be made in a moment."""
        with self._lock:
            self._open(address, min(lookups, MOST_EXPECTED))

    def tick(self) -> None:
        """Close the spare connections that cannot be used any more."""
        if self._is_draining():
            self.close()
        with self._lock:
            for address, spares in self._spares.items():
                for spare in list(spares):
                    if spare.done() and not self._is_usable(address, spare.result()):
                        spares.remove(spare)
                        _discard(spare)

    def close(self) -> None:
        """Close the spare connections, and open no more."""
        with self._lock:
            self._discard_all()
        self._pool.shutdown(wait=False)

    def _is_usable(self, address: Address, spare: Spare) -> bool:
        connection, idle_s = spare.connection, time.monotonic() - spare.opened_at
        lives_s, until = self._lives.get(address, (LONGEST_IDLE_S, 0.0))
        if idle_s > (lives_s if time.monotonic() < until else LONGEST_IDLE_S):
            return False
        if isinstance(connection, ssl.SSLSocket) and connection.context is not trusted():
            return False
        if is_silent(connection):
            return True
        self._lives[address] = (idle_s / 2, time.monotonic() + REMEMBERED_S)
        return False

    def _claim(self, address: Address) -> "Future[Spare] | None":
        """Remove and return a spare connection that is open, or else the first that is begun."""
        with self._lock:
            spares = self._spares.get(address, [])
            for is_claimable in (Future.done, Future.running):
                for spare in spares:
                    if is_claimable(spare):
                        spares.remove(spare)
                        return spare
            return None

    def _open(self, address: Address, wanted: int) -> None:
        spares = self._spares.setdefault(address, [])
        while len(spares) < wanted and not self._is_closed:
            future: Future[Spare] = Future()
            spares.append(future)
            try:
                self._pool.submit(self._run, address, future)
            except RuntimeError:  # no thread can be started
                spares.remove(future)
                future.cancel()  # the pool may run it later
                return

    def _run(self, address: Address, future: "Future[Spare]") -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            until = time.monotonic() + self._timeout_s
            connection = connect(address.host, address.port, tls=address.tls, until=until)
        except Exception as error:
            with self._lock, suppress(ValueError):
                self._spares[address].remove(future)
            future.set_exception(error)
        else:
            future.set_result(Spare(connection, time.monotonic()))

    def leave(self) -> None:
        """Close the spare connections in a forked child, which does not have their threads."""
        self._lock = threading.Lock()
        self._discard_all()

    def _discard_all(self) -> None:
        self._is_closed = True
        for spares in self._spares.values():
            while spares:
                _discard(spares.pop())


def _discard(future: "Future[Spare]") -> None:
    """Close a spare connection, as soon as it is open."""
    future.cancel()
    future.add_done_callback(_close)


def _close(future: "Future[Spare]") -> None:
    if not future.cancelled() and future.exception() is None:
        future.result().connection.close()


_instances: "weakref.WeakSet[Spares]" = weakref.WeakSet()


def _leave_all() -> None:
    for spares in list(_instances):
        spares.leave()


os.register_at_fork(after_in_child=_leave_all)
