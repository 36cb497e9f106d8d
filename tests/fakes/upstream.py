"""A fake upstream on a loopback socket, with answers scripted by path.

A call counts once it was received completely, whatever its answer. The real upstream would charge
for the call, so the portal's ledger must have a row for it.
"""

import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from tests.factories import MESSAGES, message_body
from tests.fakes import tiers
from tests.fakes.faults import good
from tests.fakes.ports import free_port
from tests.fakes.wire import After, Call, Fault, Gone, Wire, send_whole

_BACKLOG = 4096  # some tests connect 500 clients at once


class FaultUpstream:
    """Answers the five paths of docs/contract.md with clean answers or scripted faults.

    ``base_path`` is prefixed to the paths. If ``credential`` is set, calls with another credential
    get 401. Calls with a query parameter ``at`` always get 401. With ``tls``, the server speaks
    https. The class is thread-safe and serves each connection in its own thread.
    """

    def __init__(
        self,
        base_path: str = "",
        credential: str | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.port = free_port()
        self.tls = tls
        self.base_path = base_path
        self.credential = credential
        self._turn = threading.Condition()
        self._calls: list[Call] = []
        self._scripts: dict[str, deque[Fault]] = {}
        self._forever: dict[str, Fault] = {}
        self._default = good()
        self._connections: dict[int, socket.socket] = {}
        self._accepted = 0
        self._answering = 0
        self._peak = 0
        self._threads: set[threading.Thread] = set()
        self._listener: socket.socket | None = None
        # The seconds after which a connection without a request is closed, and the round trip of an
        # imagined network: a request sent less than half of it before or after the close is lost.
        self.closes_early: Callable[[], tuple[float, float]] | None = None

    # The address

    @property
    def url(self) -> str:
        """The base address, without a slash at its end."""
        scheme = "https" if self.tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}{self.base_path}"

    @property
    def tls_url(self) -> str:
        """The https URL of this port. Without ``tls``, the handshake fails."""
        return f"https://127.0.0.1:{self.port}{self.base_path}"

    # Received calls

    @property
    def calls(self) -> list[Call]:
        """A copy of the calls, in the order of arrival."""
        with self._turn:
            return list(self._calls)

    def count(self, path_prefix: str = "", method: str | None = None) -> int:
        return sum(
            call.path.startswith(path_prefix) and method in (None, call.method)
            for call in self.calls
        )

    @property
    def connections_made(self) -> int:
        """The number of connections with at least one complete call."""
        return len({call.connection for call in self.calls})

    @property
    def connections_open(self) -> int:
        with self._turn:
            return len(self._connections)

    @property
    def connections_accepted(self) -> int:
        """The number of connections, with and without a call."""
        with self._turn:
            return self._accepted

    @property
    def handshakes_open(self) -> int:
        """The number of open connections whose TLS handshake is complete."""
        with self._turn:
            opened = list(self._connections.values())
        return sum(isinstance(each, ssl.SSLSocket) and bool(each.version()) for each in opened)

    def spoil(self, how: Callable[[socket.socket], object]) -> None:
        """Do something to each open connection."""
        with self._turn:
            for connection in self._connections.values():
                how(connection)

    @property
    def peak(self) -> int:
        """The largest number of calls answered at the same time."""
        with self._turn:
            return self._peak

    def wait_for_calls(self, count: int, timeout_s: float = 60) -> None:
        """Wait until ``count`` calls have arrived; raises AssertionError at the time-out."""
        with self._turn:
            if not self._turn.wait_for(lambda: len(self._calls) >= count, timeout_s):
                raise AssertionError(f"{len(self._calls)} calls arrived, not {count}")

    def forget_calls(self) -> None:
        with self._turn:
            self._calls.clear()
            self._peak = self._answering

    # Answers

    def script(self, path: str, *faults: Fault) -> None:
        """Set the answers for a path or prefix; the longest matching prefix applies.

        A single fault applies until the next ``script`` or ``clear``. Several faults are used once
        each, in order, and the script ends after the last.
        """
        if not faults:
            raise ValueError("a script needs a fault")
        with self._turn:
            self._scripts.pop(path, None)
            self._forever.pop(path, None)
            if len(faults) == 1:
                self._forever[path] = faults[0]
            else:
                self._scripts[path] = deque(faults)

    def once(self, path: str, fault: Fault) -> None:
        """Set one fault for the next call whose path has this prefix."""
        with self._turn:
            self._forever.pop(path, None)
            self._scripts[path] = deque([fault])

    def default(self, fault: Fault) -> None:
        """Set the answer for calls without a script."""
        with self._turn:
            self._default = fault

    def clear(self) -> None:
        """Remove all faults, but keep the recorded calls."""
        with self._turn:
            self._scripts.clear()
            self._forever.clear()
            self._default = good()

    # Start and stop

    @property
    def is_listening(self) -> bool:
        return self._listener is not None

    def start(self) -> Self:
        """Listen on ``port``, which stays the same after a restart."""
        if self._listener is not None:
            raise RuntimeError("already started")
        tiers.require("upstream", "slow", "long")
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(_BACKLOG)
        self._listener = listener
        self._acceptor = threading.Thread(target=self._accept, args=(listener,), daemon=True)
        self._acceptor.start()
        return self

    def stop(self) -> None:
        """Stop like a killed server: refuse connects and cut open connections."""
        listener, self._listener = self._listener, None
        if listener is None:
            return
        with suppress(OSError):  # macOS raises an error, but its close() wakes the thread
            listener.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept()
        listener.close()
        self._acceptor.join(10)  # no connection may be accepted after the cut
        self._cut_connections()
        with self._turn:
            serving = list(self._threads)
        deadline = time.monotonic() + 10
        for thread in serving:
            thread.join(max(0, deadline - time.monotonic()))
        if left := sum(thread.is_alive() for thread in [self._acceptor, *serving]):
            raise RuntimeError(f"{left} threads of the fake upstream did not end")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    # Internals

    def _serve_in_a_thread(self, connection: socket.socket) -> None:
        if self.tls:  # the first read does the handshake, in the connection's thread
            connection = self.tls.wrap_socket(
                connection, server_side=True, do_handshake_on_connect=False
            )
        with self._turn:
            self._accepted += 1
            number = self._accepted
            thread = threading.Thread(target=self._serve, args=(number, connection), daemon=True)
            self._connections[number] = connection
            self._threads = {known for known in self._threads if known.is_alive()}
            thread.start()
            self._threads.add(thread)

    def _cut_connections(self) -> None:
        with self._turn:
            for connection in self._connections.values():
                with suppress(OSError):  # the client may have closed first
                    connection.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self._serve_in_a_thread(connection)

    def _serve(self, number: int, connection: socket.socket) -> None:
        try:
            wire = Wire(connection)
            if self.closes_early is not None:
                idle_s, round_trip_s = self.closes_early()
                if not wire.readable(idle_s - round_trip_s / 2):
                    wire.readable(round_trip_s)
                    return
            after = After.KEEP
            while after is After.KEEP:
                after = self._answer(wire, self._received(wire, number))
            if after is After.CLOSE_UNREAD:
                wire.readable(None)
        except Gone:
            pass
        finally:
            # Without the lock, stop() could shut down a descriptor that a new connection reuses.
            with self._turn:
                del self._connections[number]
                connection.close()

    def _received(self, wire: Wire, connection: int) -> Call:
        if not wire.first_byte().isalpha():
            raise Gone  # a TLS handshake: read_until() would find no line end
        lines = wire.read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = tuple(
            (name.strip().lower(), value.strip())
            for name, _, value in (line.partition(":") for line in lines[1:])
        )
        lengths = [int(value) for name, value in headers if name == "content-length"]
        body = wire.read_exactly(lengths[0] if lengths else 0)
        path = urlsplit(target).path.removeprefix(self.base_path)
        with self._turn:
            number = len(self._calls) + 1
            call = Call(number, connection, method, target, path, headers, body, time.monotonic())
            self._calls.append(call)
            # Here, so that a test that has waited for calls finds all of them in the peak.
            self._answering += 1
            self._peak = max(self._peak, self._answering)
            self._turn.notify_all()
        return call

    def _answer(self, wire: Wire, call: Call) -> After:
        try:
            if self.credential not in (None, call.header("authorization")) or "at" in call.query:
                return send_whole(wire, message_body(MESSAGES[401]), 401)
            with self._turn:
                fault = self._next_fault(call.path)
            return fault.play(wire, call)
        finally:
            with self._turn:
                self._answering -= 1

    def _next_fault(self, path: str) -> Fault:
        known = [*self._scripts, *self._forever]
        for prefix in sorted((p for p in known if path.startswith(p)), key=len, reverse=True):
            if prefix in self._forever:
                return self._forever[prefix]
            faults = self._scripts[prefix]
            fault = faults.popleft()
            if not faults:
                del self._scripts[prefix]
            return fault
        return self._default
