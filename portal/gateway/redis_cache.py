"""A Flask-Caching backend on Redis that stores signed bytes, indexed by vehicle."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from flask_caching.backends.rediscache import RedisCache
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from portal.data_files import read_text
from portal.gateway.backend import BytesRemain, EndOf, Found, Outcome, StoreSize
from portal.storage.purge_log import purge_bucket
from portal.system.dependency_breaker import DependencyBreaker

T = TypeVar("T")

PREFIX = "portal:"  # All keys have this prefix, because other applications may use the same Redis.
# Seconds that a command waits for Redis to respond. With a shorter time-out, a busy Redis would be
# treated as unavailable. Without the leases in Redis, processes repeat each other's paid calls.
TIMEOUT_S = 2.0
# Largest number of connections that a process uses at a time. More connections are of no use,
# because Redis runs one command at a time.
CONNECTIONS = 32
BATCH_SIZE = 500  # Largest number of commands in one pipeline.
FAILURES: tuple[type[Exception], ...] = (RedisConnectionError, RedisTimeoutError, OSError)
# If a pooled connection was closed, retry once on a new connection. By default redis-py retries
# three times, and waits for seconds between the attempts.
CLIENT_OPTIONS: dict[str, Any] = {
    "socket_timeout": TIMEOUT_S,
    "socket_connect_timeout": TIMEOUT_S,
    "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
}

# A fence (see Leases) is a time in microseconds since 1970. This number has 16 digits until the
# year 2286.
_FENCE_DIGITS = 16
# Number of keys that one step of a scan examines. Other clients of Redis wait during a step.
SCAN_COUNT = 5000
# Seconds without progress after which a purge stops waiting for Redis to rewrite its files.
REWRITE_STALL_S = 60.0
REWRITE_POLL_S = 0.05
_REWRITING = ("rdb_bgsave_in_progress", "aof_rewrite_in_progress", "aof_rewrite_scheduled")
_KEYS_WRITTEN = "current_save_keys_processed"  # missing before Redis 6.2
_TAG_PATTERN = "[0-9a-f]" * 24
_PURGED_TO = "purged_to"
_FORMER_STATE = f"{PREFIX}generation"  # a Redis hash of versions whose answers had no purge number


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the items in slices of at most BATCH_SIZE items."""
    for first in range(0, len(items), BATCH_SIZE):
        yield items[first : first + BATCH_SIZE]


def script(client: Any, name: str) -> Any:
    """Return a function that runs a script of the folder ``lua``, in which Redis does one step."""
    return client.register_script(read_text(__package__, f"lua/{name}.lua"))


class _Bytes:
    """A cachelib serializer that does nothing, because the values are already bytes."""

    def dumps(self, value: bytes, timeout: int | None = None) -> bytes:  # noqa: ARG002
        return value

    def loads(self, value: bytes | None) -> bytes | None:
        return value


class SealedRedisCache(RedisCache):
    """Stores entries under keys ``tag:name`` (see ``Backend``).

    A Redis hash contains the number up to which the purges of the purge log ``purge_log`` have been
    applied, and the number of the last purge of each bucket. Redis evicts only whole hashes, so
    these numbers are lost together or not at all.
    """

    serializer: Any = _Bytes()

    def __init__(self, url: str, purge_log: str = "") -> None:
        self.client: Any = Redis.from_url(url, **CLIENT_OPTIONS)
        super().__init__(self.client, key_prefix=PREFIX)
        # Without the breaker, each request would wait for the time-out while Redis is down
        # (``test_redis_outage_costs_one_time_out_and_recovery_is_detected``).
        self.breaker = DependencyBreaker("Redis", self.client.ping, FAILURES, max_calls=CONNECTIONS)
        self._purge_log = purge_log
        self._purges = f"{PREFIX}purges:{purge_log}"
        self._replace = script(self.client, "replace")
        self._begin_purge = script(self.client, "begin_purge")
        self._end_purges = script(self.client, "end_purges")
        self._shorten = script(self.client, "shorten")

    def read_many(self, keys: Sequence[str]) -> Found:
        with self.breaker.guard():
            # Read the number before the values. In the opposite order, values that a purge deletes
            # between the two reads would seem to be newer than the purge.
            pipeline = self.client.pipeline(transaction=False)
            pipeline.hget(self._purges, _PURGED_TO)
            pipeline.mget([PREFIX + key for key in keys])
            purged_to, values = pipeline.execute()
            if purged_to is None:  # Redis is empty, or a former version has written to it
                purged_to = self.client.hget(_FORMER_STATE, f"purged_to:{self._purge_log}") or 0
                with contextlib.suppress(ResponseError):  # Redis is full, or cannot save its data
                    self.client.hsetnx(self._purges, _PURGED_TO, purged_to)
        return Found(
            [None if value is None else value[_FENCE_DIGITS:] for value in values], int(purged_to)
        )

    def signatures(self, keys: Sequence[str], size: int) -> dict[str, bytes]:
        last = _FENCE_DIGITS + size - 1
        stored: dict[str, bytes] = {}
        for some in batches(keys):
            with self.breaker.guard():
                pipeline = self.client.pipeline(transaction=False)
                for key in some:
                    pipeline.getrange(PREFIX + key, _FENCE_DIGITS, last)
                stored |= {
                    key: signature
                    for key, signature in zip(some, pipeline.execute(), strict=True)
                    if signature
                }
        return stored

    def replace(
        self, key: str, value: bytes, timeout: float, fence: int = 0, purge_no: int = 0
    ) -> Outcome:
        with self.breaker.guard():
            outcome: bytes = self._replace(
                keys=[self._purges, PREFIX + key],
                args=[
                    *(purge_bucket(key), purge_no, f"{fence:0{_FENCE_DIGITS}d}", value),
                    max(1, int(timeout * 1000)),
                ],
            )
        return cast(Outcome, outcome.decode())

    def begin_purges(self, purges: Mapping[int, int]) -> None:
        for some in batches(list(purges.items())):
            with self.breaker.guard():
                pipeline = self.client.pipeline(transaction=False)
                for purge in some:
                    self._begin_purge(keys=[self._purges], args=purge, client=pipeline)
                pipeline.execute()

    def count_tagged(self, tags: Collection[str]) -> int:
        return len({name for names in self._tagged(tags) for name in names})  # may come twice

    def delete_tagged(self, tags: Collection[str]) -> int:
        with self.breaker.guard():
            # Former versions listed a tag's keys in a Redis set.
            self.client.delete(*(f"{PREFIX}tag:{tag}" for tag in tags))
        gone = 0
        for names in self._tagged(tags):
            with self.breaker.guard():
                gone += self.client.delete(*names)
        return gone

    def _tagged(self, tags: Collection[str]) -> Iterator[Sequence[bytes]]:
        # Redis itself leaves out most other names, so that this process need not read them all.
        common = "".join(f"[{''.join(sorted(set(signs)))}]" for signs in zip(*tags, strict=False))
        for names in self._scan(f"{common}*"):
            if tagged := [name for name in names if self._key(name).partition(":")[0] in tags]:
                yield tagged

    def end_purges(self, before: int, number: int) -> None:
        with self.breaker.guard():
            self._end_purges(keys=[self._purges], args=[before, number])

    def review(self, end_of: EndOf, buckets: Collection[int] | None = None) -> Iterator[None]:
        for names in self._scan():
            chosen = [
                name
                for name in names
                if buckets is None or purge_bucket(self._key(name)) in buckets
            ]
            for some in batches(chosen):
                self._review_some(end_of, some)
                yield

    def _review_some(self, end_of: EndOf, names: Sequence[bytes]) -> None:
        with self.breaker.guard():
            changes = self.client.pipeline(transaction=False)
            for name, value in zip(names, self.client.mget(names), strict=True):
                if value is not None:
                    fence, content = value[:_FENCE_DIGITS], value[_FENCE_DIGITS:]
                    end = end_of(self._key(name), content)
                    if end is not None:
                        self._shorten(keys=[name], args=[fence, int(end * 1000)], client=changes)
            changes.execute()

    def _scan(self, pattern: str = f"{_TAG_PATTERN}:*") -> Iterator[Sequence[bytes]]:
        """Yield the names of the entries whose keys match a glob pattern, in groups."""
        cursor = None
        while cursor != 0:
            with self.breaker.guard():
                cursor, names = self.client.scan(
                    cursor or 0,
                    match=PREFIX + pattern,
                    count=SCAN_COUNT,
                )
            if names:
                yield names

    def _key(self, name: bytes) -> str:
        return name.decode().removeprefix(PREFIX)

    def erase_deleted(self) -> Sequence[str]:
        """Make Redis rewrite its snapshot and its append-only file, if they are enabled.

        Before the rewrite, the files still contain deleted entries. Returns an empty list, because
        the portal renames no files of Redis.
        """
        with self.breaker.guard():
            appends = self.client.info("persistence").get("aof_enabled")
            try:
                saves = any(self.client.config_get("save").values())
            except ResponseError:  # a hosted Redis may hide its configuration
                saves = True
        try:
            if saves:
                self._rewrite(self.client.bgsave)
            if appends:
                self._rewrite(self.client.bgrewriteaof)
        except ResponseError:
            raise BytesRemain("Redis refused to rewrite its files") from None
        return []

    def _rewrite(self, begin: Callable[[], object]) -> None:
        self._wait_for_rewrite()  # which may have begun before the deletion
        with self.breaker.guard():
            begin()
        info = self._wait_for_rewrite()
        if "err" in (info["rdb_last_bgsave_status"], info["aof_last_bgrewrite_status"]):
            raise BytesRemain("Redis could not rewrite its files")

    def _wait_for_rewrite(self) -> dict[str, Any]:
        """Wait while Redis rewrites a file, as long as it makes progress."""
        seen, stalls_at = None, 0.0
        while True:
            with self.breaker.guard():
                info: dict[str, Any] = self.client.info("persistence")
            if not any(info.get(name) for name in _REWRITING):
                return info
            progress = [info.get(name) for name in (*_REWRITING, _KEYS_WRITTEN)]
            now = time.monotonic()
            if progress != seen or _KEYS_WRITTEN not in info:
                seen, stalls_at = progress, now + REWRITE_STALL_S
            if now > stalls_at:
                raise BytesRemain("Redis does not finish rewriting its files")
            time.sleep(REWRITE_POLL_S)

    def close(self) -> None:
        """Close all pooled connections."""
        self.breaker.stop()
        self.client.close()

    def sweep(self) -> int:
        """Return 0, because Redis deletes expired entries itself."""
        return 0

    def size(self) -> StoreSize:
        """Return the number of keys, and the memory that the whole Redis server uses."""
        with self.breaker.guard():
            pipeline = self.client.pipeline(transaction=False)
            pipeline.dbsize()
            pipeline.info("memory")
            keys, memory = pipeline.execute()
        return StoreSize(keys, memory["used_memory"])
