"""An adapter for ``requests`` that calls the sandbox without a socket."""

import time
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.exceptions import ReadTimeout
from requests.structures import CaseInsensitiveDict

from portal.sandbox.exchange import Request, Role
from portal.sandbox.sandbox import Sandbox


class SandboxTransport(BaseAdapter):
    """An adapter that simulates a base address of the upstream.

    ``role`` says whether this address is the primary or the secondary base address. ``refused`` is
    the class of the error that a refused connection raises.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        role: Role = "primary",
        sleep: Callable[[float], None] = time.sleep,
        refused: type[Exception] = RequestsConnectionError,
    ) -> None:
        super().__init__()
        self._refused = refused
        self._sandbox = sandbox
        self._role = role
        self._sleep = sleep

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002 - BaseAdapter's signature
        timeout: Any = None,
        verify: bool | str = True,  # noqa: ARG002 - BaseAdapter's signature
        cert: Any = None,  # noqa: ARG002
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> requests.Response:
        """Answer one request.

        ``timeout`` begins with the connect timeout and the read timeout, in seconds. Raises
        ReadTimeout, as the HTTPAdapter of ``requests`` does, and ``refused``.
        """
        parts = urlsplit(request.url or "")
        answer = self._sandbox.handle(
            Request(
                method=request.method or "GET",
                path=unquote(parts.path),
                query=parts.query,
                headers=request.headers,
                body=request.body if isinstance(request.body, bytes) else b"",
                role=self._role,
            )
        )
        if answer.is_refused:
            raise self._refused("Connection refused")
        read_s = timeout[1]
        if answer.delay_s:
            self._sleep(min(answer.delay_s, read_s))
        if answer.delay_s > read_s:
            raise ReadTimeout(f"Read timed out. (read timeout={read_s})", request=request)
        response = requests.Response()
        response.request, response.url = request, request.url or ""
        response.status_code = answer.status
        response.headers = CaseInsensitiveDict(answer.headers)
        response.raw = BytesIO(answer.body)
        return response

    def close(self) -> None:
        """Do nothing, because the adapter holds no connections."""
