"""Types and interfaces between the gateway and the upstream."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer; ``body`` has its content coding removed."""

    status: int
    body: bytes
    origin: str
    content_type: str = "application/json"
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Resource:
    """One request to the upstream.

    ``path`` is appended to a base address. ``credential`` is sent in the Authorization header
    only. ``subject`` distinguishes vehicles without naming them. ``check(status, body)`` raises
    Unusable for a 200, 400 or 404 whose body does not answer this request. ``payer`` identifies
    the owner of the credential if callers bring their own (pass-through): a keyed hash, never
    the credential.
    """

    method: Literal["GET", "POST"]
    path: str
    subject: str
    credential: str = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    check: Callable[[int, bytes], None] = field(default=lambda *_: None, repr=False)
    payer: str | None = None


class Attempt(Protocol):
    """One send. ``finish`` is called exactly once."""

    def finish(self, outcome: str, status: int | None = None) -> None: ...


class Account(Protocol):
    """Records sends.

    ``begin`` is called before the first byte of each send; it raises an error to refuse the send.
    """

    def begin(self, origin: str) -> Attempt: ...


class Upstream(Protocol):
    """Answers a Resource: an origin, an origin behind a breaker, or a failover."""

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Return the answer by ``deadline`` (monotonic seconds). Raises UpstreamError."""
        ...
