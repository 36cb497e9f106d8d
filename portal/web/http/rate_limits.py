"""Rate limits: requests a token and an address may make, and wrong tokens at the sign-in.

Built on ``limits``, the library under Flask-Limiter: a decorator would judge before the request
is understood, and a wrong plate must be 400 before it is 429. Counts live in Redis where there
is one, otherwise in each process: two workers then let up to twice as many through.
"""

import ipaddress
import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from math import ceil
from typing import TYPE_CHECKING, Final, TypeVar, cast

if TYPE_CHECKING:  # late: a start that limits nothing need not load it
    from limits import RateLimitItem
    from limits.storage import Storage
    from limits.strategies import FixedWindowRateLimiter

log = logging.getLogger(__name__)
T = TypeVar("T")

# Enough for a person's slips; nobody guesses a token at this pace.
WRONG_TOKENS: Final = "5/minute;20/hour"
TRIES_KEPT_S: Final = 3600  # the longest of these windows
REDIS_TIMEOUT_S: Final = 1.0
LEFT_ALONE_S: Final = 5.0  # after Redis has failed once


class RateLimits:
    """Each method tells how many seconds to wait, or None where there is no need to.

    ``token`` and ``address`` as in "600/minute;10000/day"; None = unlimited.
    """

    def __init__(
        self,
        token: str | None = None,
        address: str | None = None,
        redis_url: str | None = None,
    ) -> None:
        self._token = _parsed(token)
        self._address = _parsed(address)
        self._shared = _strategy(_redis(redis_url)) if redis_url else None
        self._shared_again_at = 0.0

    @cached_property
    def _wrong_tokens(self) -> "list[RateLimitItem]":
        return _parsed(WRONG_TOKENS)

    @cached_property
    def _own(self) -> "FixedWindowRateLimiter":
        from limits.storage import MemoryStorage

        return _strategy(MemoryStorage())

    @property
    def counts_requests(self) -> bool:
        return bool(self._token or self._address)

    def request(self, address: str | None, token_digest: str | None = None) -> int | None:
        """Count one request of an address and, where somebody is known, of their token."""
        waits = [self._count(self._address, "address", network(address))] if self._address else []
        if self._token and token_digest is not None:
            waits.append(self._count(self._token, "token", token_digest))
        return max((wait for wait in waits if wait is not None), default=None)

    def sign_in(self, address: str | None) -> int | None:
        """Count one attempt to sign in before it is judged, so that many at once gain nothing."""
        return self._count(self._wrong_tokens, "sign-in", network(address))

    def signed_in(self, address: str | None) -> None:
        """The attempt was no wrong token: it and the slips before it are forgotten."""
        for item in self._wrong_tokens:
            self._ask(partial(_clear, item=item, kind="sign-in", who=network(address)))

    def _count(self, items: "Sequence[RateLimitItem]", kind: str, who: str) -> int | None:
        for item in items:
            wait = self._ask(partial(_hit, item=item, kind=kind, who=who))
            if wait is not None:
                return wait  # what the minute refuses does not use up the hour
        return None

    def _ask(self, question: "Callable[[FixedWindowRateLimiter], T]") -> T:
        """The shared counts, or while Redis is down our own: a limit must not become an outage."""
        if self._shared is not None and time.monotonic() >= self._shared_again_at:
            try:
                return question(self._shared)
            except Exception as error:  # whatever the client raises: its text may hold a key
                self._shared_again_at = time.monotonic() + LEFT_ALONE_S
                log.warning("rate limits are counted here alone: %s", type(error).__name__)
        return question(self._own)


def seconds(wait_s: int) -> str:
    """A wait as people say it."""
    minutes = ceil(wait_s / 60)
    if wait_s < 60:
        return f"{wait_s} segundos" if wait_s > 1 else "1 segundo"
    return f"{minutes} minutos" if minutes > 1 else "1 minuto"


def _strategy(storage: "Storage") -> "FixedWindowRateLimiter":
    from limits.strategies import FixedWindowRateLimiter

    return FixedWindowRateLimiter(storage)


def _parsed(limit: str | None) -> "list[RateLimitItem]":
    """The shortest window first."""
    if not limit:
        return []
    from limits import parse_many

    return sorted(parse_many(limit), key=lambda item: item.get_expiry())


def _hit(
    strategy: "FixedWindowRateLimiter", *, item: "RateLimitItem", kind: str, who: str
) -> int | None:
    if strategy.hit(item, kind, who):
        return None
    reset_at = strategy.get_window_stats(item, kind, who).reset_time
    return max(1, ceil(reset_at - time.time()))


def _clear(
    strategy: "FixedWindowRateLimiter", *, item: "RateLimitItem", kind: str, who: str
) -> None:
    strategy.clear(item, kind, who)


def network(address: str | None) -> str:
    """Whom an address stands for: an IPv6 customer holds a whole /64."""
    try:
        parsed = ipaddress.ip_address(address or "")
    except ValueError:
        return "unknown"
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


def _redis(url: str) -> "Storage":
    from limits.storage import storage_from_string

    # limits knows a socket file by another scheme than redis-py does.
    named = url.replace("unix://", "redis+unix://", 1) if url.startswith("unix://") else url
    timeouts = {"socket_timeout": REDIS_TIMEOUT_S, "socket_connect_timeout": REDIS_TIMEOUT_S}
    return cast("Storage", storage_from_string(named, **timeouts))
