"""The sandbox as a WSGI application.

``/`` is the primary base address, and ``/secundario`` is the secondary base address. To simulate an
outage of a base address, the application answers 503. The application cannot refuse a connection,
because the server has already accepted the connection.
"""

import time
from collections.abc import Iterable
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.datastructures import EnvironHeaders
from werkzeug.wrappers import Response
from werkzeug.wsgi import get_path_info

from portal.sandbox.exchange import Request, Role
from portal.sandbox.sandbox import BODY_CAP, Sandbox
from portal.system.process import exit_with_parent

SECONDARY = "/secundario"


def build(sandbox: Sandbox) -> WSGIApplication:
    """Return the WSGI application of a sandbox."""

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        answer = sandbox.handle(_request(environ))
        time.sleep(answer.delay_s)
        return Response(answer.body, answer.status, answer.headers)(environ, start_response)

    return application


def _request(environ: WSGIEnvironment) -> Request:
    path, method = get_path_info(environ), environ["REQUEST_METHOD"]
    role: Role = "primary"
    if path.startswith(SECONDARY + "/"):
        path, role = path.removeprefix(SECONDARY), "secondary"
    # One byte above BODY_CAP is enough to detect an oversized body.
    body = environ["wsgi.input"].read(BODY_CAP + 1) if method == "POST" else b""
    query = environ.get("QUERY_STRING", "")
    return Request(method, path, query, dict(EnvironHeaders(environ)), body, role)


application = build(Sandbox())


def worker() -> WSGIApplication:
    """Return the application. The worker process exits when its parent exits."""
    exit_with_parent()
    return application
