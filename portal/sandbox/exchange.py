"""The sandbox's requests and responses, independent of web frameworks and sockets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

Role = Literal["primary", "secondary"]

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: ``path`` decoded, ``query`` raw, ``role`` the base address."""

    method: str
    path: str
    query: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    role: Role = "primary"

    def header(self, name: str) -> str | None:
        """Return a header's value, by name in any case; None when it was not sent."""
        wanted = name.lower()
        return next((v for k, v in self.headers.items() if k.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Answer:
    """One response, or the lack of one.

    ``delay_s`` is the time before the first byte, in seconds. ``is_refused`` represents a base
    address without a listener. A transport turns it into a refused connection; a server, which
    already listens, can only send this answer's status, 503.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    is_refused: bool = False


def json_answer(status: int, payload: object, headers: Mapping[str, str] | None = None) -> Answer:
    """Return a JSON answer in UTF-8, non-ASCII unescaped, members in the order given."""
    body = msgspec.json.encode(payload)
    return Answer(status, body, {"Content-Type": JSON, **(headers or {})})


def error_answer(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    return json_answer(status, {"message": message}, headers)
