"""What reaches the sandbox and what leaves it, free of any web framework or socket."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

Role = Literal["primary", "secondary"]

JSON = "application/json; charset=utf-8"
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: ``path`` percent-decoded, ``query`` raw, ``role`` the base address asked."""

    method: str
    path: str
    query: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = field(default=b"", repr=False)
    role: Role = "primary"

    def header(self, name: str) -> str | None:
        """A header's value whatever the case of its name; None when it was not sent."""
        wanted = name.lower()
        return next((v for k, v in self.headers.items() if k.lower() == wanted), None)


@dataclass(frozen=True, slots=True)
class Answer:
    """One response, or the lack of one.

    ``delay_s`` passes before the first byte. ``is_refused`` stands for a base address where
    nothing listens: a transport turns it into a refused connection, a server that is already
    listening can only send the 503 that is carried beside it.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    is_refused: bool = False


def json_answer(status: int, payload: object, headers: Mapping[str, str] | None = None) -> Answer:
    """JSON as UTF-8, non-ASCII unescaped, members in the order given."""
    body = msgspec.json.encode(payload)
    return Answer(status, body, {"Content-Type": JSON, **(headers or {})})


def error_answer(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    return json_answer(status, {"message": message}, headers)
