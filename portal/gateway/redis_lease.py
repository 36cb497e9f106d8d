"""Leases in Redis, for processes on several machines."""

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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
HEARTBEAT_S = 1.0
_LAST_FENCE = f"{PREFIX}fence"


class RedisLeases:
    """Leases in Redis, renewed by one heartbeat thread in each process.

    A lease is a Redis key that expires if it is not renewed. A holder that stalls loses its lease.
    The next holder has a higher fence, so the store rejects late writes of the stalled holder.
    While Redis is unavailable, every process gets every lease. Lookups still work, but several
    processes may call the upstream for the same key.
    """

    def __init__(
        self,
        client: Any,
        breaker: DependencyBreaker,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._breaker = breaker
        self._sleep = sleep
        self._clock = clock
        self._acquire = script(client, "acquire")
        self._renew = script(client, "renew")
        self._release = script(client, "release")
        self._held: dict[str, str] = {}
        self._change = threading.Condition()
        self._heartbeat: threading.Thread | None = None

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
        self._start_renewing(name, token)
        try:
            yield int(fence)
        finally:
            with self._change:
                del self._held[name]
            with contextlib.suppress(Exception), self._breaker.guard():
                self._release(keys=[name], args=[token])

    def forget(self, tag: str) -> None:
        """Do nothing, because a lease that is not renewed expires within ``LIFETIME_MS``."""

    def _start_renewing(self, name: str, token: str) -> None:
        with self._change:
            self._held[name] = token
            if self._heartbeat is None:
                thread = threading.Thread(
                    target=self._renew_periodically, name="lease", daemon=True
                )
                try:
                    thread.start()
                # The next call of ``hold`` tries to start the thread again.
                except RuntimeError:
                    log.warning(
                        "cannot start the heartbeat thread: this lease expires after %d ms",
                        LIFETIME_MS,
                    )
                    return
                self._heartbeat = thread
            # Wake the thread, which waits while no lease is held.
            self._change.notify()

    def _renew_periodically(self) -> None:
        """Renew all held leases every HEARTBEAT_S."""
        took_s = 0.0
        while True:
            with self._change:
                while not self._held:
                    self._change.wait()
            self._sleep(max(0.0, HEARTBEAT_S - took_s))
            started = self._clock()
            with self._change:
                held = list(self._held.items())
            self._renew_all(held)
            took_s = self._clock() - started

    def _renew_all(self, held: Sequence[tuple[str, str]]) -> None:
        # Renew many leases with one request. With a request for each lease, some leases of a busy
        # process would expire before their renewal.
        for some in batches(held):
            with (
                contextlib.suppress(Exception),
                self._breaker.guard(),
                self._client.pipeline(transaction=False) as renewals,
            ):
                for name, token in some:
                    self._renew(keys=[name], args=[token, LIFETIME_MS], client=renewals)
                renewals.execute()  # also reloads the script if Redis has lost it
