"""Leases in Redis, for processes on several machines."""

import contextlib
import logging
import secrets
from collections.abc import Iterator
from typing import Any

from portal.gateway.redis_cache import PREFIX, batches, script
from portal.gateway.single_flight import fence_now
from portal.system.dependency_breaker import BreakerOpen, DependencyBreaker

log = logging.getLogger(__name__)

# Milliseconds from the last renewal of a lease to its expiry. If the holder's machine fails,
# another process gets the lease before a lookup's default deadline of 15 s. With a lifetime of 3 s,
# busy processes with hundreds of threads lost their leases, and other processes repeated the paid
# calls.
LIFETIME_MS = 8000
_LAST_FENCE = f"{PREFIX}fence"


class RedisLeases:
    """Leases in Redis, which ``renew`` prolongs.

    A lease is a Redis key that expires if it is not renewed. A holder that stalls loses its lease.
    The next holder has a higher fence, so the store rejects late writes of the stalled holder.
    While Redis is unavailable, every process gets every lease. Lookups still work, but several
    processes may call the upstream for the same key.
    """

    def __init__(self, client: Any, breaker: DependencyBreaker) -> None:
        self._client = client
        self._breaker = breaker
        self._acquire = script(client, "acquire")
        self._renew = script(client, "renew")
        self._release = script(client, "release")
        self._held: dict[str, str] = {}

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[int | None]:
        name, token = f"{PREFIX}lease:{key}", secrets.token_hex(8)
        try:
            with self._breaker.guard():
                fence = self._acquire(keys=[name, _LAST_FENCE], args=[token, LIFETIME_MS])
        except Exception as error:
            if not isinstance(error, BreakerOpen):
                log.warning("cannot acquire a lease: %s", type(error).__name__)
            yield fence_now()
            return
        if fence is None:
            yield None
            return
        self._held[name] = token
        try:
            yield int(fence)
        finally:
            del self._held[name]
            with contextlib.suppress(Exception), self._breaker.guard():
                self._release(keys=[name], args=[token])

    def forget(self, tag: str) -> None:
        """Do nothing, because a lease that is not renewed expires within ``LIFETIME_MS``."""

    def renew(self) -> None:
        # Renew many leases with one request. With a request for each lease, some leases of a busy
        # process would expire before their renewal.
        for some in batches(list(self._held.copy().items())):
            with (
                contextlib.suppress(Exception),
                self._breaker.guard(),
                self._client.pipeline(transaction=False) as renewals,
            ):
                for name, token in some:
                    self._renew(keys=[name], args=[token, LIFETIME_MS], client=renewals)
                renewals.execute()  # also reloads the script if Redis has lost it
