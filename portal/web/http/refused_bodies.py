"""Discards the body of a refused request, so that the client gets the response.

If the application does not read the body, the server Granian closes the connection after the
response. Bytes that arrive afterwards cause a TCP reset (RFC 9112 §9.6). Clients such as ``urllib``
and axios send the whole body before they read the response. After a reset, these clients report a
broken pipe instead of the status 401, 404 or 413. This middleware therefore sends the response at
once and then reads the body for up to MAX_S seconds, like nginx's ``lingering_close``.

The thread that sends the response also reads the body. No other thread could read it, because
Granian 2.8 closes the body at the end of the response iterator. A stalled client blocks this
thread, so a ``SlotLimiter`` allows only a few such reads at a time. Above this limit, the
middleware does not read the body.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from typing import Any, Final, cast
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.exceptions import ServiceUnavailable
from werkzeug.wsgi import ClosingIterator

from portal.web.http.rate_limits import network
from portal.web.http.slot_limits import SlotLimiter

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_S: Final = 5.0
_READ_BYTES: Final = 16 * 1024


class RefusedBodies:
    """WSGI middleware that discards the unread body of a request refused with 4xx or 5xx."""

    def __init__(
        self,
        application: WSGIApplication,
        limiter: SlotLimiter,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._application = application
        self._limiter = limiter
        self._monotonic = monotonic

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if not _sends_body(environ):
            return self._application(environ, start_response)
        status = ""

        def start(line: str, *more: Any) -> Any:
            nonlocal status
            status = line
            return start_response(line, *more)

        answer = self._application(environ, start)
        if status < "4":
            return answer
        with closing(cast("ClosingIterator", answer)):  # the type of Flask's responses
            sent = b"".join(answer)
        return self._send_then_discard(sent, environ)

    def _send_then_discard(self, answer: bytes, environ: WSGIEnvironment) -> Iterator[bytes]:
        yield answer  # the client knows the end from Content-Length
        body, sender = environ["wsgi.input"], network(environ.get("REMOTE_ADDR"))
        remaining, ends_at = MAX_BYTES, self._monotonic() + MAX_S
        with suppress(ServiceUnavailable), self._limiter.slot(sender):
            while remaining > 0 and self._monotonic() < ends_at:
                read = len(body.read(_READ_BYTES))
                if not read:
                    break
                remaining -= read


def _sends_body(environ: WSGIEnvironment) -> bool:
    """Return whether the client sends a body that this middleware may have to discard.

    Returns False if the declared length exceeds MAX_BYTES. Also returns False if the request has
    ``Expect: 100-continue``, because the client then waits for a response before sending the body
    (RFC 9110 §10.1.1).
    """
    if "HTTP_EXPECT" in environ:
        return False
    if "HTTP_TRANSFER_ENCODING" in environ:
        return True
    length = environ.get("CONTENT_LENGTH", "")
    return length.isdecimal() and 0 < int(length) <= MAX_BYTES
