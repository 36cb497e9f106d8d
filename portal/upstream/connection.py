"""HTTP connections that keep a total deadline: DNS, connect, TLS, headers and body included.

The HTTP library's timeouts run anew with every read, so a peer that drips bytes outlasts them
all, and name resolution knows no timeout at all. Here one thread a process shuts down the
socket of whoever is late, and names are resolved beside the caller.
"""

import contextlib
import heapq
import itertools
import logging
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from http.client import RemoteDisconnected
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NameResolutionError, NewConnectionError
from urllib3.util.retry import Retry

from portal.upstream.trust import trusted

log = logging.getLogger(__name__)

_LOST = (
    *(RemoteDisconnected, ConnectionResetError, BrokenPipeError, ConnectionAbortedError),
    ssl.SSLEOFError,  # the same in a connection over TLS
)


class Guard:
    """One attempt's clock and what became of its connection."""

    def __init__(self, watchdog: "Watchdog") -> None:
        self._watchdog = watchdog
        self._brake: socket.socket | None = None
        self._lock = threading.Lock()
        self.until = 0.0
        self.dialled = False  # a connection was sought; a transport without any never sets this
        self.connected = False  # from here on bytes may have left
        self.stale = False  # a kept-alive connection turned out to be closed
        self.late = False  # the time was up and the socket was shut down

    def allow(self, until: float) -> None:
        """Let the attempt last until this monotonic second; called again to move it."""
        self.until = until
        self._watchdog.watch(self, until)

    def attach(self, connection: socket.socket) -> None:
        """Brake this one when the time is up: by a descriptor of our own, since TLS takes the
        first one over, and a connection that ends with its answer lets go before the body."""
        brake = socket.socket(fileno=os.dup(connection.fileno()))
        with self._lock:
            before, self._brake = self._brake, brake
            late = self.late
        if before is not None:
            before.close()
        if late:
            self._stop()

    def check(self, now: float) -> None:
        """Called by the watchdog when an allowed time has come; a moved or ended one passes."""
        with self._lock:
            if self.until == 0.0 or now < self.until:
                return
            self.late = True
        self._stop()

    def _stop(self) -> None:
        with self._lock:
            if self._brake is not None:
                with contextlib.suppress(OSError):
                    self._brake.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        with self._lock:
            self.until = 0.0
            if self._brake is not None:
                self._brake.close()
                self._brake = None


class Watchdog:
    """One daemon thread that ends attempts whose time is up. Started with the first of them.

    Where the system gives no thread the attempt has its socket's time-outs, and the thread is
    sought again with the next attempt, and with this one's body.
    """

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Guard]] = []
        self._number = itertools.count()
        self._change = threading.Condition()
        self._thread: threading.Thread | None = None

    def watch(self, guard: Guard, until: float) -> None:
        with self._change:
            heapq.heappush(self._due, (until, next(self._number), guard))
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="watchdog", daemon=True)
                try:
                    thread.start()
                except RuntimeError:
                    log.warning("the watchdog found no thread")
                    return
                self._thread = thread
            elif self._due[0][0] == until:
                self._change.notify()

    def _run(self) -> None:
        while True:
            with self._change:
                now = time.monotonic()
                while not self._due or self._due[0][0] > now:
                    self._change.wait(self._due[0][0] - now if self._due else None)
                    now = time.monotonic()
                guard = heapq.heappop(self._due)[2]
            guard.check(now)


class Resolver:
    """getaddrinfo with a time limit; callers that ask for the same name share one look-up."""

    def __init__(self, look_up: Callable[..., Any] = socket.getaddrinfo) -> None:
        self._look_up = look_up
        self._pending: dict[tuple[str, int], Future[Any]] = {}
        self._lock = threading.Lock()

    def resolve(self, host: str, port: int, timeout_s: float) -> list[Any]:
        """The addresses of a host; raises OSError, or TimeoutError when it takes too long."""
        with self._lock:
            future = self._pending.get((host, port))
            if future is None:
                future = Future()
                thread = threading.Thread(
                    target=self._ask, args=(host, port, future), name="resolver", daemon=True
                )
                # Before it starts: it takes itself off the list when it ends.
                self._pending[host, port] = future
                try:
                    thread.start()
                except RuntimeError as error:
                    del self._pending[host, port]
                    raise OSError("no thread to look a name up") from error
        return list(future.result(timeout=max(0.0, timeout_s)))

    def _ask(self, host: str, port: int, future: "Future[Any]") -> None:
        try:
            answer = self._look_up(host, port, 0, socket.SOCK_STREAM)
            future.set_result(answer)
        except Exception as error:
            future.set_exception(error)
        finally:
            with self._lock:
                del self._pending[host, port]


_watchdog = Watchdog()
_resolver = Resolver()
_current = threading.local()


@contextlib.contextmanager
def guarded() -> Any:
    """A Guard for what this thread does next with a GuardedAdapter."""
    guard = Guard(_watchdog)
    _current.guard = guard
    try:
        yield guard
    finally:
        guard.release()
        del _current.guard


class _Guarded:
    """What both connection classes share: see Guard for the meaning of its marks."""

    _answers = 0

    def _new_conn(self: Any) -> socket.socket:
        guard: Guard = _current.guard
        guard.dialled = True
        until = min(time.monotonic() + self.timeout, guard.until)
        host = self._dns_host.strip("[]")
        try:
            addresses = _resolver.resolve(host, self.port, until - time.monotonic())
        except (OSError, UnicodeError) as error:
            raise NameResolutionError(self.host, self, socket.gaierror(str(error))) from error
        reason: OSError | None = None
        for number, (family, kind, protocol, _, address) in enumerate(addresses):
            left = until - time.monotonic()
            if left <= 0:
                break
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(left / (len(addresses) - number))  # the last may be the one alive
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.connect(address)
                guard.attach(sock)
            except OSError as error:
                sock.close()
                reason = error
                continue
            sock.settimeout(max(until - time.monotonic(), 0.001))  # what is left is for TLS
            return sock
        raise NewConnectionError(self, "no address of the host could be reached") from reason

    def connect(self: Any) -> None:
        self._answers = 0
        super().connect()  # type: ignore[misc]
        self.sock.settimeout(self.timeout)
        _current.guard.connected = True

    def request(self: Any, *args: Any, **kwargs: Any) -> None:
        guard: Guard = _current.guard
        if self.sock is not None:
            guard.attach(self.sock)
            guard.connected = True
        try:
            super().request(*args, **kwargs)  # type: ignore[misc]
        except _LOST:
            guard.stale = self._answers > 0
            raise

    def getresponse(self: Any) -> Any:
        try:
            response = super().getresponse()  # type: ignore[misc]
        except _LOST:
            _current.guard.stale = self._answers > 0
            raise
        self._answers += 1
        return response


class _GuardedHTTPConnection(_Guarded, HTTPConnection):
    pass


class _GuardedHTTPSConnection(_Guarded, HTTPSConnection):
    def connect(self) -> None:
        self.ssl_context, self.ca_certs = trusted(), None
        super().connect()


class _HTTPPool(HTTPConnectionPool):
    ConnectionCls = _GuardedHTTPConnection


class _HTTPSPool(HTTPSConnectionPool):
    ConnectionCls = _GuardedHTTPSConnection


class GuardedAdapter(HTTPAdapter):
    """A transport over guarded connections that never retries by itself: a retry may pay twice."""

    def __init__(self) -> None:
        # Retry(0) alone would turn a read time-out into a ConnectionError.
        super().__init__(
            pool_connections=1, pool_maxsize=1, max_retries=Retry(0, read=False, redirect=False)
        )

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        manager: PoolManager = self.poolmanager
        manager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}
