"""A transport adapter for the ``requests`` library, without pooled connections or retries."""

import gzip
import io
import time
import zlib
from codecs import BOM_UTF8
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPHeaderDict

from portal.upstream.connection import connect
from portal.upstream.errors import LocalFailure, Unusable
from portal.upstream.http1 import LONGEST_BODY, Exchange

# The content of a response is read only if the response has one of these statuses. A proxy or a web
# firewall sends pages with the same statuses, so the content must show that the upstream has
# answered. For other statuses the content does not matter, and a malformed content would raise an
# error that hides the status.
BODY_STATUSES: Final = (200, 400, 401, 403, 404, 407, 451)
_PORTS: Final = {"http": 80, "https": 443}
_GZIP: Final = b"\x1f\x8b"
_MOST_LAYERS: Final = 3


class SingleUseAdapter(BaseAdapter):
    """Sends a request on a new connection, which is closed after the response.

    ``deadline`` (monotonic seconds) limits the whole exchange. The argument ``timeout`` of ``send``
    is a pair of numbers, in seconds. The first number limits name resolution, TCP and TLS together.
    The second number limits the wait for the complete head of the final response. ``send`` raises
    UpstreamError if it fails. The response has its decoded content, or none if its status is not in
    BODY_STATUSES. Redirects, cookies, proxies and .netrc are not supported.
    """

    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002 - the content is read here
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
        connection = connect(
            url.hostname or "",
            url.port or _PORTS[url.scheme],
            tls=url.scheme == "https",
            until=until,
        )
        with closing(Exchange(connection)) as exchange:
            head = exchange.request(
                request.method or "GET",
                request.path_url,
                [("Host", url.netloc), *request.headers.items()],
                request.body if isinstance(request.body, bytes) else b"",
                min(time.monotonic() + first_byte_s, self._deadline),
            )
            content = b""
            if head.status_code in BODY_STATUSES:
                content = decoded(exchange.body(LONGEST_BODY, self._deadline))
        response = requests.Response()
        response.request, response.url = request, request.url or ""
        response.status_code = head.status_code
        fields = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)
        # HTTPHeaderDict joins repeated header fields into one value (RFC 9110 §5.3).
        response.headers = CaseInsensitiveDict(HTTPHeaderDict(fields))
        response.raw = io.BytesIO(content)
        return response

    def close(self) -> None:
        """Do nothing, because the adapter keeps no connection open."""


def decoded(body: bytes) -> bytes:
    """Return the body without layers of gzip and without a byte order mark. Raises Unusable.

    The body alone decides, and not the response's headers, because servers label plain JSON with
    content codings that do not exist, and compress a body twice. JSON never begins with the first
    bytes of a gzip member. A reader may ignore the mark, and a server must not send one (RFC 8259
    §8.1). The portal serves the decoded body, so it removes the mark.
    """
    for _ in range(_MOST_LAYERS):
        if not body.startswith(_GZIP):
            break
        body = _gunzip(body)
    return body.removeprefix(BOM_UTF8)


def _gunzip(body: bytes) -> bytes:
    """Decompress all members of a gzip body (RFC 1952 §2.2). Raises Unusable.

    Decompression stops after LONGEST_BODY bytes, so that a decompression bomb cannot fill the
    memory.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as members:
            plain = members.read(LONGEST_BODY + 1)
    except (OSError, EOFError, zlib.error):
        raise Unusable("bad gzip") from None
    if len(plain) > LONGEST_BODY:
        raise Unusable("body too large")
    return plain
