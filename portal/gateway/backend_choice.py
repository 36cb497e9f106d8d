"""Selects the data directory or Redis as the place of the cache and the leases."""

from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from flask import Flask
from flask_caching import Cache

from portal.gateway.single_flight import FileLeases, Leases

LEASES = "leases"  # a subdirectory of the data directory


def cache_backend(data_dir: Path, redis_url: str | None, purge_log: str = "") -> Any:
    """Return the cache backend, a SQLiteCache or SealedRedisCache.

    Several portals with their own databases may use one Redis. ``purge_log`` names
    the purge log whose purges this portal applies.
    """
    package = "portal.gateway"
    config = {"CACHE_TYPE": f"{package}.sqlite_cache.SQLiteCache", "CACHE_DIR": str(data_dir)}
    if redis_url:
        from portal.gateway.redis_cache import CLIENT_OPTIONS, PREFIX  # lazy: Redis is optional

        config = {
            "CACHE_TYPE": f"{package}.redis_cache.SealedRedisCache",
            "CACHE_REDIS_URL": redis_url,
            "CACHE_KEY_PREFIX": PREFIX,
            "CACHE_PURGE_LOG": purge_log,
            "CACHE_OPTIONS": cast(Any, dict(CLIENT_OPTIONS)),
        }
    # Flask-Caching opens a backend for an application, and finds it by the current application.
    app = Flask(__name__)
    cache = Cache(app, config=config)
    return app.extensions["cache"][cache]


def remove_lease_files(data_dir: Path) -> None:
    """Remove the lease files that killed processes have left behind.

    A file's name contains the keyed hash of a vehicle that was looked up. With the data key, the
    vehicle can be identified from the hash. Files that a running process has locked are kept,
    because a ``flask batch`` that runs while the server starts may hold leases.
    """
    with suppress(OSError):
        FileLeases(data_dir / LEASES).remove_released()


def leases(backend: Any, data_dir: Path, redis_url: str | None) -> Leases:
    """Return the leases that belong to ``backend``, a result of ``cache_backend``."""
    if redis_url:
        from portal.gateway.redis_lease import RedisLeases  # lazy: Redis is optional

        return RedisLeases(backend.client, backend.breaker)
    return FileLeases(data_dir / LEASES)
