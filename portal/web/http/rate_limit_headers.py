"""RateLimit and RateLimit-Policy headers (draft-ietf-httpapi-ratelimit-headers-10).

The headers state each limit that applies to the caller: the request limits of the settings
RATE_LIMIT_TOKEN and RATE_LIMIT_ADDRESS, and the token's daily limit of upstream calls. If no limit
applies, both headers are absent.
"""

import threading
import time
from collections.abc import Callable, Sequence
from math import ceil
from typing import Final

from flask import Flask, Response, g, request

from portal.access.tokens import Identity
from portal.gateway.ledger import Allowance
from portal.web.http.rate_limits import Quota, RateLimits

DAILY_CALLS: Final = "daily-calls"
_DAY_S: Final = 86_400
_RECENT_S: Final = 1.0
_MOST_NAMES: Final = 10_000


def rate_limit_headers(quotas: Sequence[Quota]) -> list[tuple[str, str]]:
    """Return RateLimit-Policy and RateLimit, or [] if no limit applies."""
    if not quotas:
        return []
    policy = ", ".join(f'"{each.name}";q={each.amount};w={each.window_s}' for each in quotas)
    state = ", ".join(f'"{each.name}";r={each.left};t={each.reset_s}' for each in quotas)
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
        if not identity.daily_limit:
            return None
        found = self._allowance(identity)
        quota = None
        if found.token is not None:
            until_s = max(1, ceil(found.until_midnight_s))
            quota = Quota(DAILY_CALLS, identity.daily_limit, _DAY_S, found.token, until_s)
        if len(self._recent) >= _MOST_NAMES:
            self._recent.clear()
        self._recent[identity.name] = (self._monotonic(), quota)
        return quota

    def recent(self, identity: Identity) -> Quota | None:
        """Return a quota that was read up to a second ago.

        The quota may be older while another thread reads the ledger. Returns None in the same cases
        as ``read``.
        """
        if not identity.daily_limit:
            return None
        found = self._recent.get(identity.name)
        if found is None:
            return self.read(identity)
        at, quota = found
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
        if identity is not None and (limits.counts_requests or identity.daily_limit):
            quotas = limits.windows(request.remote_addr, identity.digest)
            is_hit = response.headers.get("Cache-Status", "").startswith("portal; hit")
            if (calls := (daily.recent if is_hit else daily.read)(identity)) is not None:
                quotas.append(calls)
            response.headers.extend(rate_limit_headers(quotas))
        return response

    app.after_request(after)
