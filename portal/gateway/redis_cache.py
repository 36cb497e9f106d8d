"""Flask-Caching's RedisCache for sealed bytes: nothing is pickled, entries are found by tag."""

from typing import Any

from flask_caching.backends.rediscache import RedisCache


class _Bytes:
    """The serializer that is none: values are sealed envelopes already."""

    def dumps(self, value: bytes, timeout: int | None = None) -> bytes:  # noqa: ARG002 cachelib's
        return value

    def loads(self, value: bytes | None) -> bytes | None:
        return value


class SealedRedisCache(RedisCache):
    """Keys are ``tag:name``; beside each tag a set names its entries, so a purge needs no scan."""

    serializer: Any = _Bytes()

    def set(self, key: str, value: bytes, timeout: Any = None) -> Any:
        prefix, tag = self._get_prefix(), key.partition(":")[0]
        index = f"{prefix}tag:{tag}"
        milliseconds = int((self.default_timeout if timeout is None else timeout) * 1000)
        with self._write_client.pipeline() as batch:
            batch.set(prefix + key, value, px=max(1, milliseconds))
            batch.sadd(index, prefix + key)
            batch.pexpire(index, milliseconds, nx=True)
            batch.pexpire(index, milliseconds, gt=True)
            return batch.execute()[0]

    def delete_tagged(self, tag: str) -> int:
        index = f"{self._get_prefix()}tag:{tag}"
        keys = self._write_client.smembers(index)
        return int(self._write_client.delete(*keys, index)) - 1 if keys else 0
