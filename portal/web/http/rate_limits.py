"""Rate limits on requests, sign-ins, guesses of dossier numbers, and issued dossiers.

The headers RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10) state each
limit that applies to the caller: the request limits of the settings RATE_LIMIT_TOKEN and
RATE_LIMIT_ADDRESS, and the token's daily limit of upstream calls. If no limit applies, both headers
are absent.

A request with an invalid plate must return 400 even if a limit is reached. Flask-Limiter would
check the limit before the plate and return 429. This module therefore uses the library ``limits``,
on which Flask-Limiter is built.

Counters are in Redis if REDIS_URL is set. Otherwise the workers of a server share them in memory.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from ipaddress import ip_network
from math import ceil
from operator import methodcaller
from typing import TYPE_CHECKING, Final, TypeVar, cast

from flask import Flask, Response, g, request
from werkzeug.exceptions import TooManyRequests

from portal.access.tokens import Identity
from portal.gateway.limits import Allowance
from portal.system.dependency_breaker import DependencyBreaker
from portal.system.local_time import DAY_S
from portal.system.shared_counters import SharedCounters
from portal.web.http.client_address import plain_address

if TYPE_CHECKING:  # at run time, the library is imported only if a limit is used
    from limits import RateLimitItem
    from limits.storage import Storage
    from limits.strategies import FixedWindowRateLimiter

T = TypeVar("T")

# Attempts to sign in from one address. A successful sign-in resets the counter.
SIGN_IN_ATTEMPTS: Final = "5/minute;20/hour"
SIGN_IN_WINDOW_S: Final = 3600  # the longer window of SIGN_IN_ATTEMPTS
# Attempts from one address to open a dossier with an unknown number or link key. The limit is too
# low for guessing a number (60 random bits) or a key (128 random bits).
WRONG_DOSSIERS: Final = "20/minute;100/hour"
# Dossiers issued from one address. Rendering a dossier takes about a second of processor time.
ISSUED_DOSSIERS: Final = "30/minute;300/hour"
# Requests with an unknown token from one address.
WRONG_TOKENS: Final = "30/minute;300/hour"
# Files that are verified for one address, by number of requests.
VERIFIED_FILES: Final = "300/minute;3000/hour"
REDIS_TIMEOUT_S: Final = 1.0
DAILY_CALLS: Final = "daily-calls"
_RECENT_S: Final = 1.0
_MOST_NAMES: Final = 10_000
LIMIT_COUNTERS: Final = 3 * 8192  # numbers in which workers share the counts of 8,192 windows


@dataclass(frozen=True, slots=True)
class Quota:
    """A limit of ``amount`` requests or upstream calls per window of ``window_s`` seconds.

    The current window ends in ``reset_s`` seconds. Until then, ``left`` more requests or calls are
    allowed.
    """

    name: str
    amount: int
    window_s: int
    left: int
    reset_s: int


class RateLimits:
    """Counters of requests, sign-ins, issued dossiers, and wrong guesses of numbers.

    A method that returns ``int | None`` returns the seconds to wait, or None if the request is
    allowed. ``token`` and ``address`` are limits such as "600/minute;10000/day", or None for no
    limit. ``counters`` are LIMIT_COUNTERS numbers that the workers share, or None for numbers of
    this process.
    """

    def __init__(
        self,
        token: str | None = None,
        address: str | None = None,
        redis_url: str | None = None,
        counters: SharedCounters | None = None,
    ) -> None:
        self._token = _parse_limit(token)
        self._address = _parse_limit(address)
        self._redis = _RedisLimits(redis_url) if redis_url else None
        self._setup = threading.Lock()
        self.counts_requests = bool(self._token or self._address)
        self._counters = counters
        self._local: FixedWindowRateLimiter | None = None

    def _local_counters(self) -> "FixedWindowRateLimiter":
        """Return the counters in memory. The first call creates them.

        Without a lock, two threads could create separate counters. ``functools.cached_property``
        has no lock since Python 3.12.
        """
        if self._local is None:
            with self._setup:
                if self._local is None:
                    from portal.web.http.shared_limits import SharedStorage

                    counters = self._counters or SharedCounters(LIMIT_COUNTERS)
                    self._local = _strategy(SharedStorage(counters))
        return self._local

    def request(self, address: str | None, token_digest: str | None = None) -> int | None:
        waits = [self._first_wait(self._address, "address", network(address))]
        if token_digest is not None:
            waits.append(self._first_wait(self._token, "token", token_digest))
        return max((wait for wait in waits if wait is not None), default=None)

    def windows(self, address: str | None, token_digest: str) -> list[Quota]:
        """Return the state of each window of the limits for an address and a token.

        A quota is named after the kind of limit and the window's seconds, such as "token-60".
        """
        if not self.counts_requests:
            return []
        kinds = (("address", self._address, network(address)), ("token", self._token, token_digest))
        return [
            self._run(partial(_quota, item, kind, subject))
            for kind, items, subject in kinds
            for item in items
        ]

    def sign_in(self, address: str | None) -> int | None:
        """Count an attempt to sign in.

        Call this method before checking the token. Otherwise parallel attempts could exceed the
        limit.
        """
        return self._first_wait(_parse_limit(SIGN_IN_ATTEMPTS), "sign-in", network(address))

    def reset_sign_in(self, address: str | None) -> None:
        for item in _parse_limit(SIGN_IN_ATTEMPTS):
            self._run(methodcaller("clear", item, "sign-in", network(address)))

    def guess_wait(self, address: str | None) -> int | None:
        """Return how many seconds an address must wait, or None if no wait is needed.

        An address must wait after too many wrong guesses. A guess is an attempt to open a dossier
        by its number or key. After a wrong guess, call ``count_guess``. A right guess does not
        reset the counter, because the owner of a valid link could otherwise guess other links
        without limit. Parallel requests may exceed the limit, because a wrong guess is counted only
        after this method has allowed it.
        """
        items = _parse_limit(WRONG_DOSSIERS)
        return self._first_wait(items, "dossier", network(address), hit=False)

    def count_guess(self, address: str | None) -> None:
        self._first_wait(_parse_limit(WRONG_DOSSIERS), "dossier", network(address))

    def verify(self, address: str | None) -> int | None:
        """Count a file, or a file's hash, that is to be verified."""
        return self._first_wait(_parse_limit(VERIFIED_FILES), "verify", network(address))

    def wrong_token(self, address: str | None) -> int | None:
        """Count a request with an unknown token.

        The caller must authenticate first, so that the limit never rejects a valid token from the
        same address.
        """
        return self._first_wait(_parse_limit(WRONG_TOKENS), "token-try", network(address))

    def issue_wait(self, address: str | None, dossiers: int = 1) -> int | None:
        """Return how many seconds an address must wait to issue dossiers, or None.

        Each that was issued is then counted by ``count_issued``. One that was refused, as a PDF
        that is not ready in time, uses nothing up: who tries again as the refusal says would
        otherwise be locked out. Parallel requests may exceed the limit.
        """
        items = _parse_limit(ISSUED_DOSSIERS)
        return self._first_wait(items, "issue", network(address), hit=False, cost=dossiers)

    def count_issued(self, address: str | None) -> None:
        self._first_wait(_parse_limit(ISSUED_DOSSIERS), "issue", network(address))

    def _first_wait(
        self,
        items: "Sequence[RateLimitItem]",
        kind: str,
        subject: str,
        *,
        hit: bool = True,
        cost: int = 1,
    ) -> int | None:
        for item in items:
            wait = self._run(partial(_wait_s, item, kind, subject, hit, cost))
            if wait is not None:
                return wait  # a request that one window rejects must not count in a longer window
        return None

    def stop(self) -> None:
        """Look no more for a Redis that is away."""
        if self._redis is not None:
            self._redis.breaker.stop()

    def _run(self, operation: "Callable[[FixedWindowRateLimiter], T]") -> T:
        """Run an operation on the counters in Redis.

        If Redis is not configured or fails, run the operation on the counters in memory.
        """
        if self._redis is not None:
            with suppress(Exception), self._redis.breaker.guard():
                return operation(self._redis.strategy)
        return operation(self._local_counters())


class _RedisLimits:
    def __init__(self, url: str) -> None:
        from limits.storage import storage_from_string

        # For a Unix socket, the library expects "redis+unix://" instead of "unix://".
        limits_url = f"redis+{url}" if url.startswith("unix://") else url
        timeouts = {"socket_timeout": REDIS_TIMEOUT_S, "socket_connect_timeout": REDIS_TIMEOUT_S}
        self._storage = cast("Storage", storage_from_string(limits_url, **timeouts))
        self.strategy = _strategy(self._storage)
        self.breaker = DependencyBreaker("Redis for rate limits", self._ping, (Exception,))

    def _ping(self) -> None:
        if not self._storage.check():
            raise ConnectionError


def refuse(wait_s: int | None) -> None:
    """Raise TooManyRequests if a method of RateLimits has returned a time to wait."""
    if wait_s is not None:
        raise TooManyRequests(retry_after=wait_s)


def _strategy(storage: "Storage") -> "FixedWindowRateLimiter":
    from limits.strategies import FixedWindowRateLimiter

    return FixedWindowRateLimiter(storage)


@cache
def _parse_limit(limit: str | None) -> "Sequence[RateLimitItem]":
    if not limit:
        return ()
    from limits import parse_many

    return sorted(parse_many(limit), key=lambda item: item.get_expiry())


def _wait_s(
    item: "RateLimitItem",
    kind: str,
    subject: str,
    hit: bool,
    cost: int,
    strategy: "FixedWindowRateLimiter",
) -> int | None:
    """Return the seconds to wait, or None. Count a request if ``hit`` is true.

    Otherwise tell whether ``cost`` requests would be allowed.
    """
    if hit:
        is_allowed = strategy.hit(item, kind, subject)
    else:
        is_allowed = strategy.test(item, kind, subject, cost=cost)
    if is_allowed:
        return None
    reset_at = strategy.get_window_stats(item, kind, subject).reset_time
    return max(1, ceil(reset_at - time.time()))


def _quota(
    item: "RateLimitItem", kind: str, subject: str, strategy: "FixedWindowRateLimiter"
) -> Quota:
    stats, window_s = strategy.get_window_stats(item, kind, subject), item.get_expiry()
    reset_s = ceil(stats.reset_time - time.time())
    return Quota(
        f"{kind}-{window_s}",
        item.amount,
        window_s,
        max(0, stats.remaining),
        reset_s if reset_s > 0 else window_s,
    )


def network(address: str | None) -> str:
    """Return what identifies a client: an IPv4 address, or the /64 network of an IPv6 address."""
    ip = plain_address(address)
    if ip is None:
        return "unknown"
    return str(ip) if ip.version == 4 else str(ip_network((ip, 64), strict=False))


def rate_limit_headers(quotas: Sequence[Quota]) -> list[tuple[str, str]]:
    """Return RateLimit-Policy and RateLimit, or [] if no limit applies."""
    if not quotas:
        return []
    policy = ", ".join(f'"{quota.name}";q={quota.amount};w={quota.window_s}' for quota in quotas)
    state = ", ".join(f'"{quota.name}";r={quota.left};t={quota.reset_s}' for quota in quotas)
    return [("RateLimit-Policy", policy), ("RateLimit", state)]


class DailyQuotas:
    """The number of upstream calls that each token has left today.

    ``allowance`` returns what the daily limits still allow. ``Allowance.token`` (the token's number
    of calls left) is None if the ledger cannot be read.

    A cache hit makes no upstream call, so a hit does not change the number. The response to a hit
    may therefore state a number that was read up to a second ago. If the number is older, one
    thread reads the ledger. Meanwhile the threads of other hits use the old number, so that these
    threads do not wait for the database.
    """

    def __init__(
        self,
        allowance: Callable[[Identity], Allowance],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._allowance = allowance
        self._monotonic = monotonic
        self._recent: dict[str, tuple[float, Quota | None]] = {}
        self._reading = threading.Lock()

    def read(self, identity: Identity) -> Quota | None:
        """Return the current quota, or None if there is no limit or the ledger cannot be read."""
        if not identity.least_daily_limit:
            return None
        allowance = self._allowance(identity)
        quota = None
        if allowance.token is not None:
            until_s = max(1, ceil(allowance.until_midnight_s))
            quota = Quota(DAILY_CALLS, identity.least_daily_limit, DAY_S, allowance.token, until_s)
        if len(self._recent) >= _MOST_NAMES:
            self._recent.clear()
        self._recent[identity.name] = (self._monotonic(), quota)
        return quota

    def recent(self, identity: Identity) -> Quota | None:
        """Return a quota that was read up to a second ago.

        The quota may be older while another thread reads the ledger. Returns None in the same cases
        as ``read``.
        """
        recent = self._recent.get(identity.name)
        if recent is None:
            return self.read(identity)
        at, quota = recent
        if self._monotonic() - at < _RECENT_S or not self._reading.acquire(blocking=False):
            return quota
        try:
            return self.read(identity)
        finally:
            self._reading.release()


def register_rate_limit_headers(app: Flask, limits: RateLimits, daily: DailyQuotas) -> None:
    """Add rate-limit headers to responses whose request was counted (``g.counted``)."""

    def after(response: Response) -> Response:
        identity: Identity | None = g.get("counted")
        if identity is not None and (limits.counts_requests or identity.least_daily_limit):
            quotas = limits.windows(request.remote_addr, identity.digest)
            is_hit = response.headers.get("Cache-Status", "").startswith("portal; hit")
            if (calls := (daily.recent if is_hit else daily.read)(identity)) is not None:
                quotas.append(calls)
            response.headers.extend(rate_limit_headers(quotas))
        return response

    app.after_request(after)
