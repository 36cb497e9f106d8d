"""Sends one HTTP/1.1 request on its own connection and reads the response by a deadline.

h11 parses the response. Each connection is closed after one request, so that excess bytes from a
server can never become part of another response. docs/http-client.md compares this module with
RFC 9112 clause by clause.
"""

import socket
import time
from collections.abc import Iterable
from typing import Final

import h11

from portal.system.error_kind import error_kind
from portal.upstream.errors import Broken, NotSent, TimedOut, Unusable, UpstreamError

# The largest size in bytes of the status line together with all header fields. The same limit
# applies to the line that contains a chunk's size.
LONGEST_HEAD: Final = 64 * 1024
LONGEST_BODY: Final = 2 * 1024 * 1024  # bytes; limits a body before and after decompression
MOST_INTERIM: Final = 100  # interim (1xx) responses before the final response
_CHUNK: Final = 64 * 1024

Fields = Iterable[tuple[str, str]]


class Exchange:
    """One request and its response on a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        # True after a failed write. The failed write clears the socket's error, so a later ``recv``
        # returns b"" instead of raising the error.
        self._write_failed = False
        self._has_received = False  # whether a byte of the response has arrived

    def request(self, method: str, target: str, fields: Fields, body: bytes, until: float) -> None:
        """Send a request by ``until`` (monotonic seconds). Raises TimedOut."""
        events = [
            h11.Request(method=method, target=target, headers=list(fields)),
            *([h11.Data(data=body)] if body else []),
            h11.EndOfMessage(),
        ]
        self._send(b"".join(filter(None, map(self._parser.send, events))), until)

    def response(self, until: float) -> h11.Response:
        """Return the head of the final response.

        Raises TimedOut if there is no head by ``until`` (monotonic seconds). Raises Broken if the
        connection ends before the first byte of the response. Raises Unusable if the connection
        ends within the head, or if the response is not valid HTTP.
        """
        # Skip interim responses, which a client must parse but may ignore (RFC 9110 §15.2).
        for _ in range(MOST_INTERIM):
            event = self._next_event(until)
            if isinstance(event, h11.Response):
                return event
        raise Unusable("no final response")

    def body(self, max_bytes: int, until: float) -> bytes:
        """Return the content of the final response, without its transfer coding.

        Raises TimedOut. Raises Unusable if the content is truncated, has invalid framing or is
        longer than ``max_bytes``.
        """
        chunks: list[bytes] = []
        size = 0
        while isinstance(event := self._next_event(until), h11.Data):
            size += len(event.data)
            if size > max_bytes:
                raise Unusable("body too large")
            chunks.append(bytes(event.data))
        return b"".join(chunks)

    def _send(self, data: bytes, until: float) -> None:
        unsent = memoryview(data)
        try:
            while unsent:
                self._set_timeout(until)
                unsent = unsent[self._connection.send(unsent) :]
        except TimeoutError:
            raise TimedOut("the request was not taken in time") from None
        except OSError:
            # Do not raise. The server may have responded and closed the connection before it has
            # read the whole request (RFC 9112 §9.5), so there may be a response to read.
            self._write_failed = True

    def _next_event(self, until: float) -> h11.Event:
        try:
            while (event := self._parser.next_event()) is h11.NEED_DATA:
                self._parser.receive_data(self._receive(until))
        except h11.RemoteProtocolError:
            _, has_ended = self._parser.trailing_data
            raise self._closed_error() if has_ended else Unusable("malformed response") from None
        assert isinstance(event, h11.Event)  # h11 returns PAUSED only to servers
        return event

    def _receive(self, until: float) -> bytes:
        """Return received bytes, or b"" if the server has closed the connection."""
        try:
            self._set_timeout(until)
            data = self._connection.recv(_CHUNK)
        except TimeoutError:
            raise TimedOut("no whole answer in time") from None
        except OSError as error:
            # A TLS 1.3 server rejects a client without a certificate only after the client has
            # finished its handshake. The TLS error then arrives in place of a response, and the
            # server has not read the request.
            if not self._has_received and "ALERT_CERTIFICATE_REQUIRED" in error_kind(error):
                raise NotSent(f"could not connect: {error_kind(error)}") from None
            raise self._closed_error(f": {error_kind(error)}") from None
        if not data and self._write_failed:
            raise self._closed_error(": reset")
        self._has_received |= bool(data)
        return data

    def _set_timeout(self, until: float) -> None:
        """Limit the next read or write of the socket to the time that remains until ``until``."""
        remaining_s = until - time.monotonic()
        if remaining_s <= 0:
            raise TimeoutError
        self._connection.settimeout(remaining_s)

    def _closed_error(self, cause: str = "") -> UpstreamError:
        if self._has_received:
            return Unusable(f"closed within an answer{cause}")
        return Broken(f"closed before an answer{cause}")
