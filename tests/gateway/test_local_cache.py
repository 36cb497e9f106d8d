"""The local cache: size bound, confirmation by the backend, and eviction."""

import errno
from collections.abc import Sequence
from pathlib import Path

import pytest

from portal.gateway.backend import Held
from portal.gateway.envelope import Envelope
from portal.gateway.local_cache import LocalCache, Version
from portal.gateway.lookup import Directive
from tests.fakes import Clock
from tests.gateway.gateways import FRESH_S, STALE_S, Bench, bench, decode, pass_time


def envelope(key: str, size: int = 0, delete_at: float = 1e12) -> Envelope:
    return Envelope(key, 0.0, delete_at, "primary", 200, False, b"x" * size)


def test_least_recently_used_is_evicted_at_byte_limit() -> None:
    memory = LocalCache(10_000, Clock(0.0))
    for number in range(20):
        memory.put(envelope(f"t:{number}", 1000), "generation")
        memory.get_stale("t:0")
    assert memory.size_bytes <= 10_000
    assert memory.get_stale("t:0") is not None
    assert memory.get_stale("t:19") is not None
    assert memory.get_stale("t:5") is None


def test_requested_entry_is_evicted_last() -> None:
    memory = LocalCache(10_000, Clock(0.0))
    for number in range(20):
        memory.put(envelope(f"t:{number}", 1000), "generation")
        memory.recent("t:0")
        memory.take_unconfirmed(None)
    assert memory.recent("t:0") is not None
    assert memory.get_stale("t:5") is None


def test_entry_larger_than_capacity_is_not_cached() -> None:
    memory = LocalCache(10_000)
    memory.put(envelope("t:k", 20_000), "generation")
    assert (memory.get_stale("t:k"), memory.size_bytes) == (None, 0)


def test_entry_is_current_for_one_second() -> None:
    clock = Clock(0.0)
    memory = LocalCache(10_000, clock)
    memory.put(envelope("t:k"), "generation")
    clock.advance(1.0)
    assert memory.recent("t:k") is not None
    clock.advance(0.1)
    assert memory.recent("t:k") is None
    assert memory.get_stale("t:k") is not None


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
    return one.gateway.key(decode(plate), None)


def test_unchanged_version_confirms_all_entries(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(tmp_path, clock)
    keys = [read_after_last_write(one, plate) for plate in ("DEF4G56", "ABC1D23")]
    one.decode("DEF4G56")
    monkeypatch.setattr(
        one.backend, "read_many", lambda _key: pytest.fail("a request read the backend")
    )
    pass_time(one, 30)
    assert all(one.store.recent(key) is not None for key in keys)
    for key in keys:
        one.store.recent(key)
    assert one.memory.take_unconfirmed(one.memory.version) == []  # all are confirmed
    one.ticking.advance(1.1)
    assert one.store.recent(keys[0]) is None  # its last confirmation is older than a second


def test_changed_version_confirms_only_requested_entries(tmp_path: Path, clock: Clock) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    asked, unasked = (read_after_last_write(one, plate) for plate in ("DEF4G56", "ABC1D23"))
    one.decode("DEF4G56")
    pass_time(one, 2)
    two.decode("XYZ9Z99")
    assert one.store.recent(asked) is not None
    pass_time(one, 1)
    assert one.store.recent(asked) is not None
    assert one.store.recent(unasked) is None


def test_write_during_read_is_detected(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    key = read_after_last_write(one)
    pass_time(one, 1)
    two.decode()
    one.memory.evict(key)
    read = one.backend.read_many

    def read_before_the_other_writes(keys: Sequence[str]) -> Held:
        found = read(keys)
        clock.advance(1)
        two.decode(directive=Directive.REFRESH)
        one.store.tick()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(one.backend, "read_many", read_before_the_other_writes)
        older = one.decode()
    newer = two.decode()
    assert older.fetched_at < newer.fetched_at
    pass_time(one, 2)
    assert one.decode().fetched_at == newer.fetched_at


def test_write_during_confirmation_is_detected(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    read_after_last_write(one)
    two.decode()
    two.decode("DEF4G56")  # a new version, so ``one`` reads signatures
    signatures = one.backend.signatures

    def signatures_before_the_other_writes(
        keys: Sequence[str], size: int
    ) -> tuple[dict[str, bytes], str]:
        found = signatures(keys, size)
        clock.advance(1)
        two.decode(directive=Directive.REFRESH)
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
    version = one.backend.version

    def slow_version() -> Version | None:
        one.ticking.advance(0.7)
        return version()

    monkeypatch.setattr(one.backend, "version", slow_version)
    one.ticking.advance(5)
    one.store.tick()
    assert one.store.recent(key) is not None
    one.ticking.advance(0.4)
    assert one.store.recent(key) is None


def test_confirmed_signature_is_not_read_again_until_a_write(tmp_path: Path, clock: Clock) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    key = read_after_last_write(one)
    pass_time(one, 0.5)
    two.decode("DEF4G56")
    for expected in ([key], []):
        assert one.store.recent(key) is not None
        assert one.memory.take_unconfirmed(one.backend.version()) == expected
        one.store.recent(key)
        pass_time(one, 0.5)


def test_purge_is_detected_without_version(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    read_after_last_write(one)
    two.store.purge("ABC1D23")
    monkeypatch.setattr(one.backend, "version", _no_descriptors)
    one.store.tick()
    assert one.memory.size_bytes == 0


def _no_descriptors() -> None:
    raise OSError(errno.EMFILE, "Too many open files")


def test_entry_read_before_detected_purge_is_not_cached(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    key = read_after_last_write(one)
    one.memory.evict(key)
    verify = one.store._seal.verify

    def verify_while_the_purge_is_detected(sealed: object, key: str) -> Envelope | None:
        two.store.purge("ABC1D23")
        one.store.tick()
        return verify(sealed, key)

    monkeypatch.setattr(one.store._seal, "verify", verify_while_the_purge_is_detected)
    assert one.store.read(key) is not None  # the entry was read before the purge
    assert one.memory.get_stale(key) is None


def test_entry_past_retention_is_evicted_by_tick(tmp_path: Path, clock: Clock) -> None:
    one = bench(tmp_path, clock)
    key = read_after_last_write(one)
    clock.advance(10 * (FRESH_S + STALE_S))
    pass_time(one, 0.5)
    assert one.memory.get_stale(key) is None


def test_unrequested_entry_is_not_confirmed(tmp_path: Path, clock: Clock) -> None:
    one = bench(tmp_path, clock)
    one.decode()
    key = one.gateway.key(decode(), None)
    pass_time(one, 2)
    assert one.store.recent(key) is None


def test_entry_replaced_by_another_process_is_served_one_second(
    tmp_path: Path, clock: Clock
) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    clock.advance(10)
    newer = two.decode(directive=Directive.REFRESH)
    for _ in range(2):
        one.decode()
        pass_time(one, 0.5)
    one.ticking.advance(0.1)
    assert one.decode().fetched_at == newer.fetched_at


def test_entry_purged_by_another_process_is_evicted_by_tick(tmp_path: Path, clock: Clock) -> None:
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    two.store.purge("ABC1D23")
    one.decode()
    one.store.tick()
    assert one.memory.size_bytes == 0


def test_sweep_evicts_entries_past_retention() -> None:
    memory = LocalCache(10_000)
    memory.put(envelope("t:old", delete_at=50), "generation")
    memory.put(envelope("t:new", delete_at=500), "generation")
    memory.sweep(now=60)
    assert memory.get_stale("t:old") is None
    assert memory.get_stale("t:new") is not None
