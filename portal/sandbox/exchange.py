"""The sandbox's requests and responses, without a web framework or sockets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

Role = Literal["primary", "secondary"]

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the sandbox.

    ``role`` says whether the client sent the request to the primary or the secondary base address.
    ``path`` is URL-decoded, but ``query`` is not.
    """

    method: str
    path: str
    query: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    role: Role = "primary"

    def header(self, name: str) -> str | None:
        """Return a header's value. ``name`` may be in any letter case."""
        wanted = name.lower()
        return next((v for k, v in self.headers.items() if k.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Response:
    """One simulated response, or a refused connection.

    ``delay_s`` is the time before the first byte, in seconds. ``is_refused`` is true if the base
    address simulates an outage. ``SandboxTransport`` then raises an error. The WSGI application
    cannot refuse a connection. It sends this response, which has the status 503.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    is_refused: bool = False


def json_response(
    status: int, payload: object, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response in UTF-8."""
    body = msgspec.json.encode(payload)
    return Response(status, body, {"Content-Type": JSON, **(headers or {})})


def error_response(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    return json_response(status, {"message": message}, headers)
