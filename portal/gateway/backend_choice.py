"""Selects the data directory or Redis as the place of the cache, the leases and the ends."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from portal.gateway.single_flight import FileLeases, Leases
from portal.gateway.sqlite_cache import SQLiteCache
from portal.storage.ends import Journal
from portal.storage.ends_file import NAME as ENDS
from portal.storage.ends_file import EndsFile

if TYPE_CHECKING:  # Redis is optional
    from portal.gateway.redis_cache import SealedRedisCache

LEASES = "leases"  # a subdirectory of the data directory


def cache_backend(
    data_dir: Path, redis_url: str | None, purge_log: str = ""
) -> "SQLiteCache | SealedRedisCache":
    """Return the cache backend, a SQLiteCache or SealedRedisCache.

    Several portals with their own databases may use one Redis. ``purge_log`` names
    the purge log whose purges this portal applies.
    """
    if redis_url:
        from portal.gateway.redis_cache import SealedRedisCache  # lazy: Redis is optional

        return SealedRedisCache(redis_url, purge_log)
    return SQLiteCache(data_dir / "cache.sqlite")


def remove_lease_files(data_dir: Path) -> None:
    """Remove the lease files that killed processes have left behind.

    A file's name contains the keyed hash of a vehicle that was looked up. With the data key, the
    vehicle can be identified from the hash. Files that a running process has locked are kept,
    because a ``flask batch`` that runs while the server starts may hold leases.
    """
    with suppress(OSError):
        FileLeases(data_dir / LEASES).remove_released()


def leases(backend: "SQLiteCache | SealedRedisCache", data_dir: Path) -> Leases:
    """Return the leases that belong to ``backend``, a result of ``cache_backend``."""
    if isinstance(backend, SQLiteCache):
        return FileLeases(data_dir / LEASES)
    from portal.gateway.redis_lease import RedisLeases  # lazy: Redis is optional

    return RedisLeases(backend.client, backend.breaker)


def ends_journals(
    backend: "SQLiteCache | SealedRedisCache", data_dir: Path, database: str
) -> Sequence[Journal]:
    """Return the journals of the ends of the database with the id ``database``.

    The data directory has one. A container may lose its data directory, so Redis has one too.
    """
    file = EndsFile(data_dir / ENDS, database)
    if isinstance(backend, SQLiteCache):
        return [file]
    from portal.gateway.redis_ends import RedisEnds  # lazy: Redis is optional

    return [file, RedisEnds(backend, database)]
