"""Chooses where answers are cached and leases held: in the data directory, or in Redis."""

from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from flask import Flask
from flask_caching import Cache

from portal.gateway.lease import FileLeases, Leases

LEASES = "leases"  # in the data directory


def cache_backend(app: Flask, data_dir: Path, redis_url: str | None) -> Any:
    """The Flask-Caching backend of ``app``: an SQLiteCache, or a SealedRedisCache."""
    room = "portal.gateway"
    config = {"CACHE_TYPE": f"{room}.sqlite_cache.SQLiteCache", "CACHE_DIR": str(data_dir)}
    if redis_url:
        from portal.gateway.redis_cache import CLIENT_OPTIONS, PREFIX  # late: most have none

        config = {
            "CACHE_TYPE": f"{room}.redis_cache.SealedRedisCache",
            "CACHE_REDIS_URL": redis_url,
            "CACHE_KEY_PREFIX": PREFIX,
            "CACHE_OPTIONS": cast(Any, dict(CLIENT_OPTIONS)),
        }
    cache = Cache(app, config=config)
    # Not cache.cache: that asks for the current application, which need not be this one.
    return app.extensions["cache"][cache]


def remove_lease_files(data_dir: Path) -> None:
    """Remove what killed processes left: a file's name holds the tag of its vehicle. For a start
    that found no other server on the directory."""
    for file in (data_dir / LEASES).glob("*"):
        with suppress(OSError):
            file.unlink()


def leases(backend: Any, data_dir: Path, redis_url: str | None) -> Leases:
    """``backend`` is that of ``cache_backend``: leases in Redis share its client."""
    if redis_url:
        from portal.gateway.redis_lease import RedisLeases  # late: most portals have none

        return RedisLeases(backend.client, backend.fuse)
    return FileLeases(data_dir / LEASES)
