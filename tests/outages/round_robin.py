"""Sends requests to several portals at a steady rate, like a load balancer.

``/readyz`` of every portal is polled ten times a second. A portal that is not ready gets no
request. After a refused connection the request goes to the next portal. Any other failure is
recorded, because a proxy must not repeat a request that a portal may have read.
"""

import http.client
import itertools
import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Self

from tests.outages.crowd import Answer, Ask

CHECK_EVERY_S = 0.1
_CHECK_TIMEOUT_S = 10.0  # a busy machine may answer late
_SENDERS = 48


@dataclass
class RoundRobin:
    """Sends ``per_second`` requests a second until the block ends.

    ``asks`` returns the request for a running number. Each sender thread keeps its connections
    alive.
    """

    ports: Sequence[int]
    asks: Callable[[int], Ask]
    per_second: float
    answers: list[Answer] = field(default_factory=list)
    failures: list[tuple[int, str, str]] = field(default_factory=list)
    statuses: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ready = dict.fromkeys(self.ports, False)
        self._ended = threading.Event()
        self._sending = threading.Event()
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._turns = itertools.count()
        self._started = 0.0
        self._checkers = [self._thread(self._check, port) for port in self.ports]
        self._senders = [self._thread(self._send_all) for _ in range(_SENDERS)]

    def _thread(self, target: Callable[..., None], *args: int) -> threading.Thread:
        return threading.Thread(target=target, args=args, daemon=True)

    def __enter__(self) -> Self:
        for checker in self._checkers:
            checker.start()
        while not any(self._ready.values()):
            time.sleep(CHECK_EVERY_S)
        self._started = time.monotonic()
        for sender in self._senders:
            sender.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in (*self._senders, *self._checkers):
            thread.join()

    @property
    def sent(self) -> int:
        return len(self.answers) + len(self.failures)

    def is_ready(self, port: int) -> bool:
        return self._ready[port]

    def _check(self, port: int) -> None:
        while not self._ended.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_CHECK_TIMEOUT_S)
            status = 0
            with suppress(OSError, http.client.HTTPException):
                connection.request("GET", "/readyz")
                status = connection.getresponse().status
            connection.close()
            seen = self.statuses.setdefault(port, [])
            if seen[-1:] != [status]:
                seen.append(status)
            self._ready[port] = status == 200
            time.sleep(CHECK_EVERY_S)

    def _send_all(self) -> None:
        connections: dict[int, http.client.HTTPConnection] = {}
        while True:
            number = next(self._numbers)
            due_at = self._started + number / self.per_second
            if self._ended.wait(max(0.0, due_at - time.monotonic())):
                break
            self._send(self.asks(number), connections)
        for connection in connections.values():
            connection.close()

    def _send(self, ask: Ask, connections: dict[int, http.client.HTTPConnection]) -> None:
        started, refused = time.monotonic(), set[int]()
        while True:
            for port in [port for port in connections if not self._ready[port]]:
                connections.pop(port).close()
            ready = [port for port in self.ports if self._ready[port] and port not in refused]
            if not ready:
                self._fail(0, ask, "no portal is ready")
                return
            port = ready[next(self._turns) % len(ready)]
            connection = connections.setdefault(
                port, http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            )
            if connection.sock is not None and _was_closed(connection.sock):
                connection.close()
            try:
                if connection.sock is None:
                    connection.connect()
            except ConnectionRefusedError:
                refused.add(port)
                continue
            except OSError as error:
                self._fail(port, ask, repr(error))
                return
            self._exchange(ask, port, connection, started)
            return

    def _exchange(
        self, ask: Ask, port: int, connection: http.client.HTTPConnection, started: float
    ) -> None:
        try:
            connection.request("GET", ask.path, headers=dict(ask.headers))
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            answer = Answer(response.status, response.read(), headers, time.monotonic() - started)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self._fail(port, ask, repr(error))
            return
        with self._lock:
            self.answers.append(answer)

    def _fail(self, port: int, ask: Ask, reason: str) -> None:
        with self._lock:
            self.failures.append((port, ask.path, reason))


def _was_closed(idle: socket.socket) -> bool:
    """Return whether the other end closed an idle connection."""
    return bool(select.select([idle], [], [], 0)[0])
