"""Opens TCP and TLS connections within a time limit that includes name resolution."""

import contextlib
import errno
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from portal.system.error_kind import error_kind
from portal.upstream.errors import LocalFailure, NotSent
from portal.upstream.trust import trusted

# Seconds for which a host name's addresses are cached. The time is fixed, because getaddrinfo does
# not report the DNS TTL.
ADDRESS_TTL_S = 30.0

# Errors that show a shortage in this process or machine. Connections to other addresses would fail
# too. EADDRNOTAVAIL and EAGAIN are not listed, because a connection to another address may still
# succeed. On a machine without IPv6, IPv4 addresses work. A lack of free local ports affects only
# one destination address.
_LOCAL_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})

_Addresses = list[Any]  # a result of socket.getaddrinfo


class Resolver:
    """Resolves names with getaddrinfo, within a time limit and with a cache.

    Look-ups run in threads, because getaddrinfo has no time limit of its own. Concurrent look-ups
    of the same name share one thread.
    """

    def __init__(
        self,
        look_up: Callable[..., Any] = socket.getaddrinfo,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look_up = look_up
        self._clock = clock
        self._pending: dict[tuple[str, int], Future[_Addresses]] = {}
        self._cache: dict[tuple[str, int], tuple[float, _Addresses]] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int, timeout_s: float) -> _Addresses:
        """Return the addresses of a host.

        Raises OSError if the look-up fails, TimeoutError if it takes longer than ``timeout_s``, and
        LocalFailure if no thread can be started.
        """
        with self._lock:
            expires_at, addresses = self._cache.get((host, port), (0.0, []))
            if self._clock() < expires_at:
                return addresses
            future = self._pending.get((host, port))
            if future is None:
                future = Future()
                thread = threading.Thread(
                    target=self._run_lookup, args=(host, port, future), name="resolver", daemon=True
                )
                self._pending[host, port] = future
                try:
                    thread.start()
                except RuntimeError as error:
                    del self._pending[host, port]
                    raise LocalFailure("no thread to resolve a name") from error
        return future.result(timeout=max(0.0, timeout_s))

    def evict(self, host: str, port: int) -> None:
        """Remove a name from the cache, so that the next call resolves the name again."""
        with self._lock:
            self._cache.pop((host, port), None)

    def _run_lookup(self, host: str, port: int, future: "Future[_Addresses]") -> None:
        try:
            addresses = list(self._look_up(host, port, 0, socket.SOCK_STREAM))
        except Exception as error:
            with self._lock:
                del self._pending[host, port]
            future.set_exception(error)
        else:
            with self._lock:
                del self._pending[host, port]
                self._cache[host, port] = (self._clock() + ADDRESS_TTL_S, addresses)
            future.set_result(addresses)


_resolver = Resolver()


def connect(host: str, port: int, *, tls: bool, until: float) -> socket.socket:
    """Open a connection, including TLS if ``tls`` is true, by ``until`` (monotonic seconds).

    Raises NotSent if no connection can be opened. Raises LocalFailure if this machine has no file
    descriptor, thread or memory left.
    """
    try:
        addresses = _resolver.resolve(host, port, until - time.monotonic())
    except (OSError, UnicodeError) as error:
        raise _connect_error(error) from None
    try:
        connection = _connect_to_first(addresses, until)
    except NotSent:
        _resolver.evict(host, port)
        raise
    return _start_tls(connection, host, until) if tls else connection


def _connect_to_first(addresses: _Addresses, until: float) -> socket.socket:
    failure = NotSent("could not connect: no address")
    for number, (family, kind, protocol, _, address) in enumerate(addresses):
        remaining_s = until - time.monotonic()
        if remaining_s <= 0:
            break
        try:
            connection = socket.socket(family, kind, protocol)
            with _close_on_error(connection):
                # Give each address an equal share of the remaining time, so that a dead address
                # leaves time for the next addresses.
                connection.settimeout(remaining_s / (len(addresses) - number))
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.connect(address)
                return connection
        except OSError as error:
            failure = _connect_error(error)
            if isinstance(failure, LocalFailure):
                break
    raise failure


@contextlib.contextmanager
def _close_on_error(connection: socket.socket) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _start_tls(connection: socket.socket, host: str, until: float) -> socket.socket:
    connection.settimeout(max(until - time.monotonic(), 0.001))
    try:
        # ``wrap_socket`` applies the socket's timeout to the whole handshake.
        return trusted().wrap_socket(connection, server_hostname=host)
    except (OSError, ValueError) as error:
        connection.close()
        raise _connect_error(error) from None


def _connect_error(error: Exception) -> NotSent:
    is_local = isinstance(error, OSError) and error.errno in _LOCAL_ERRORS
    return (LocalFailure if is_local else NotSent)(f"could not connect: {error_kind(error)}")
