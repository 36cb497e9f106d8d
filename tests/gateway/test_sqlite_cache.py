"""SQLite backend: sharing, restart, read cost, fences, purges and sweeps."""

import multiprocessing
import sqlite3
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from portal.gateway import sqlite_cache
from portal.gateway.backend import BytesRemain, Found
from portal.gateway.envelope import Envelope, Seal
from portal.gateway.sqlite_cache import SQLiteCache
from portal.storage.purge_log import purge_bucket
from tests.gateway.gateways import opened_cache
from tests.gateway.reviews import kept_after_review

SECRET = b"REGISTRO-SECRETO-DO-VEICULO"


@pytest.fixture
def cache(tmp_path: Path) -> SQLiteCache:
    return opened_cache(tmp_path)


def files_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_entry_is_read_by_another_process(cache: SQLiteCache, tmp_path: Path) -> None:
    """A restarted process reads the file in the same way."""
    cache.set("tag:a", b"one", 60)
    assert opened_cache(tmp_path).get("tag:a") == b"one"
    assert cache.get("tag:b") is None


def test_signatures_of_many_keys_are_read_together(cache: SQLiteCache) -> None:
    for number in range(7):
        cache.set(f"t:{number}", b"head%d and body" % number, 60)
    cache.set("t:gone", b"head", -1)
    signatures = cache.signatures(["t:0", "t:3", "t:6", "t:9", "t:gone"], 5)
    assert signatures == {"t:0": b"head0", "t:3": b"head3", "t:6": b"head6"}
    assert cache.signatures([], 5) == {}


def test_expired_entry_is_absent_and_swept(cache: SQLiteCache, tmp_path: Path) -> None:
    cache.set("tag:a", SECRET, 0.01)
    cache.set("tag:b", b"stays", 60)
    time.sleep(0.02)
    assert cache.get("tag:a") is None
    assert cache.sweep() == 1
    assert SECRET not in files_of(tmp_path)
    assert cache.get("tag:b") == b"stays"


def test_purge_leaves_no_byte_in_any_file(cache: SQLiteCache, tmp_path: Path) -> None:
    for number in range(50):
        cache.set(f"plate:{number}", SECRET * 100, 60)
        cache.set(f"other:{number}", b"kept", 60)
    assert SECRET in files_of(tmp_path)
    assert cache.delete_tagged(["plate"]) == 50
    cache.erase_deleted()
    assert SECRET not in files_of(tmp_path)
    assert b"plate:" not in files_of(tmp_path)
    assert cache.get("other:7") == b"kept"


def test_purge_leaves_no_byte_with_concurrent_readers(cache: SQLiteCache, tmp_path: Path) -> None:
    cache.set("plate:1", SECRET, 60)
    ended = threading.Event()

    def read_on() -> None:
        while not ended.is_set():
            cache.get("plate:1")

    readers = [threading.Thread(target=read_on) for _ in range(4)]
    for reader in readers:
        reader.start()
    try:
        assert cache.delete_tagged(["plate"]) == 1
        cache.erase_deleted()
    finally:
        ended.set()
        for reader in readers:
            reader.join()
    assert SECRET not in files_of(tmp_path)


def test_purge_distinguishes_tags_with_common_prefix(cache: SQLiteCache) -> None:
    for key in ("ab:1", "abc:1", "a:1", "ab;:1"):
        cache.set(key, b"x", 60)
    assert cache.delete_tagged(["ab"]) == 1
    assert [cache.get(key) for key in ("ab:1", "abc:1", "a:1")] == [None, b"x", b"x"]


def test_older_fence_does_not_replace_newer(cache: SQLiteCache) -> None:
    assert cache.replace("t:k", b"second", 60, fence=200) == "stored"
    assert cache.replace("t:k", b"first", 60, fence=100) == "outdated"
    assert cache.get("t:k") == b"second"
    assert cache.replace("t:k", b"third", 60, fence=300) == "stored"
    assert cache.get("t:k") == b"third"


def test_fence_far_in_the_future_does_not_block_writes(cache: SQLiteCache) -> None:
    an_hour_ahead = int((time.time() + 3600) * 1e6)
    cache.replace("t:k", b"old", 60, fence=an_hour_ahead)
    assert cache.replace("t:k", b"new", 60, fence=int(time.time() * 1e6)) == "stored"


def test_expired_entry_can_be_replaced_by_any_fence(cache: SQLiteCache) -> None:
    cache.replace("t:k", b"old", -1, fence=300)
    assert cache.replace("t:k", b"new", 60, fence=1) == "stored"


def test_file_is_readable_by_owner_only(cache: SQLiteCache, tmp_path: Path) -> None:
    cache.set("t:k", b"x", 60)
    assert (tmp_path / "cache.sqlite").stat().st_mode & 0o077 == 0


def test_statements_use_an_index(cache: SQLiteCache, tmp_path: Path) -> None:
    """The cost of a read does not grow with the number of entries."""
    cache.set("t:k", b"x", 60)
    with sqlite3.connect(tmp_path / "cache.sqlite") as db:
        plans = [
            db.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
            for statement in (
                "SELECT value FROM entries WHERE id = 1 AND key = 'a' AND expires_at > 0",
                "DELETE FROM entries WHERE id BETWEEN 1 AND 2 AND substr(key, 1, 2) = 'a:'",
                "SELECT id FROM entries WHERE expires_at <= 0 LIMIT 500",
                "SELECT key FROM entries WHERE id IN (SELECT value FROM json_each('[1]'))",
            )
        ]
    db.close()
    steps = [step[3] for plan in plans for step in plan if "entries" in step[3]]
    assert len(steps) == 4
    assert all(step.startswith("SEARCH") for step in steps), plans


def test_new_store_can_be_opened_concurrently(tmp_path: Path) -> None:
    for turn in range(5):
        stores = [opened_cache(tmp_path / str(turn)) for _ in range(8)]
        with ThreadPoolExecutor(8) as pool:
            begun = [pool.submit(store.read_many, ["t:k"]) for store in stores]
            assert [each.result().values for each in begun] == [[None]] * 8


def test_keys_with_equal_row_number_are_not_mixed_up(
    cache: SQLiteCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_cache, "entry_id", lambda _key: 7)
    cache.replace("t:one", b"one", 60, fence=200)
    assert cache.get("t:two") is None
    assert cache.replace("t:two", b"two", 60, fence=100) == "stored"
    assert (cache.get("t:one"), cache.get("t:two")) == (None, b"two")


def test_sweep_checkpoints_the_wal(cache: SQLiteCache, tmp_path: Path) -> None:
    cache.sweep()
    for number in range(2_000):
        cache.set(f"t:{number}", b"x" * 4_000, 60)
    before = (tmp_path / "cache.sqlite").stat().st_size
    cache.sweep()
    assert (tmp_path / "cache.sqlite").stat().st_size > before + 4_000_000


@pytest.fixture
def backup(cache: SQLiteCache, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A reader that keeps a snapshot of the store open, as a backup does."""
    cache.set("t:k", SECRET, 60)
    reader = sqlite3.connect(tmp_path / "cache.sqlite", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM entries").fetchone()
    yield reader
    reader.close()


def test_purge_blocked_by_reader_raises_bytes_remain(
    cache: SQLiteCache, backup: sqlite3.Connection
) -> None:
    assert cache.delete_tagged(["t"]) == 1
    with pytest.raises(BytesRemain):
        cache.erase_deleted()
    assert cache.get("t:k") is None
    backup.execute("ROLLBACK")
    cache.erase_deleted()


def test_purge_is_recorded_unless_an_earlier_one_was_missed(cache: SQLiteCache) -> None:
    """After a gap, the store repeats all purges from the first unrecorded one."""
    assert cache.read_many(["t:k"]).purged_to == 0
    for before, number, recorded in ((0, 1, 1), (1, 3, 3), (4, 5, 3), (3, 4, 4)):
        cache.end_purges(before, number)
        assert cache.read_many(["t:k"]).purged_to == recorded


def test_later_sweep_truncates_wal_kept_by_reader(
    cache: SQLiteCache, tmp_path: Path, backup: sqlite3.Connection
) -> None:
    cache.replace("t:k", SECRET, -1)
    assert cache.sweep() == 1
    assert SECRET in files_of(tmp_path)
    backup.execute("ROLLBACK")
    assert cache.sweep() == 0
    assert SECRET not in files_of(tmp_path)


def test_sweep_blocked_by_reader_does_not_block_writers(
    cache: SQLiteCache, tmp_path: Path, backup: sqlite3.Connection
) -> None:
    other = opened_cache(tmp_path)
    cache.set("t:old", b"old", -1)
    ended = threading.Event()

    def sweep_on() -> None:
        while not ended.is_set():
            cache.sweep()

    sweeper = threading.Thread(target=sweep_on)
    sweeper.start()
    started = time.monotonic()
    try:
        for number in range(20):
            assert other.set(f"t:{number}", b"new", 60)
    finally:
        ended.set()
        sweeper.join()
    assert time.monotonic() - started < sqlite_cache.SET_UP_WAIT_S


def _write_many(path: Path, name: str) -> None:
    cache = SQLiteCache(path)
    for number in range(100):
        cache.set(f"{name}:{number}", b"x" * 1000, 60)
        cache.get(f"{name}:{number}")


def test_concurrent_writers_do_not_meet_locked_store(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_many, args=(path, f"w{n}")) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert opened_cache(path.parent).get("w2:99") == b"x" * 1000


def test_size_counts_entries_and_bytes(cache: SQLiteCache) -> None:
    empty = cache.size()
    for number in range(3):
        cache.set(f"t:{number}", b"x" * 50_000, 60)
    assert (empty.entries, cache.size().entries) == (0, 3)
    assert cache.size().bytes - empty.bytes >= 2.5 * 50_000  # not 3, as a new file has free pages


def test_begun_purge_rejects_answers_of_lookups_under_way(cache: SQLiteCache) -> None:
    purged, kept = f"{'a' * 24}:name", f"{'b' * 24}:name"
    cache.begin_purges({purge_bucket(purged): 7})
    cache.begin_purges({purge_bucket(purged): 5})
    assert cache.replace(purged, SECRET, 60, purge_no=6) == "purged"
    assert cache.replace(purged, SECRET, 60, purge_no=7) == "stored"
    assert cache.replace(kept, SECRET, 60, purge_no=6) == "stored"


def test_review_changes_the_ends_of_chosen_entries(
    cache: SQLiteCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_cache, "SWEEP_BATCH", 3)
    assert kept_after_review(cache) == [True] * 2 + [False] * 3 + [True] * 5
    assert cache.sweep() == 3


# A file of a former version


def test_file_of_a_former_version_is_taken_over(tmp_path: Path) -> None:
    """Its entries are valid up to the last purge that was applied to the file."""
    with sqlite3.connect(tmp_path / "cache.sqlite") as db:
        db.executescript(FORMER)
    db.close()
    cache = opened_cache(tmp_path)
    assert cache.read_many(["t:k"]) == Found([None], 57)
    cache.end_purges(57, 58)
    assert cache.read_many(["t:k"]).purged_to == 58


FORMER = """
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, expires_at REAL NOT NULL, fence INTEGER NOT NULL,
    value BLOB NOT NULL
);
CREATE INDEX entries_by_expiry ON entries (expires_at);
CREATE TABLE generation (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL);
CREATE TABLE contents (
    one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL, retention TEXT NOT NULL
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE purges (bucket INTEGER PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE purged_to (log TEXT PRIMARY KEY, number INTEGER NOT NULL);
INSERT INTO purges VALUES (7, 3);
INSERT INTO purged_to VALUES ('of a former key', 50), ('0123456789abcdef', 57);
"""


def test_signing_key_is_that_of_the_stored_answers(cache: SQLiteCache) -> None:
    assert cache.signing_key() is None
    cache.set("lifetimes:upstream", b"no answer", 60)
    assert cache.signing_key() is None
    seal = Seal(b"secret")
    key = f"{0:024x}:{1:040x}"
    cache.set(key, seal.sign(Envelope(key, 1.5, 60.0)), 60)
    assert cache.signing_key() == seal.key_id
