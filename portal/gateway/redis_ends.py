"""The journal of ends in Redis (``portal.storage.ends``), which outlives the disk of a portal."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
from redis.exceptions import RedisError

from portal.gateway.redis_cache import PREFIX, SealedRedisCache
from portal.storage.ends import KEPT_S, End
from portal.system.dependency_breaker import BreakerOpen
from portal.system.error_kind import error_kind


class RedisEnds:
    """The ends of the database with the id ``database``: a Redis hash of JSON by the end's id."""

    def __init__(
        self, cache: SealedRedisCache, database: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._cache = cache
        self._key = f"{PREFIX}ends:{database}"
        self._clock = clock

    @property
    def name(self) -> str:
        return "Redis"

    def read(self) -> Sequence[End]:
        """Return the ends. Raises OSError."""
        with _failures_as_os_errors(), self._cache.breaker.guard():
            texts = self._cache.client.hvals(self._key)
        return [end for text in texts if (end := _decoded(text)) is not None]

    def add(self, ends: Sequence[End]) -> None:
        """Add ends, and drop those that are older than KEPT_S. Raises OSError."""
        old = [end.id for end in self.read() if end.at <= self._clock() - KEPT_S]
        with _failures_as_os_errors(), self._cache.breaker.guard():
            changes = self._cache.client.pipeline()
            changes.hset(self._key, mapping={end.id: msgspec.json.encode(end) for end in ends})
            if old:
                changes.hdel(self._key, *old)
            changes.execute()


@contextmanager
def _failures_as_os_errors() -> Iterator[None]:
    try:
        yield
    except (RedisError, BreakerOpen) as error:
        raise OSError(error_kind(error)) from None


def _decoded(content: bytes) -> End | None:
    """Return an end, or None if a later version has noted one of another kind."""
    try:
        return msgspec.json.decode(content, type=End)
    except msgspec.DecodeError:
        return None
