"""Types and interfaces of requests to the upstream."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

# What is known of the other base addresses when one is about to be asked: none can be asked, one
# can still be asked, or the same request was sent to one and failed.
Elsewhere = Literal["none", "untried", "failed"]


@dataclass(frozen=True, slots=True)
class Response:
    """A complete answer of the upstream. ``body`` is already decoded.

    ``is_empty`` is true if ``Resource.check`` has found that a 200 reports nothing.
    """

    status: int
    body: bytes
    origin: str
    retry_after_s: float | None = None
    is_empty: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """One request to the upstream.

    ``path`` is appended to a base address. ``credential`` is sent as the Authorization header.
    ``subject`` is a keyed hash that identifies the vehicle. ``check`` returns the response as it is
    to be relayed, or raises Unusable if the body does not answer this request. It is called for a
    200 and for the statuses with which a proxy may send a page. ``payer`` is a keyed hash of the
    caller's own upstream credential, or None if the caller has no upstream credential. Failover
    sets ``elsewhere``.
    """

    method: Literal["GET", "POST"]
    path: str
    subject: str
    credential: str = field(repr=False)
    body: bytes | None = field(default=None, repr=False)
    check: Callable[[Response], Response] = field(default=lambda response: response, repr=False)
    payer: str | None = None
    elsewhere: Elsewhere = "none"


class Attempt(Protocol):
    """One recorded request. Call ``finish`` exactly once, even if nothing was sent."""

    def finish(self, outcome: str, status: int | None = None) -> None: ...


class Account(Protocol):
    """Records requests, for example in the database, before they are sent.

    An origin calls ``begin`` before it sends the first byte of a request. ``begin`` may raise an
    error to prevent the request, for example if a daily limit is reached.
    """

    def begin(self, origin: str) -> Attempt: ...


class Upstream(Protocol):
    """The interface of Origin, of the circuit breakers and of Failover."""

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Return the answer by ``deadline`` (monotonic seconds), or raise UpstreamError."""
        ...
