"""Opens TCP and TLS connections within a time limit that includes name resolution.

If a name has several addresses, connections to them are started 250 ms apart, and the first one
that is established is used (RFC 8305).
"""

import errno
import itertools
import logging
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from typing import Any, Final

from portal.system.error_kind import error_kind
from portal.upstream.errors import LocalFailure, NotSent
from portal.upstream.trust import trusted

log = logging.getLogger(__name__)

# Seconds for which a host name's addresses are cached. The time is fixed, because getaddrinfo does
# not report the DNS TTL.
ADDRESS_TTL_S = 30.0
STAGGER_S: Final = 0.25  # RFC 8305 §5, the Connection Attempt Delay

# Errors that show a shortage in this process or machine. Connections to other addresses would fail
# too. EADDRNOTAVAIL and EAGAIN are not listed, because a connection to another address may still
# succeed. On a machine without IPv6, IPv4 addresses work. A lack of free local ports affects only
# one destination address.
_LOCAL_ERRORS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})

_Address = Any  # an element of a result of socket.getaddrinfo
_Addresses = list[_Address]


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
        self._dead: set[tuple[str, str]] = set()
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

    def prefer(self, host: str, port: int, address: _Address, dead: _Addresses) -> None:
        """Let an address be the first of its name for ADDRESS_TTL_S seconds.

        Each of the addresses ``dead`` is logged once, until it has been preferred itself.
        """
        with self._lock:
            _, addresses = self._cache.get((host, port), (0.0, [address]))
            if addresses[0] != address:
                others = [other for other in addresses if other != address]
                self._cache[host, port] = (self._clock() + ADDRESS_TTL_S, [address, *others])
            self._dead.discard((host, address[4][0]))
            newly_dead = {(host, address[4][0]) for address in dead} - self._dead
            self._dead |= newly_dead
        for _, text in sorted(newly_dead):
            log.warning("%s: no connection to the address %s, another one is used", host, text)

    def _run_lookup(self, host: str, port: int, future: "Future[_Addresses]") -> None:
        try:
            addresses = interleaved(self._look_up(host, port, 0, socket.SOCK_STREAM))
        except Exception as error:
            with self._lock:
                del self._pending[host, port]
            future.set_exception(error)
        else:
            with self._lock:
                del self._pending[host, port]
                self._cache[host, port] = (self._clock() + ADDRESS_TTL_S, addresses)
            future.set_result(addresses)


def interleaved(addresses: Iterable[_Address]) -> _Addresses:
    """Return addresses with IPv6 and IPv4 in turn, the first one's family first (RFC 8305 §4)."""
    families: dict[int, _Addresses] = {}
    for address in addresses:
        families.setdefault(address[0], []).append(address)
    turns = itertools.zip_longest(*families.values())
    return [address for turn in turns for address in turn if address is not None]


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
        connection, address, dead = _connect_to_first(addresses, until)
    except NotSent:
        _resolver.evict(host, port)
        raise
    if len(addresses) > 1:
        _resolver.prefer(host, port, address, dead)
    return _start_tls(connection, host, until) if tls else connection


def _connect_to_first(
    addresses: _Addresses, until: float
) -> tuple[socket.socket, _Address, _Addresses]:
    """Return the first established connection, its address, and the dead addresses.

    The next address is tried after STAGGER_S, or as soon as an attempt fails. An address is dead if
    its attempt has failed, or is not established STAGGER_S after it began.
    """
    failure = NotSent("could not connect: no address")
    left, dead, next_at = list(addresses), [], 0.0
    with ExitStack() as stack, selectors.PollSelector() as attempts:
        while left or attempts.get_map():
            now = time.monotonic()
            if now >= until:
                failure = _connect_error(TimeoutError())
                break
            if left and now >= next_at:
                address, next_at = left.pop(0), now + STAGGER_S
                try:
                    connection = stack.enter_context(_begun(address))
                except OSError as error:
                    failure, next_at = _connect_error(error), now
                    dead.append(address)
                    if isinstance(failure, LocalFailure):
                        break
                    continue
                attempts.register(connection, selectors.EVENT_WRITE, (connection, address, now))
            for key, _ in attempts.select((min(next_at, until) if left else until) - now):
                connection, address, _ = key.data
                attempts.unregister(connection)
                number = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if number == 0:
                    late = time.monotonic() - STAGGER_S
                    others = [key.data for key in attempts.get_map().values()]
                    dead += [tried for _, tried, began in others if began <= late]
                    return socket.socket(fileno=connection.detach()), address, dead
                failure, next_at = _connect_error(OSError(number, "")), now
                dead.append(address)
    raise failure


def _begun(address: _Address) -> socket.socket:
    """Return a socket that is being connected to an address."""
    family, kind, protocol, _, target = address
    connection = socket.socket(family, kind, protocol)
    try:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(BlockingIOError):
            connection.connect(target)
    except BaseException:
        connection.close()
        raise
    return connection


def _start_tls(connection: socket.socket, host: str, until: float) -> socket.socket:
    connection.settimeout(max(until - time.monotonic(), 0.001))
    try:
        connection.getpeername()  # raises after a reset, when ``wrap_socket`` would not close
        # ``wrap_socket`` applies the socket's timeout to the whole handshake.
        return trusted().wrap_socket(connection, server_hostname=host)
    except (OSError, ValueError) as error:
        connection.close()
        raise _connect_error(error) from None


def _connect_error(error: Exception) -> NotSent:
    is_local = isinstance(error, OSError) and error.errno in _LOCAL_ERRORS
    return (LocalFailure if is_local else NotSent)(f"could not connect: {error_kind(error)}")
