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

    def remember(self, environ: WSGIEnvironment) -> None:
        chain = environ.get("HTTP_X_FORWARDED_FOR")
        if chain is not None:
            proto = environ.get("HTTP_X_FORWARDED_PROTO", "")[:_LONGEST]
            host = environ.get("HTTP_X_FORWARDED_HOST", "")[:_LONGEST]
            self._seen = ForwardedSeen(self._clock(), chain.count(",") + 1, proto, host)


class RemembersForwarded:
    """Lets ``memory`` see each request before ``app`` does, and before ProxyFix changes it."""

    def __init__(self, app: WSGIApplication, memory: ForwardedMemory) -> None:
        self.app = app
        self._memory = memory

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        self._memory.remember(environ)
        return self.app(environ, start_response)
