"""Unusable addresses: a closed port, a full backlog, an unknown name."""

import fcntl
import os
import random
import socket
import tempfile
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import pytest

# RFC 6761 §6.4: names under .invalid never exist.
UNKNOWN_NAME_URL = "http://nowhere.invalid"

# Below the range from which systems assign ports to clients. Inside that range, a client could get
# the port of a server that is restarting, and could even connect to itself.
_LOWEST, _HIGHEST = 10_240, 32_000

_POLL_EVERY_S = 0.02
_LONGEST_PAUSE_S = 0.3

# Hypothesis seeds the module ``random``, so every example would draw the same ports from it.
_random = random.SystemRandom()
_given: set[int] = set()
# The byte at a port's number is locked by the process that was given the port, until its end.
_LOCKS = os.open(
    f"{tempfile.gettempdir()}/ports-of-tests-{os.getuid()}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
)


def free_port() -> int:
    """Return a free loopback port that no running process of tests was given before.

    A server that starts later, or restarts, therefore finds its port free, and no portal that still
    runs calls the upstream of another test.
    """
    for _ in range(200):
        port = _random.randint(_LOWEST, _HIGHEST)
        if port in _given or not _is_ours(port):
            continue
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            _given.add(port)
            return port
    raise RuntimeError("no free port found")


def _is_ours(port: int) -> bool:
    try:
        fcntl.lockf(_LOCKS, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def refused_url() -> str:
    """Return an address whose port is closed, so that connects are refused."""
    return f"http://127.0.0.1:{free_port()}"


class Blackhole:
    """A listening socket with a full queue: the kernel drops further connects.

    Skips the test on systems that answer further connects.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self._sockets: list[socket.socket] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        listener = socket.socket()
        self._sockets.append(listener)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(0)
        for _ in range(16):
            if not self._connects():
                return self
        self.close()
        pytest.skip("this system answers connects past a full backlog")

    def _connects(self) -> bool:
        """Whether one more connect succeeds, which fills a place in the queue."""
        client = socket.socket()
        self._sockets.append(client)
        client.settimeout(0.2)
        try:
            client.connect(("127.0.0.1", self.port))
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        for held in self._sockets:
            held.close()
        self._sockets.clear()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def accepts_connections(port: int) -> bool:
    """Whether a loopback port accepts connections."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(question: Callable[[], object], what: str, timeout_s: float = 60) -> None:
    """Poll until ``question`` is true; raises AssertionError with ``what`` at the time-out.

    A slow ``question``, such as a command, is called less often, to leave processor time.
    """
    ends_at = time.monotonic() + timeout_s
    asked_at = time.monotonic()
    while not question():
        now = time.monotonic()
        if now > ends_at:
            raise AssertionError(f"{what} did not happen within {timeout_s:g} s")
        time.sleep(min(max(_POLL_EVERY_S, 3 * (now - asked_at)), _LONGEST_PAUSE_S))
        asked_at = time.monotonic()
