"""A plain HTTP client on one connection."""

import http.client
import socket
from typing import Self

from tests import factories
from tests.fakes.answers import Operation, path_of
from tests.fakes.upstream import FaultUpstream


class PlainClient:
    """Calls the fake upstream without pooling, retries or content decoding."""

    def __init__(self, up: FaultUpstream, timeout_s: float = 5) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", up.port, timeout=timeout_s)

    def ask(
        self, operation: Operation = "decode", subject: str = "ABC1D23", uf: str | None = None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        """Make one call on this connection. Exceptions of http.client pass through."""
        body = factories.report_request(subject) if operation == "report" else None
        method = "POST" if operation == "report" else "GET"
        self.connection.request(method, path_of(operation, subject, uf), body)
        response = self.connection.getresponse()
        return response, response.read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()


def answered(
    up: FaultUpstream, operation: Operation = "decode", subject: str = "ABC1D23"
) -> tuple[int, bytes]:
    """Make one call on a new connection; return status and body."""
    with PlainClient(up) as client:
        response, body = client.ask(operation, subject)
        return response.status, body


def raw_answer(up: FaultUpstream, timeout_s: float = 5) -> bytes:
    """Return all bytes of the response to a GET, read without an HTTP library."""
    with socket.create_connection(("127.0.0.1", up.port), timeout_s) as wire:
        wire.sendall(f"GET {path_of('decode')} HTTP/1.1\r\nHost: fake\r\n\r\n".encode())
        received = b""
        while part := wire.recv(65_536):
            received += part
        return received
