"""The fake upstream's side of one connection, and the type Fault."""

import select
import socket
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

JSON = "application/json; charset=utf-8"
Headers = Sequence[tuple[str, str]]


class Gone(Exception):
    """The client has closed the connection, or the fake was stopped."""


@dataclass(frozen=True, slots=True)
class Call:
    """A completely received request. ``path`` excludes the base path and the query."""

    number: int
    connection: int
    method: str
    target: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    received_at: float = field(compare=False)

    def header(self, name: str) -> str | None:
        """Return a header's value or None; raises ValueError for several values."""
        values = [value for key, value in self.headers if key == name.lower()]
        if len(values) > 1:
            raise ValueError(f"{name} was sent {len(values)} times")
        return values[0] if values else None

    @property
    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.target).query, keep_blank_values=True)


class After(Enum):
    """What happens to the connection after a fault."""

    KEEP = "keep"
    CLOSE = "close"
    CLOSE_UNREAD = "close unread"  # when the next request arrives, before reading it


class Wire:
    """One accepted connection. After the client closes, I/O and pauses raise Gone."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._buffer = b""
        self._held = b""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def hold(self, data: bytes) -> None:
        """Buffer bytes, which the next ``send`` writes together with its own."""
        self._held += data

    def send(self, data: bytes) -> None:
        data, self._held = self._held + data, b""
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise Gone from error

    def pause(self, seconds: float) -> None:
        """Wait; raises Gone as soon as the client closes or the fake is stopped."""
        ends_at = time.monotonic() + seconds
        while (left := ends_at - time.monotonic()) > 0:
            if not self.readable(left):
                return
            if self._hung_up():
                raise Gone
            # A pending request keeps the socket readable, so sleep between the polls.
            time.sleep(min(left, 0.02))

    def readable(self, timeout_s: float | None) -> bool:
        poll = select.poll()  # select() rejects descriptors above 1023, which 500 clients reach
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(None if timeout_s is None else timeout_s * 1000))

    def reset_on_close(self) -> None:
        """Make the close send an RST instead of a FIN."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def first_byte(self) -> bytes:
        """Return the next byte without consuming it."""
        if not self._buffer:
            self._fill()
        return self._buffer[:1]

    def read_until(self, mark: bytes, limit: int = 65_536) -> bytes:
        while mark not in self._buffer:
            if len(self._buffer) > limit:
                raise Gone
            self._fill()
        head, _, self._buffer = self._buffer.partition(mark)
        return head

    def read_exactly(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        data, self._buffer = self._buffer[:count], self._buffer[count:]
        return data

    def _fill(self) -> None:
        try:
            data = self._socket.recv(65_536)
        except OSError as error:
            raise Gone from error
        if not data:
            raise Gone
        self._buffer += data

    def _hung_up(self) -> bool:
        try:
            # The base class's method, because ``SSLSocket.recv`` rejects MSG_PEEK.
            return socket.socket.recv(self._socket, 1, socket.MSG_PEEK) == b""
        except OSError:
            return True


@dataclass(frozen=True, slots=True)
class Fault:
    """A named way to answer a call. The output of tests shows the name."""

    name: str
    play: Callable[[Wire, Call], After] = field(repr=False)

    def __str__(self) -> str:
        return self.name


def head(status: int, headers: Headers) -> bytes:
    """Return status line, headers and the empty line."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = "Unknown"
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def send_whole(
    wire: Wire, body: bytes, status: int = 200, content_type: str = JSON, extra: Headers = ()
) -> After:
    """Send a correctly framed answer on a connection that stays open."""
    framing = [("Content-Type", content_type), ("Content-Length", str(len(body)))]
    wire.send(head(status, [*framing, *extra]) + body)
    return After.KEEP
