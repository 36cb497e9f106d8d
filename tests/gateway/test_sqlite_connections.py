"""SQLite backend: the connection pool is bounded and leaks no open file."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy.pool import QueuePool

from portal.gateway import sqlite_cache
from portal.gateway.sqlite_cache import SQLiteCache
from tests.gateway.gateways import opened_cache

OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture
def cache(tmp_path: Path) -> SQLiteCache:
    return opened_cache(tmp_path)


def test_idle_connections_are_bounded(cache: SQLiteCache) -> None:
    together = threading.Barrier(40)

    def read() -> None:
        with cache._connection() as db:
            together.wait(10)
            db.execute("SELECT 1")

    threads = [threading.Thread(target=read) for _ in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert isinstance(cache._pool, QueuePool)
    assert cache._pool.checkedin() == sqlite_cache.MAX_IDLE


def open_files(folder: Path) -> list[str]:
    if not OPEN_FILES.exists():
        pytest.skip("/proc/self/fd is not available")
    targets = [str(link.readlink()) for link in OPEN_FILES.iterdir() if link.is_symlink()]
    return [target for target in targets if target.startswith(str(folder))]


def test_closed_cache_keeps_no_file_open(cache: SQLiteCache, tmp_path: Path) -> None:
    cache.set("t:k", b"x", 60)
    assert open_files(tmp_path)
    cache.close()
    assert cache.get("t:k") == b"x"
    assert open_files(tmp_path) == []


def test_failed_open_leaves_no_file_open(cache: SQLiteCache, tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").mkdir()
    for _ in range(3):
        with pytest.raises((sqlite3.Error, OSError)):
            cache.get("t:k")
    assert open_files(tmp_path) == []


def test_quarantined_file_is_not_left_open(cache: SQLiteCache, tmp_path: Path) -> None:
    (tmp_path / "cache.sqlite").write_bytes(b"no database at all" * 100)
    assert cache.get("t:k") is None
    assert not [name for name in open_files(tmp_path) if "broken" in name]


def test_file_stays_in_place_after_an_error_that_is_no_corruption(
    cache: SQLiteCache, tmp_path: Path
) -> None:
    cache.set("tag:name", b"x", 60)
    with pytest.raises(sqlite3.OperationalError), cache._connection() as db:
        db.execute("SELECT 1 FROM")
    assert cache.get("tag:name") == b"x"
    assert list(tmp_path.glob("*.broken-*")) == []


def test_quarantined_file_and_its_log_are_deleted(cache: SQLiteCache, tmp_path: Path) -> None:
    """The log has bytes of purged vehicles too, and is not named beside its file."""
    cache.set("tag:name", b"x", 60)
    name = "cache.sqlite.broken-20261129T120301.381009Z"
    for suffix in ("", "-wal", "-shm"):
        (tmp_path / f"{name}{suffix}").write_bytes(b"corrupt")
    assert cache.remove_broken(min_age_s=60.0) == []
    assert cache.erase_deleted() == [name]
    assert list(tmp_path.glob("*.broken-*")) == []


@pytest.mark.slow
def test_another_process_never_ends_the_log_of_connections_that_are_open(
    cache: SQLiteCache, tmp_path: Path
) -> None:
    """A new connection must not take the locks of the open ones (POSIX locks are a process's)."""
    cache.set("tag:a", b"one", 60)
    is_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with cache._connection() as db:
            db.execute("SELECT count(*) FROM entries").fetchone()
            is_held.set()
            may_end.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    is_held.wait(30)
    cache.set("tag:b", b"two", 60)  # on a connection that is opened now
    (log,) = tmp_path.glob("*-wal")
    before = log.stat().st_ino
    code = f"import sqlite3; db = sqlite3.connect({str(log)[:-4]!r})"
    code += "; db.execute('SELECT count(*) FROM entries').fetchone(); db.close()"
    subprocess.run([sys.executable, "-c", code], check=True)
    is_whole = log.exists() and log.stat().st_ino == before
    may_end.set()
    holder.join()
    assert is_whole
