"""A lowered lifetime is applied to stored answers once, in several batches."""

import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from portal.gateway import sqlite_cache, store
from portal.gateway.envelope import Envelope, Seal, longest_s
from portal.gateway.operations import CachePolicy
from portal.gateway.sqlite_cache import SQLiteCache
from portal.gateway.store import Store
from portal.vehicle.operation_name import OperationName
from tests.gateway.gateways import SECRET, opened_cache, store_of, terms

HERE, THERE = "upstream:a:80", "upstream:b:80"
HOUR = 3600.0
BATCH = 3

Opened = Callable[[float], Store]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SQLiteCache:
    monkeypatch.setattr(sqlite_cache, "SWEEP_BATCH", BATCH)
    return opened_cache(tmp_path)


@pytest.fixture
def opened(cache: SQLiteCache) -> Opened:
    """Return a function that opens a store with a retention of ``seconds``."""

    def open_store(seconds: float) -> Store:
        return store_of(cache, HERE, terms(round(seconds), 0))

    return open_store


def put(
    cache: SQLiteCache,
    count: int,
    age_s: float,
    keep_s: float = HOUR,
    namespace: str = HERE,
) -> None:
    seal, now = Seal(SECRET), time.time()
    for number in range(count):
        key = f"{namespace[-4]}:{number}"
        envelope = Envelope(
            key, now - age_s, keep_s, "primary", 200, False, b"{}", namespace=namespace
        )
        cache.set(key, seal.sign(envelope), keep_s - age_s)


def sweep(swept: Store) -> None:
    """Sweep 20 times, because a single sweep stops at a time limit."""
    for _ in range(20):
        swept.sweep()


def keys(cache: SQLiteCache) -> list[str]:
    with cache._connection() as db:
        query = "SELECT key FROM entries WHERE key NOT LIKE 'lifetimes:%' ORDER BY key"
        return [key for (key,) in db.execute(query)]


@pytest.mark.parametrize("count", [0, 2, BATCH, BATCH + 1, 3 * BATCH])
def test_sweep_deletes_every_expired_entry(cache: SQLiteCache, count: int) -> None:
    for number in range(count):
        cache.set(f"t:{number}", b"", -1)
    cache.set("t:fresh", b"", HOUR)
    assert cache.sweep() == count
    assert keys(cache) == ["t:fresh"]


@pytest.mark.parametrize("count", [2, BATCH, 3 * BATCH])
def test_lowered_retention_deletes_older_answers(
    cache: SQLiteCache, opened: Opened, count: int
) -> None:
    put(cache, count, age_s=100)
    put(cache, 1, age_s=100, namespace=THERE)
    sweep(opened(50))
    assert keys(cache) == ["b:0"]


@pytest.mark.parametrize(("limit_s", "left"), [(HOUR, 0), (-1.0, 2 * BATCH)])
def test_sweep_reviews_a_batch_and_more_while_there_is_time(
    cache: SQLiteCache,
    opened: Opened,
    monkeypatch: pytest.MonkeyPatch,
    limit_s: float,
    left: int,
) -> None:
    monkeypatch.setattr(store, "REVIEW_S", limit_s)
    put(cache, 3 * BATCH, age_s=100)
    opened(50).sweep()
    cache.sweep()
    assert len(keys(cache)) == left


def test_review_begins_again_after_an_error(
    cache: SQLiteCache, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache, 2, age_s=100)
    swept = opened(50)
    with monkeypatch.context() as broken:
        broken.setattr(cache, "_review_some", lambda *_: 1 / 0)
        swept.sweep()
    assert keys(cache) == ["a:0", "a:1"]
    sweep(swept)
    assert keys(cache) == []


def test_answers_within_the_lowered_retention_stay(cache: SQLiteCache, opened: Opened) -> None:
    put(cache, 2, age_s=10)
    sweep(opened(50))
    assert keys(cache) == ["a:0", "a:1"]


def test_raised_retention_prolongs_no_answer(cache: SQLiteCache, opened: Opened) -> None:
    put(cache, 1, age_s=100, keep_s=50)
    sweep(opened(200))
    assert keys(cache) == []


def test_copy_in_memory_is_not_kept_longer(cache: SQLiteCache, opened: Opened) -> None:
    """The process read the answer before the sweep, and finds it missing afterwards."""
    put(cache, 1, age_s=100)
    reader = opened(50)
    assert reader.read("a:0") is not None
    sweep(reader)
    reader.read_current(["a:0"])
    assert keys(cache) == []


def test_retention_is_that_of_the_operation() -> None:
    lifetimes: dict[OperationName, CachePolicy] = {
        "decode": CachePolicy(10, 90, Decimal("0.30")),
        "renainf": CachePolicy(1000, 9000, Decimal("0.30")),
    }
    names = ("decode", "renainf", "")
    answers = (Envelope("a:0", 0.0, HOUR, status=200, empty=False, operation=n) for n in names)
    assert {each.operation: longest_s(lifetimes, each) for each in answers} == {
        "decode": 100,
        "renainf": 10_000,
        "": 10_000,  # stored by a former version, so the longest retention applies
    }


def test_applied_retention_is_recorded(cache: SQLiteCache, opened: Opened) -> None:
    """A later process with the same lifetimes does not scan again."""
    sweep(opened(50))
    put(cache, 2, age_s=100)
    sweep(opened(50))
    assert keys(cache) == ["a:0", "a:1"]
    sweep(opened(60))
    assert keys(cache) == []
