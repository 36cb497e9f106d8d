"""Leases over machines: a key with an expiry in Redis, renewed while its holder lives, fenced."""

import contextlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from portal.gateway.backend_breaker import BackendBreaker, BreakerOpen
from portal.gateway.lease import fence_now
from portal.gateway.redis_cache import PREFIX, batches

log = logging.getLogger(__name__)

LIFETIME_MS = 3000
HEARTBEAT_S = 1.0
_LAST_FENCE = f"{PREFIX}fence"

# Redis's own clock, so that machines agree; and never twice the same nor a smaller one.
_ACQUIRE = """
    if not redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return false end
    local now = redis.call("time")
    local fence = now[1] * 1000000 + now[2]
    local last = tonumber(redis.call("get", KEYS[2]) or "0")
    if fence <= last then fence = last + 1 end
    local text = string.format("%.0f", fence)
    redis.call("set", KEYS[2], text)
    return text"""
_RENEW = """
    if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call("pexpire", KEYS[1], ARGV[2])"""
_RELEASE = """
    if redis.call("get", KEYS[1]) ~= ARGV[1] then return 0 end
    return redis.call("del", KEYS[1])"""


class RedisLeases:
    """One heartbeat thread a process renews what it holds.

    A holder that stalls loses its lease; its fence is then older than its successor's, and the
    store refuses its late write over the successor's. With Redis away every process leads for
    itself: coalescing shrinks to one call a process, and nobody is refused.
    """

    def __init__(
        self,
        client: Any,
        fuse: BackendBreaker,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._fuse = fuse
        self._sleep = sleep
        self._clock = clock
        self._acquire = client.register_script(_ACQUIRE)
        self._renew = client.register_script(_RENEW)
        self._release = client.register_script(_RELEASE)
        self._held: dict[str, str] = {}
        self._change = threading.Condition()
        self._heart: threading.Thread | None = None

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[int | None]:
        name, mine = f"{PREFIX}lease:{key}", secrets.token_hex(8)
        try:
            with self._fuse.guarding():
                fence = self._acquire(keys=[name, _LAST_FENCE], args=[mine, LIFETIME_MS])
        except Exception as error:
            if not isinstance(error, BreakerOpen):
                log.warning("no lease: %s", type(error).__name__)
            yield fence_now()
            return
        if fence is None:
            yield None
            return
        self._keep(name, mine)
        try:
            yield int(fence)
        finally:
            with self._change:
                del self._held[name]
            with contextlib.suppress(Exception), self._fuse.guarding():
                self._release(keys=[name], args=[mine])

    def forget(self, tag: str) -> None:
        """Nothing to do: a lease that no process renews expires within ``LIFETIME_MS``."""

    def _keep(self, name: str, mine: str) -> None:
        with self._change:
            self._held[name] = mine
            if self._heart is None:
                heart = threading.Thread(target=self._beat, name="lease", daemon=True)
                try:
                    heart.start()
                except RuntimeError:  # no thread to be had: with the next lease, then
                    log.warning("no heartbeat: this lease ends after %d ms", LIFETIME_MS)
                    return
                self._heart = heart
            self._change.notify()  # heard where nothing was held; else a beat is due anyway

    def _beat(self) -> None:
        """Renews each lease once a beat, however many come and go between two of them.

        A beat counts from its start: what the renewing took is no part of the pause after it.
        """
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
        """Many at once: with a round trip for each, those of a busy process would expire."""
        for some in batches(held):
            with (
                contextlib.suppress(Exception),
                self._fuse.guarding(),
                self._client.pipeline(transaction=False) as renewals,
            ):
                for name, mine in some:
                    self._renew(keys=[name], args=[mine, LIFETIME_MS], client=renewals)
                renewals.execute()  # loads the script first where Redis has lost it
