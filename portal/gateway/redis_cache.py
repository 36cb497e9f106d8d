"""A Flask-Caching backend on Redis that stores signed bytes, indexed by vehicle."""

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

from flask_caching.backends.rediscache import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from portal.gateway.backend import (
    BEGUN,
    PURGED,
    BytesRemain,
    Held,
    PurgedMeanwhile,
    Stored,
    StoreSize,
    compare_counters,
    new_generation,
    purge_bucket,
)
from portal.gateway.envelope import KEY_ID_BYTES, SEAL_BYTES
from portal.gateway.key_record import RedisKeyRecord
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
# A purge blocks writes to the vehicle's purge bucket (see ``purge_bucket``). If the purge is
# interrupted, the block ends after this many seconds.
PURGE_BLOCK_S = 300
# The key of a Redis hash that contains the generation name, the id of the backend's contents, the
# text of ``set_retention`` and the purge counters. Redis evicts only whole hashes, so these values
# are lost together or not at all.
_STATE = f"{PREFIX}generation"

_BEGIN = """
    redis.call("hsetnx", KEYS[1], "name", ARGV[1])
    redis.call("hsetnx", KEYS[1], "id", ARGV[1])"""
_MARK = """
    local held = redis.call("hmget", KEYS[1], "id", ARGV[1], "closed:" .. ARGV[1])
    local counter = (held[1] or "") .. ":" .. (held[2] or "0")"""
# A stored value begins with its fence. Fences have a fixed number of digits, so the script can
# compare them as text. A value with a higher fence is not replaced. A write is rejected while a
# vehicle in the key's purge bucket is being purged. A write is also rejected if a vehicle in this
# bucket was purged after the caller had read the purge counter.
_REPLACE = f"""
    if ARGV[2] ~= "" then
        {_MARK}
        if counter ~= ARGV[2] then return counter end
        if held[3] and tonumber(held[3]) > tonumber(redis.call("time")[1]) then
            return counter .. ":closed"
        end
    end
    local former = redis.call("getrange", KEYS[2], 0, {_FENCE_DIGITS - 1})
    if former > ARGV[3] then return 0 end
    redis.call("set", KEYS[2], ARGV[3] .. ARGV[4], "PX", ARGV[5])
    redis.call("sadd", KEYS[3], KEYS[2])
    if redis.call("pttl", KEYS[3]) < tonumber(ARGV[5]) then
        redis.call("pexpire", KEYS[3], ARGV[5])
    end
    return 1"""
# This script deletes the entries that the Redis set of the vehicle's tag lists. ``delete_tagged``
# then scans for further entries, because Redis may have evicted the set but not the entries. Writes
# to the vehicle's purge bucket are rejected until the scan has ended. "purging:BUCKET" counts the
# purges under way, of which the last one ends the rejection.
_BEGIN_PURGE = f"""
    redis.call("hsetnx", KEYS[1], "id", ARGV[2])
    redis.call("hset", KEYS[1], "name", ARGV[2])
    redis.call("hincrby", KEYS[1], ARGV[1], 1)
    local now = tonumber(redis.call("time")[1])
    local closed = redis.call("hget", KEYS[1], "closed:" .. ARGV[1])
    if not closed or tonumber(closed) <= now then
        redis.call("hdel", KEYS[1], "purging:" .. ARGV[1])
    end
    redis.call("hincrby", KEYS[1], "purging:" .. ARGV[1], 1)
    redis.call("hset", KEYS[1], "closed:" .. ARGV[1], now + {PURGE_BLOCK_S})
    local gone = 0
    for _, key in ipairs(redis.call("smembers", KEYS[2])) do
        gone = gone + redis.call("del", key)
    end
    redis.call("del", KEYS[2])
    if tonumber(redis.call("hget", KEYS[1], ARGV[3]) or "0") + 1 == tonumber(ARGV[4]) then
        redis.call("hset", KEYS[1], ARGV[3], ARGV[4])
    end
    return {{gone, redis.call("hget", KEYS[1], "id")}}"""
_END_PURGE = """
    if redis.call("hget", KEYS[1], "id") ~= ARGV[3] then return 0 end
    redis.call("hset", KEYS[1], "name", ARGV[2])
    redis.call("hincrby", KEYS[1], ARGV[1], 1)
    if redis.call("hincrby", KEYS[1], "purging:" .. ARGV[1], -1) <= 0 then
        redis.call("hdel", KEYS[1], "purging:" .. ARGV[1], "closed:" .. ARGV[1])
    end
    return 1"""
_SHORTEN = f"""
    if redis.call("getrange", KEYS[1], 0, {_FENCE_DIGITS - 1}) == ARGV[1] then
        redis.call("pexpireat", KEYS[1], ARGV[2], "LT")
    end"""


def batches(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield the items in slices of at most BATCH_SIZE items."""
    for first in range(0, len(items), BATCH_SIZE):
        yield items[first : first + BATCH_SIZE]


class _Bytes:
    """A cachelib serializer that does nothing, because the values are already bytes."""

    def dumps(self, value: bytes, timeout: int | None = None) -> bytes:  # noqa: ARG002
        return value

    def loads(self, value: bytes | None) -> bytes | None:
        return value


class SealedRedisCache(RedisCache):
    """Stores entries under keys ``tag:name`` (see ``Backend``).

    The tag stands for a vehicle. For each tag, a Redis set lists the keys of the vehicle's entries.
    """

    serializer: Any = _Bytes()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.client = self._write_client
        # Without the breaker, each request would wait for the time-out while Redis is down
        # (``test_redis_outage_costs_one_time_out_and_recovery_is_detected``).
        self.breaker = DependencyBreaker("Redis", self.client.ping, FAILURES, max_calls=CONNECTIONS)
        self.key_record = RedisKeyRecord(self._delete_signed)
        self._begin = self.client.register_script(_BEGIN)
        self._replace = self.client.register_script(_REPLACE)
        self._begin_purge = self.client.register_script(_BEGIN_PURGE)
        self._end_purge = self.client.register_script(_END_PURGE)
        self._shorten = self.client.register_script(_SHORTEN)

    def get(self, key: str) -> bytes | None:
        return self.read_many([key]).values[0]

    def read_many(self, keys: Sequence[str]) -> Held:
        bucket = str(purge_bucket(keys[0]))
        with self.breaker.guard():
            while True:
                # Read the generation name, which each purge changes, before the values. In the
                # opposite order, values that a purge deletes between the two reads would be
                # returned with the new name, and would seem to be current.
                pipeline = self.client.pipeline(transaction=False)
                pipeline.hmget(_STATE, "name", "id", bucket)
                pipeline.mget([self._get_prefix() + key for key in keys])
                (generation, contents, count), values = pipeline.execute()
                if generation is not None and contents is not None:
                    break
                self._begin(keys=[_STATE], args=[new_generation(BEGUN)])
        counter = b"%b:%b" % (contents, count or b"0")
        return Held(
            [None if value is None else value[_FENCE_DIGITS:] for value in values],
            generation.decode(),
            counter.decode(),
        )

    def version(self) -> None:
        """Return None, because Redis does not number the versions of its contents."""

    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        # Read the generation name, which each purge changes, before the signatures. In the opposite
        # order, signatures of entries that a purge deletes between the two reads would be returned
        # with the new name, and the deleted entries would be confirmed.
        generation = self.read_many(["generation"]).generation
        prefix, last = self._get_prefix(), _FENCE_DIGITS + size - 1
        found: dict[str, bytes] = {}
        for some in batches(keys):
            with self.breaker.guard():
                pipeline = self.client.pipeline(transaction=False)
                for key in some:
                    pipeline.getrange(prefix + key, _FENCE_DIGITS, last)
                found |= {
                    key: signature
                    for key, signature in zip(some, pipeline.execute(), strict=True)
                    if signature
                }
        return found, generation

    def set(self, key: str, value: bytes, timeout: Any = None) -> bool:
        return self.replace(key, value, self.default_timeout if timeout is None else timeout)

    def replace(
        self,
        key: str,
        value: bytes,
        timeout: float,
        fence: int = 0,
        purge_counter: str | None = None,
    ) -> bool:
        prefix, tag = self._get_prefix(), key.partition(":")[0]
        milliseconds = max(1, int(timeout * 1000))
        with self.breaker.guard():
            done = self._replace(
                keys=[_STATE, prefix + key, f"{prefix}tag:{tag}"],
                args=[
                    *(purge_bucket(key), purge_counter or ""),
                    *(f"{fence:0{_FENCE_DIGITS}d}", value, milliseconds),
                ],
            )
        if isinstance(done, bytes):
            compare_counters(purge_counter or "", done.decode().removesuffix(":closed"))
            raise PurgedMeanwhile  # the purge counter is current, but a purge is running
        return bool(done)

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """Delete every entry of a vehicle's tag.

        Also deletes entries that are missing from the Redis set that lists the tag's keys.

        Raises RuntimeError if Redis lost its contents during the deletion.
        """
        bucket = purge_bucket(tag)
        with self.breaker.guard():
            gone, contents = self._begin_purge(
                keys=[_STATE, f"{self._get_prefix()}tag:{tag}"],
                args=[bucket, new_generation(PURGED), f"purged_to:{log}", number],
            )
            for keys in self._scan(f"{tag}:*"):
                gone += self.client.delete(*keys)
            if not self._end_purge(keys=[_STATE], args=[bucket, new_generation(PURGED), contents]):
                raise RuntimeError("contents lost during a purge")
        return int(gone)

    def purged_to(self, log: str) -> int:
        with self.breaker.guard():
            return int(self.client.hget(_STATE, f"purged_to:{log}") or 0)

    def set_purged_to(self, log: str, number: int) -> None:
        with self.breaker.guard():
            self.client.hset(_STATE, f"purged_to:{log}", number)

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        prefix = self._get_prefix().encode()

        def in_buckets(keys: Sequence[bytes]) -> Sequence[bytes]:
            if buckets is None:
                return keys
            return [
                key for key in keys if purge_bucket(key.removeprefix(prefix).decode()) in buckets
            ]

        with self.breaker.guard():
            # Change the counters before the scan, which finds every entry that was written before.
            if buckets is None:
                self.client.hset(_STATE, "id", new_generation(PURGED))
            counters = self.client.pipeline(transaction=False)
            for bucket in buckets or ():
                counters.hincrby(_STATE, str(bucket), 1)
            counters.execute()
        return self._delete_entries(in_buckets)

    def _delete_signed(self, key_ids: Collection[bytes]) -> int:
        first = _FENCE_DIGITS + SEAL_BYTES

        def signed(keys: Sequence[bytes]) -> Sequence[bytes]:
            pipeline = self.client.pipeline(transaction=False)
            for key in keys:
                pipeline.getrange(key, first, first + KEY_ID_BYTES - 1)
            held = zip(keys, pipeline.execute(), strict=True)
            return [key for key, key_id in held if key_id in key_ids]

        return self._delete_entries(signed)

    def _delete_entries(self, choose: Callable[[Sequence[bytes]], Sequence[bytes]]) -> int:
        """Delete the entries that ``choose`` selects, and return their number.

        ``choose`` receives the keys of a group of entries, and returns the keys to delete. After
        each deletion the generation changes, so that every process clears its local cache.
        """
        gone = 0
        with self.breaker.guard():
            for keys in self._scan(f"{_TAG_PATTERN}:*"):
                if found := choose(keys):
                    gone += self.client.delete(*found)
                    self.client.hset(_STATE, "name", new_generation(PURGED))
        return gone

    def _scan(self, pattern: str) -> Iterator[Sequence[bytes]]:
        """Yield the keys that match ``pattern``, in groups.

        Call this method inside ``breaker.guard()``.
        """
        cursor = None
        while cursor != 0:
            cursor, keys = self.client.scan(
                cursor or 0, match=f"{self._get_prefix()}{pattern}", count=SCAN_COUNT
            )
            if keys:
                yield keys

    def erase_deleted(self) -> None:
        """Make Redis rewrite its snapshot and its append-only file, if they are enabled.

        Before the rewrite, the files still contain deleted entries.
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
            progress, now = (
                [info.get(name) for name in (*_REWRITING, _KEYS_WRITTEN)],
                time.monotonic(),
            )
            if progress != seen or _KEYS_WRITTEN not in info:
                seen, stalls_at = progress, now + REWRITE_STALL_S
            if now > stalls_at:
                raise BytesRemain("Redis does not finish rewriting its files")
            time.sleep(REWRITE_POLL_S)

    def remove_broken(self) -> list[str]:
        """Return an empty list, because this backend has no files."""
        return []

    def retention(self) -> str:
        with self.breaker.guard():
            return (self.client.hget(_STATE, "retention") or b"").decode()

    def set_retention(self, text: str) -> None:
        with self.breaker.guard():
            self.client.hset(_STATE, "retention", text)

    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        prefix = self._get_prefix()
        with self.breaker.guard():
            following, names = self.client.scan(
                cursor or 0, match=f"{prefix}*", count=BATCH_SIZE, _type="string"
            )
            values = self.client.mget(names) if names else []
        entries = [
            Stored(name.decode().removeprefix(prefix), value[_FENCE_DIGITS:], int(fence))
            for name, value in zip(names, values, strict=True)
            if value is not None and (fence := value[:_FENCE_DIGITS]).isdigit()
        ]
        return entries, following or None

    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        prefix = self._get_prefix()
        for some in batches(ends):
            with self.breaker.guard():
                changes = self.client.pipeline(transaction=False)
                for entry, at in some:
                    self._shorten(
                        keys=[prefix + entry.key],
                        args=[f"{entry.fence:0{_FENCE_DIGITS}d}", int(at * 1000)],
                        client=changes,
                    )
                changes.execute()

    def try_commands(self, name: str) -> None:
        """Run each command once on test keys, without the circuit breaker. Raises RedisError.

        ``name`` is 24 hexadecimal digits. The commands include a purge. It changes the generation
        name under a test key, because a change under the real key would make every process clear
        its local cache.
        """
        prefix = self._get_prefix()
        generation, entry = f"{prefix}probe:{name}", f"{prefix}{name}:probe"
        tags, bucket, fence = f"{prefix}tag:{name}", purge_bucket(name), f"{1:0{_FENCE_DIGITS}d}"
        try:
            self._begin(keys=[generation], args=[name])
            self.client.expire(generation, PURGE_BLOCK_S)
            self._replace(keys=[generation, entry, tags], args=[bucket, "", fence, b"", 60_000])
            self._shorten(keys=[entry], args=[fence, 0])
            pipeline = self.client.pipeline(transaction=False)
            pipeline.hmget(generation, "name", "id", str(bucket))
            pipeline.mget([entry, entry])
            pipeline.getrange(entry, 0, 1)
            pipeline.execute()
            _, contents = self._begin_purge(
                keys=[generation, tags], args=[bucket, name, "purged_to:probe", 1]
            )
            self._end_purge(keys=[generation], args=[bucket, name, contents])
            self.client.hget(generation, "retention")
            self.client.hset(generation, "retention", "")
            self.client.scan(match=f"{prefix}{name}:*", count=1, _type="string")
            self.client.ping()
        finally:
            with contextlib.suppress(Exception):
                self.client.delete(generation)
        self.client.unlink(entry)

    def close(self) -> None:
        """Close all pooled connections."""
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
