"""Flask-Caching's RedisCache for sealed bytes: nothing is pickled, entries are found by tag."""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from flask_caching.backends.rediscache import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

from portal.gateway.fuse import Fuse
from portal.gateway.store import BEGUN, PURGED, new_era

T = TypeVar("T")

PREFIX = "portal:"  # of every key of ours: others may use the same Redis
TIMEOUT_S = 0.5
MOST_TOGETHER = 500  # commands sent at once
FAILURES: tuple[type[Exception], ...] = (RedisConnectionError, RedisTimeoutError, OSError)
# One try on a fresh connection where a kept one was closed; redis-py's own default would wait
# for seconds between three of them.
CLIENT_OPTIONS: dict[str, Any] = {
    "socket_timeout": TIMEOUT_S,
    "socket_connect_timeout": TIMEOUT_S,
    "max_connections": 2048,
    "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
}

_FENCE_DIGITS = 16  # microseconds since 1970 fit until the year 2286
# The fence stands before the value: digits of one length compare as text.
_REPLACE = f"""
    local held = redis.call("getrange", KEYS[1], 0, {_FENCE_DIGITS - 1})
    if held > ARGV[1] then return 0 end
    redis.call("set", KEYS[1], ARGV[1] .. ARGV[2], "PX", ARGV[3])
    redis.call("sadd", KEYS[2], KEYS[1])
    if redis.call("pttl", KEYS[2]) < tonumber(ARGV[3]) then
        redis.call("pexpire", KEYS[2], ARGV[3])
    end
    return 1"""
_DELETE_TAGGED = """
    local gone = 0
    for _, key in ipairs(redis.call("smembers", KEYS[1])) do
        gone = gone + redis.call("del", key)
    end
    redis.call("del", KEYS[1])
    redis.call("set", KEYS[2], ARGV[1])
    return gone"""


def batches(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many as are sent at once, in turn."""
    for first in range(0, len(things), MOST_TOGETHER):
        yield things[first : first + MOST_TOGETHER]


class _Bytes:
    """The serializer that is none: values are sealed envelopes already."""

    def dumps(self, value: bytes, timeout: int | None = None) -> bytes:  # noqa: ARG002 cachelib's
        return value

    def loads(self, value: bytes | None) -> bytes | None:
        return value


class SealedRedisCache(RedisCache):
    """Keys are ``tag:name``; beside each tag a set names its entries, so a purge needs no scan."""

    serializer: Any = _Bytes()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.client = self._write_client
        self.fuse = Fuse("Redis", self.client.ping, FAILURES)
        self._replace = self.client.register_script(_REPLACE)
        self._delete_tagged = self.client.register_script(_DELETE_TAGGED)

    def get(self, key: str) -> bytes | None:
        return self.read(key)[0]

    def read(self, key: str) -> tuple[bytes | None, str]:
        prefix = self._get_prefix()
        with self.fuse.guarding():
            value, era = self.client.mget(prefix + key, prefix + "era")
            if era is None:
                self.client.set(prefix + "era", new_era(BEGUN), nx=True)
                era = self.client.get(prefix + "era")
        return None if value is None else value[_FENCE_DIGITS:], (era or b"").decode()

    def version(self) -> None:
        """Redis has no number that tells whether anything was written."""

    def heads(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        _, era = self.read("era")  # first: what a purge deletes meanwhile is of the era before
        prefix, last = self._get_prefix(), _FENCE_DIGITS + size - 1
        found: dict[str, bytes] = {}
        for some in batches(keys):
            with self.fuse.guarding():
                asking = self.client.pipeline(transaction=False)
                for key in some:
                    asking.getrange(prefix + key, _FENCE_DIGITS, last)
                found |= {
                    key: head for key, head in zip(some, asking.execute(), strict=True) if head
                }
        return found, era

    def set(self, key: str, value: bytes, timeout: Any = None) -> bool:
        return self.replace(key, value, self.default_timeout if timeout is None else timeout)

    def replace(self, key: str, value: bytes, timeout: float, fence: int = 0) -> bool:
        prefix, tag = self._get_prefix(), key.partition(":")[0]
        milliseconds = max(1, int(timeout * 1000))
        with self.fuse.guarding():
            return bool(
                self._replace(
                    keys=[prefix + key, f"{prefix}tag:{tag}"],
                    args=[f"{fence:0{_FENCE_DIGITS}d}", value, milliseconds],
                )
            )

    def delete_tagged(self, tag: str) -> int:
        prefix = self._get_prefix()
        with self.fuse.guarding():
            return int(
                self._delete_tagged(
                    keys=[f"{prefix}tag:{tag}", prefix + "era"], args=[new_era(PURGED)]
                )
            )

    def close(self) -> None:
        """Keep no connection open any more: who comes late opens one."""
        self.client.close()

    def sweep(self) -> int:
        """Redis deletes what has expired by itself."""
        return 0
