"""The local cache: size bound, confirmation by the backend, and eviction."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from portal.gateway.envelope import Envelope
from portal.gateway.local_cache import LocalCache
from portal.gateway.lookup import Spend
from tests.fakes import Clock
from tests.gateway.gateways import FRESH_S, STALE_S, Bench, bench, decode, pass_time


def no_purge(_: str, __: int) -> bool:
    return False


def envelope(key: str, size: int = 0, delete_at: float = 1e12) -> Envelope:
    return Envelope(key, 0.0, delete_at, "primary", 200, False, b"x" * size)


def test_least_recently_used_is_evicted_at_byte_limit() -> None:
    memory = LocalCache(10_000, no_purge, Clock(0.0))
    for number in range(20):
        memory.put(envelope(f"t:{number}", 1000))
        memory.get_stale("t:0")
    assert memory.size_bytes <= 10_000
    assert memory.get_stale("t:0")
    assert memory.get_stale("t:19")
    assert not memory.get_stale("t:5")


def test_requested_entry_is_evicted_last() -> None:
    memory = LocalCache(10_000, no_purge, Clock(0.0))
    for number in range(20):
        memory.put(envelope(f"t:{number}", 1000))
        memory.recent("t:0")
        memory.take_requested()
    assert memory.recent("t:0") is not None
    assert not memory.get_stale("t:5")


def test_entry_larger_than_capacity_is_not_cached() -> None:
    memory = LocalCache(10_000, no_purge)
    memory.put(envelope("t:k", 20_000))
    assert (memory.get_stale("t:k"), memory.size_bytes) == ({}, 0)


def test_entry_is_current_for_one_second() -> None:
    clock = Clock(0.0)
    memory = LocalCache(10_000, no_purge, clock)
    memory.put(envelope("t:k"))
    clock.advance(1.0)
    assert memory.recent("t:k") is not None
    clock.advance(0.1)
    assert memory.recent("t:k") is None
    assert memory.get_stale("t:k")


def test_requested_entry_is_confirmed_in_background(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(tmp_path, clock)
    one.decode()
    for _ in range(6):
        one.decode()
        pass_time(one, 0.5)
    monkeypatch.setattr(
        one.backend, "read_many", lambda _key: pytest.fail("a request read the backend")
    )
    assert one.decode().cache_status == "hit"


def read_after_last_write(one: Bench, plate: str = "ABC1D23") -> str:
    """Store a plate's answer, read it back after the write, and return its key."""
    one.decode(plate)
    pass_time(one, 2)
    one.decode(plate)
    return one.store.key(decode(plate), None)


def test_write_during_confirmation_is_detected(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    read_after_last_write(one)
    two.decode()
    signatures = one.backend.signatures

    def signatures_before_the_other_writes(keys: Sequence[str], size: int) -> dict[str, bytes]:
        found = signatures(keys, size)
        clock.advance(1)
        two.decode(directive=Spend.AGAIN)
        return found

    one.decode()
    with monkeypatch.context() as patched:
        patched.setattr(one.backend, "signatures", signatures_before_the_other_writes)
        one.store.tick()
    newer = two.decode()
    for _ in range(3):
        one.decode()
        pass_time(one, 0.5)
    assert one.decode().fetched_at == newer.fetched_at


def test_confirmation_counts_from_before_backend_call(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(tmp_path, clock)
    key = read_after_last_write(one)
    signatures = one.backend.signatures

    def slow_signatures(keys: Sequence[str], size: int) -> dict[str, bytes]:
        one.ticking.advance(0.7)
        return signatures(keys, size)

    monkeypatch.setattr(one.backend, "signatures", slow_signatures)
    one.store.tick()
    assert one.store.recent(key) is not None
    one.ticking.advance(0.4)
    assert one.store.recent(key) is None


def test_entry_read_before_detected_purge_is_not_cached(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    key = read_after_last_write(one)
    one.memory.evict(key)
    verify = one.store._seal.verify

    def verify_while_the_purge_is_detected(sealed: object, key: str) -> Envelope | None:
        two.purge("ABC1D23")
        one.store.tick()
        return verify(sealed, key)

    monkeypatch.setattr(one.store._seal, "verify", verify_while_the_purge_is_detected)
    assert one.store.read(key) is None
    assert not one.memory.get_stale(key)


def test_hidden_entry_is_not_cached() -> None:
    memory = LocalCache(10_000, lambda key, _: key == "t:purged")
    for key in ("t:purged", "t:kept"):
        memory.put(envelope(key))
    assert (memory.get_stale("t:purged"), memory.recent("t:purged")) == ({}, None)
    assert memory.get_stale("t:kept")


def test_entry_past_retention_is_evicted_by_tick(tmp_path: Path, clock: Clock) -> None:
    one = bench(tmp_path, clock)
    key = read_after_last_write(one)
    clock.advance(10 * (FRESH_S + STALE_S))
    pass_time(one, 0.5)
    assert not one.memory.get_stale(key)


def test_unrequested_entry_is_not_confirmed(tmp_path: Path, clock: Clock) -> None:
    one = bench(tmp_path, clock)
    one.decode()
    key = one.store.key(decode(), None)
    pass_time(one, 2)
    assert one.store.recent(key) is None


def test_entry_replaced_by_another_process_is_served_one_second(
    tmp_path: Path, clock: Clock
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    clock.advance(10)
    newer = two.decode(directive=Spend.AGAIN)
    for _ in range(2):
        one.decode()
        pass_time(one, 0.5)
    one.ticking.advance(0.1)
    assert one.decode().fetched_at == newer.fetched_at


def test_entry_purged_by_another_process_is_evicted_by_tick(tmp_path: Path, clock: Clock) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    two.purge("ABC1D23")
    one.decode()
    one.store.tick()
    assert one.memory.size_bytes == 0


def test_sweep_evicts_entries_past_retention() -> None:
    memory = LocalCache(10_000, no_purge)
    memory.put(envelope("t:old", delete_at=50))
    memory.put(envelope("t:new", delete_at=500))
    memory.sweep(now=60)
    assert not memory.get_stale("t:old")
    assert memory.get_stale("t:new")
