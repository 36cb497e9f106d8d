"""Which backend, leases and journals a portal has."""

from pathlib import Path

import pytest

from portal.gateway.backend_choice import cache_backend, ends_journals, leases


@pytest.mark.parametrize(
    ("redis_url", "kinds"),
    [
        (None, ["SQLiteCache", "FileLeases", "EndsFile"]),
        ("", ["SQLiteCache", "FileLeases", "EndsFile"]),
        # A client connects with its first command.
        ("redis://127.0.0.1:1/0", ["SealedRedisCache", "RedisLeases", "EndsFile", "RedisEnds"]),
    ],
)
def test_redis_is_used_if_its_address_is_set(
    tmp_path: Path, redis_url: str | None, kinds: list[str]
) -> None:
    backend = cache_backend(tmp_path, redis_url)
    journals = ends_journals(backend, tmp_path, "database")
    found = [backend, leases(backend, tmp_path), *journals]
    backend.close()
    assert [type(part).__name__ for part in found] == kinds
