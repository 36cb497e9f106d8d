"""The sandbox as a WSGI application.

``/`` is the primary base address, and ``/secundario`` is the secondary base address. To simulate an
outage of a base address, the application answers 503. The application cannot refuse a connection,
because the server has already accepted the connection.
"""

import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from portal.sandbox.exchange import Request, Role
from portal.sandbox.sandbox import BODY_CAP, Sandbox
from portal.system.process import exit_with_parent

SECONDARY = "/secundario"

StartResponse = Callable[[str, list[tuple[str, str]]], Any]
Application = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


def build(sandbox: Sandbox) -> Application:
    """Return the WSGI application of a sandbox."""

    def application(environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        response = sandbox.handle(_request(environ))
        time.sleep(response.delay_s)
        headers = {**response.headers, "Content-Length": str(len(response.body))}
        status = HTTPStatus(response.status)
        start_response(f"{status.value} {status.phrase}", list(headers.items()))
        return [response.body]

    return application


def _request(environ: dict[str, Any]) -> Request:
    # A WSGI server decodes the path's UTF-8 bytes as latin-1 (PEP 3333).
    path = environ.get("PATH_INFO", "").encode("latin-1", "replace").decode("utf-8", "replace")
    role: Role = "primary"
    if path.startswith(SECONDARY + "/"):
        path, role = path.removeprefix(SECONDARY), "secondary"
    headers = {
        name.removeprefix("HTTP_").replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("HTTP_")
    }
    if environ.get("CONTENT_TYPE"):
        headers["CONTENT-TYPE"] = environ["CONTENT_TYPE"]
    return Request(
        method=environ["REQUEST_METHOD"],
        path=path,
        query=environ.get("QUERY_STRING", ""),
        headers=headers,
        body=_body(environ),
        role=role,
    )


def _body(environ: dict[str, Any]) -> bytes:
    """Read at most BODY_CAP + 1 bytes, which is enough to detect an oversized body."""
    if environ["REQUEST_METHOD"] != "POST":
        return b""
    body: bytes = environ["wsgi.input"].read(BODY_CAP + 1)
    return body


application = build(Sandbox())


def worker() -> Application:
    """Return the application. The worker process exits when its parent exits."""
    exit_with_parent()
    return application
