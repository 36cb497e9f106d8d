"""TCP and TLS connections that are established within a time limit, name resolution included."""

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from portal.upstream.errors import LocalFailure, NotSent, kind_of
from portal.upstream.trust import trusted

# What getaddrinfo found is kept for this long: it tells no lifetime of its own.
NAMES_KEPT_S = 30.0

# Not EADDRNOTAVAIL or EAGAIN: they concern one address only. A host without IPv6 answers so for
# each IPv6 address, and local ports are exhausted for each destination apart.
_LOCAL_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})

_Addresses = list[Any]  # as socket.getaddrinfo returns them


class Resolver:
    """getaddrinfo with a time limit. Concurrent look-ups of one name share one thread."""

    def __init__(
        self,
        look_up: Callable[..., Any] = socket.getaddrinfo,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up = look_up
        self._clock = clock
        self._pending: dict[tuple[str, int], Future[_Addresses]] = {}
        self._found: dict[tuple[str, int], tuple[float, _Addresses]] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int, timeout_s: float) -> _Addresses:
        """The addresses of a host.

        Raises OSError where the look-up fails, TimeoutError (an OSError) where it takes longer,
        LocalFailure where the system has no thread for it.
        """
        with self._lock:
            kept_until, addresses = self._found.get((host, port), (0.0, []))
            if self._clock() < kept_until:
                return addresses
            future = self._pending.get((host, port))
            if future is None:
                future = Future()
                thread = threading.Thread(
                    target=self._ask, args=(host, port, future), name="resolver", daemon=True
                )
                # Before the thread starts, because it removes the entry when it ends.
                self._pending[host, port] = future
                try:
                    thread.start()
                except RuntimeError as error:
                    del self._pending[host, port]
                    raise LocalFailure("no thread to resolve a name") from error
        return future.result(timeout=max(0.0, timeout_s))

    def forget(self, host: str, port: int) -> None:
        """Look the name up again for the next connection: its addresses may have changed."""
        with self._lock:
            self._found.pop((host, port), None)

    def _ask(self, host: str, port: int, future: "Future[_Addresses]") -> None:
        try:
            addresses = list(self._look_up(host, port, 0, socket.SOCK_STREAM))
        except Exception as error:
            with self._lock:
                del self._pending[host, port]
            future.set_exception(error)
        else:
            with self._lock:
                del self._pending[host, port]
                self._found[host, port] = (self._clock() + NAMES_KEPT_S, addresses)
            future.set_result(addresses)


_resolver = Resolver()


def connect(host: str, port: int, *, tls: bool, until: float) -> socket.socket:
    """An open connection, its TLS handshake done, by ``until`` (monotonic seconds).

    Raises NotSent, or LocalFailure where this machine has no descriptor, port or memory left.
    """
    try:
        addresses = _resolver.resolve(host, port, until - time.monotonic())
    except (OSError, UnicodeError) as error:
        raise _not_connected(error) from None
    try:
        connection = _first_that_answers(addresses, until)
    except NotSent:
        _resolver.forget(host, port)
        raise
    return _encrypted(connection, host, until) if tls else connection


def _first_that_answers(addresses: _Addresses, until: float) -> socket.socket:
    failure = NotSent("could not connect: no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        left = until - time.monotonic()
        if left <= 0:
            break
        try:
            connection = socket.socket(family, kind, protocol)
            with _closed_on_failure(connection):
                # An even share of what is left: the last address may be the one that answers.
                connection.settimeout(left / (len(addresses) - number))
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.connect(address)
                return connection
        except OSError as error:
            failure = _not_connected(error)
            if isinstance(failure, LocalFailure):
                break
    raise failure


@contextlib.contextmanager
def _closed_on_failure(connection: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _encrypted(connection: socket.socket, host: str, until: float) -> socket.socket:
    connection.settimeout(max(until - time.monotonic(), 0.001))
    try:
        # The timeout of a handshake is one for all of its reads and writes.
        return trusted().wrap_socket(connection, server_hostname=host)
    except (OSError, ValueError) as error:
        connection.close()
        raise _not_connected(error) from None


def _not_connected(error: Exception) -> NotSent:
    is_local = isinstance(error, OSError) and error.errno in _LOCAL_ERRORS
    return (LocalFailure if is_local else NotSent)(f"could not connect: {kind_of(error)}")
