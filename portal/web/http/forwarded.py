"""Remembers the ``X-Forwarded-*`` headers of the last request that a proxy has sent."""

import time
from collections.abc import Callable, Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from portal.system.sight import ForwardedSeen

_LONGEST: Final = 100  # characters of a header that are kept


class ForwardedMemory:
    """The headers of the last request that came through a proxy. Addresses are counted alone."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._seen: ForwardedSeen | None = None

    def last(self) -> ForwardedSeen | None:
        return self._seen

    def wrap(self, application: WSGIApplication) -> WSGIApplication:
        def remember(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            chain = environ.get("HTTP_X_FORWARDED_FOR")
            if chain is not None:
                proto = environ.get("HTTP_X_FORWARDED_PROTO", "")[:_LONGEST]
                host = environ.get("HTTP_X_FORWARDED_HOST", "")[:_LONGEST]
                self._seen = ForwardedSeen(self._clock(), chain.count(",") + 1, proto, host)
            return application(environ, start_response)

        return remember
