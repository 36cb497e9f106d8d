"""A transport adapter for the library ``requests`` that answers from the sandbox without a socket.

A simulated refused connection or time-out raises the same exception as with HTTPAdapter, and the
response's ``raw`` contains the body.
"""

from collections.abc import Mapping
from http import HTTPStatus
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.exceptions import ReadTimeout
from requests.structures import CaseInsensitiveDict
from urllib3 import HTTPConnectionPool, HTTPResponse
from urllib3.connection import HTTPConnection
from urllib3.exceptions import MaxRetryError, NewConnectionError, ReadTimeoutError
from urllib3.util.timeout import Timeout

from portal.sandbox.exchange import Request, Response, Role
from portal.sandbox.sandbox import Sandbox


class SandboxTransport(BaseAdapter):
    """An adapter to mount in a Session. ``role`` is the base address that the adapter simulates."""

    def __init__(self, sandbox: Sandbox, role: Role = "primary") -> None:
        super().__init__()
        self._sandbox = sandbox
        self._role = role

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: float | tuple[float | None, float | None] | Any | None = None,
        verify: bool | str = True,  # noqa: ARG002 - BaseAdapter's signature
        cert: bytes | str | tuple[bytes | str, bytes | str] | None = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> requests.Response:
        """Answer one request. Raises ConnectionError and ReadTimeout like HTTPAdapter."""
        url = request.url or ""
        parts = urlsplit(url)
        pool = HTTPConnectionPool(parts.hostname or "sandbox", parts.port)
        response = self._sandbox.handle(
            Request(
                method=request.method or "GET",
                path=unquote(parts.path),
                query=parts.query,
                headers=request.headers,
                body=_body(request),
                role=self._role,
            )
        )
        if response.is_refused:
            connection = HTTPConnection(pool.host, pool.port)
            reason = NewConnectionError(connection, "Connection refused")
            raise RequestsConnectionError(MaxRetryError(pool, parts.path, reason), request=request)
        limit = _read_limit(timeout)
        if limit is not None and response.delay_s > limit:
            self._sandbox.sleep(limit)
            late = ReadTimeoutError(pool, parts.path, f"Read timed out. (read timeout={limit})")
            raise ReadTimeout(late, request=request)
        if response.delay_s > 0:
            self._sandbox.sleep(response.delay_s)
        return _converted(request, response, stream)

    def close(self) -> None:
        """Do nothing, because the adapter holds no connections."""


def _body(request: requests.PreparedRequest) -> bytes:
    body = request.body
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes | bytearray):
        return bytes(body)
    return body.read() if hasattr(body, "read") else b"".join(body)


def _read_limit(timeout: object) -> float | None:
    """Return the read time-out in seconds, or None if there is none.

    ``timeout`` has any of the types that ``requests`` accepts.
    """
    match timeout:
        case (_, read):
            limit = read
        case Timeout():
            limit = timeout.read_timeout
        case _:
            limit = timeout
    return float(limit) if isinstance(limit, int | float) else None


def _converted(
    request: requests.PreparedRequest, response: Response, stream: bool
) -> requests.Response:
    headers = {**response.headers, "Content-Length": str(len(response.body))}
    reason = HTTPStatus(response.status).phrase
    converted = requests.Response()
    converted.status_code = response.status
    converted.reason = reason
    converted.headers = CaseInsensitiveDict(headers)
    converted.encoding = requests.utils.get_encoding_from_headers(converted.headers)
    converted.url = request.url or ""
    converted.request = request
    converted.raw = HTTPResponse(
        body=BytesIO(response.body),
        headers=headers,
        status=response.status,
        reason=reason,
        preload_content=False,
        request_method=request.method,
    )
    if not stream:
        converted.content  # noqa: B018 - reads the body, as Session.send does
    return converted
