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

    def remember(self, chain: str, proto: str, host: str) -> None:
        hops = chain.count(",") + 1
        self._seen = ForwardedSeen(self._clock(), hops, proto[:_LONGEST], host[:_LONGEST])


class ForwardedHeaders:
    """WSGI middleware that shows the headers to a memory. It is in front of ProxyFix."""

    def __init__(self, application: WSGIApplication, memory: ForwardedMemory) -> None:
        self.app = application
        self._memory = memory

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        chain = environ.get("HTTP_X_FORWARDED_FOR")
        if chain is not None:
            proto = environ.get("HTTP_X_FORWARDED_PROTO", "")
            self._memory.remember(chain, proto, environ.get("HTTP_X_FORWARDED_HOST", ""))
        return self.app(environ, start_response)
