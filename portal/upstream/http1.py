"""One HTTP/1.1 exchange on a connection of its own, parsed by h11, within a total deadline.

A connection carries one request and is closed after it. So no byte of one answer can be read as
another's, whatever the server sends early, late or in excess, and no request is ever lost to a
kept-alive connection that the server has just closed. docs/http-client.md goes through RFC 9112
clause by clause.
"""

import socket
import time
from collections.abc import Iterable
from typing import Final

import h11

from portal.upstream.errors import Broken, TimedOut, Unusable, UpstreamError, kind_of

LONGEST_HEAD: Final = 64 * 1024  # bytes of one status line with its fields, or of one chunk's line
MOST_INTERIM: Final = 100  # interim responses before the final one
_CHUNK: Final = 64 * 1024

Fields = Iterable[tuple[str, str]]


class Exchange:
    """A request and the answer to it. Closing it closes the connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEAD)
        self._is_reset = False  # a write has failed, and has taken the error from the reads
        self._has_heard = False  # a byte of a response has arrived

    def request(
        self, method: str, target: str, fields: Fields, body: bytes, until: float
    ) -> h11.Response:
        """Send a request and return the head of its final response.

        ``until`` in monotonic seconds bounds both. Raises TimedOut; Broken where the connection
        ends before a byte of the response; Unusable where it ends, or is no HTTP, after one.
        """
        events = [
            h11.Request(method=method, target=target, headers=list(fields)),
            *([h11.Data(data=body)] if body else []),
            h11.EndOfMessage(),
        ]
        self._send(b"".join(self._parser.send(event) or b"" for event in events), until)
        # RFC 9110 §15.2: a client parses any number of interim responses and may ignore them.
        for _ in range(MOST_INTERIM):
            event = self._next_event(until)
            if isinstance(event, h11.Response):
                return event
        raise Unusable("no final response")

    def body(self, most: int, until: float) -> bytes:
        """The content of the final response, transfer coding removed.

        Raises TimedOut; Unusable where it is cut, misframed, or longer than ``most`` bytes.
        """
        chunks: list[bytes] = []
        size = 0
        while isinstance(event := self._next_event(until), h11.Data):
            size += len(event.data)
            if size > most:
                raise Unusable("body too large")
            chunks.append(bytes(event.data))
        return b"".join(chunks)

    def close(self) -> None:
        self._connection.close()

    def _send(self, data: bytes, until: float) -> None:
        unsent = memoryview(data)
        try:
            while unsent:
                self._limit(until)
                unsent = unsent[self._connection.send(unsent) :]
        except TimeoutError:
            raise TimedOut("the request was not taken in time") from None
        except OSError:
            # RFC 9112 §9.5: a server may respond and close before it has read the request. What
            # it sent is read all the same.
            self._is_reset = True

    def _next_event(self, until: float) -> h11.Event:
        try:
            while (event := self._parser.next_event()) is h11.NEED_DATA:
                self._parser.receive_data(self._received(until))
        except h11.RemoteProtocolError:
            _, has_ended = self._parser.trailing_data
            raise self._ended() if has_ended else Unusable("malformed response") from None
        assert isinstance(event, h11.Event)  # PAUSED is for servers
        return event

    def _received(self, until: float) -> bytes:
        """What has arrived; b"" at the end of the connection."""
        try:
            self._limit(until)
            data = self._connection.recv(_CHUNK)
        except TimeoutError:
            raise TimedOut("no whole answer in time") from None
        except OSError as error:
            raise self._ended(f": {kind_of(error)}") from None
        if not data and self._is_reset:
            raise self._ended(": reset")
        self._has_heard |= bool(data)
        return data

    def _limit(self, until: float) -> None:
        """Before each read and write, because a socket's own timeout starts anew with each."""
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)

    def _ended(self, cause: str = "") -> UpstreamError:
        if self._has_heard:
            return Unusable(f"closed within an answer{cause}")
        return Broken(f"closed before an answer{cause}")
