"""What travels between the gateway and the upstream: a Resource goes down, a Response comes up."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Response:
    """An answer read whole: its status, its bytes after content decoding, and who gave it."""

    status: int
    body: bytes
    origin: str
    content_type: str = "application/json"
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """What is asked for.

    ``path`` is appended to a base address; ``credential`` goes into the Authorization header
    alone; ``subject`` tells one vehicle from another without naming it; ``check(status, body)``
    raises Unusable for a 200, 400 or 404 whose body is no answer to this question. ``payer``
    names whose credential it is where callers bring their own (pass-through): a keyed hash,
    never the credential.
    """

    method: Literal["GET", "POST"]
    path: str
    subject: str
    credential: str = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    check: Callable[[int, bytes], None] = field(default=lambda *_: None, repr=False)
    payer: str | None = None


class Attempt(Protocol):
    """One send that was announced; it ends exactly once."""

    def ended(self, outcome: str, status: int | None = None) -> None: ...


class Account(Protocol):
    """Who pays: told of each send before a byte leaves, and may refuse it by raising."""

    def announce(self, origin: str) -> Attempt: ...


class Upstream(Protocol):
    """Whatever answers a Resource: one origin, one behind a breaker, or all of them as one."""

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Ask once, until ``deadline`` (monotonic seconds); raises UpstreamError."""
        ...
