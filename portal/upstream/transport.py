"""A transport adapter for the ``requests`` library, without pooled connections or retries."""

import contextlib
import io
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPHeaderDict

from portal.upstream.connection import connect
from portal.upstream.errors import LocalFailure
from portal.upstream.http1 import LONGEST_BODY, Exchange

_PORTS = {"http": 80, "https": 443}


class SingleUseAdapter(BaseAdapter):
    """Sends a request on a new connection, which is closed after the response.

    ``deadline`` (monotonic seconds) limits the whole exchange. The argument ``timeout`` of ``send``
    is a pair of numbers, in seconds. The first number limits name resolution, TCP and TLS together.
    The second number limits the wait for the complete head of the final response. ``send`` raises
    UpstreamError if it fails. So does reading the response's content. Redirects, cookies,
    proxies and .netrc are not supported.
    """

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002 - the content is always read on demand
        timeout: Any = None,
        verify: bool | str = True,  # noqa: ARG002 - certificates are always verified
        cert: Any = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> requests.Response:
        connect_s, first_byte_s = timeout
        url = urlsplit(request.url or "")
        until = min(time.monotonic() + connect_s, self._deadline)
        if time.monotonic() >= self._deadline:
            raise LocalFailure("no time left")
        exchange = Exchange(
            connect(
                url.hostname or "",
                url.port or _PORTS[url.scheme],
                tls=url.scheme == "https",
                until=until,
            )
        )
        try:
            head = exchange.request(
                request.method or "GET",
                request.path_url,
                [("Host", url.netloc), *request.headers.items()],
                request.body if isinstance(request.body, bytes) else b"",
                min(time.monotonic() + first_byte_s, self._deadline),
            )
        except BaseException:
            exchange.close()
            raise
        response = requests.Response()
        response.request, response.url = request, request.url or ""
        response.status_code = head.status_code
        fields = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)
        # HTTPHeaderDict joins repeated header fields into one value (RFC 9110 §5.3).
        response.headers = CaseInsensitiveDict(HTTPHeaderDict(fields))
        response.raw = _Content(exchange, self._deadline)
        return response

    def close(self) -> None:
        """Do nothing, because the adapter keeps no connection open."""


class _Content(io.RawIOBase):
    """A response's content. The first read receives all content and closes the connection."""

    def __init__(self, exchange: Exchange, deadline: float) -> None:
        super().__init__()
        self._exchange = exchange
        self._deadline = deadline
        self._content: io.BytesIO | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._content is None:
            with contextlib.closing(self._exchange):
                self._content = io.BytesIO(self._exchange.body(LONGEST_BODY, self._deadline))
        return self._content.readinto(buffer)

    def close(self) -> None:
        self._exchange.close()
        super().close()
