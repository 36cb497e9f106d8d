"""What a process keeps at hand: bounded, believed while it is vouched for, forgotten in time."""

import errno

import pytest

from portal.gateway import Directive
from portal.gateway.envelope import Envelope
from portal.gateway.memory import LocalCache
from tests.fakes import Clock
from tests.gateway.gateways import FRESH_S, STALE_S, Bench, bench, decode, pass_time


def envelope(key: str, size: int = 0, delete_at: float = 1e12) -> Envelope:
    return Envelope(key, 0.0, delete_at, "primary", 200, False, b"x" * size)


def test_the_least_recently_used_leave_first_and_the_bound_is_in_bytes():
    memory = LocalCache(10_000, Clock(0.0))
    for number in range(20):
        memory.put(envelope(f"t:{number}", 1000), "era")
        memory.get_stale("t:0")
    assert memory.size_bytes <= 10_000
    assert memory.get_stale("t:0") is not None
    assert memory.get_stale("t:19") is not None
    assert memory.get_stale("t:5") is None


def test_what_is_asked_for_stays_longer():
    memory = LocalCache(10_000, Clock(0.0))
    for number in range(20):
        memory.put(envelope(f"t:{number}", 1000), "era")
        memory.recent("t:0")
        memory.take_unconfirmed(None)
    assert memory.recent("t:0") is not None
    assert memory.get_stale("t:5") is None


def test_an_entry_larger_than_all_of_it_is_not_kept():
    memory = LocalCache(10_000)
    memory.put(envelope("t:k", 20_000), "era")
    assert (memory.get_stale("t:k"), memory.size_bytes) == (None, 0)


def test_it_is_believed_for_a_second():
    clock = Clock(0.0)
    memory = LocalCache(10_000, clock)
    memory.put(envelope("t:k"), "era")
    clock.advance(1.0)
    assert memory.recent("t:k") is not None
    clock.advance(0.1)
    assert memory.recent("t:k") is None
    assert memory.get_stale("t:k") is not None


def test_what_is_asked_for_is_confirmed_beside_the_requests(tmp_path, clock, monkeypatch):
    one = bench(tmp_path, clock)
    one.decode()
    for _ in range(6):
        one.decode()
        pass_time(one, 0.5)
    monkeypatch.setattr(one.backend, "read", lambda _key: pytest.fail("a request read the store"))
    assert one.decode().cache_status == "hit"


def read_once_settled(one: Bench, plate: str = "ABC1D23") -> str:
    """A plate's key, its answer read from a store that has been seen since it was written to."""
    one.decode(plate)
    pass_time(one, 2)
    one.decode(plate)
    return one.gateway.key(decode(plate), None)


def test_as_long_as_nobody_writes_all_that_is_held_is_confirmed(tmp_path, clock, monkeypatch):
    one = bench(tmp_path, clock)
    keys = [read_once_settled(one, plate) for plate in ("DEF4G56", "ABC1D23")]
    one.decode("DEF4G56")
    monkeypatch.setattr(one.backend, "read", lambda _key: pytest.fail("a request read the store"))
    pass_time(one, 30)
    assert all(one.store.recent(key) is not None for key in keys)
    for key in keys:
        one.store.recent(key)
    assert one.memory.take_unconfirmed(one.memory.version) == []  # no head is read to confirm them
    one.ticking.advance(1.1)
    assert one.store.recent(keys[0]) is None  # nobody has looked for longer than a second


def test_once_somebody_writes_only_what_is_asked_for_is_confirmed(tmp_path, clock):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    asked, unasked = (read_once_settled(one, plate) for plate in ("DEF4G56", "ABC1D23"))
    one.decode("DEF4G56")
    pass_time(one, 2)
    two.decode("XYZ9Z99")
    assert one.store.recent(asked) is not None
    pass_time(one, 1)
    assert one.store.recent(asked) is not None
    assert one.store.recent(unasked) is None


def test_what_is_written_while_somebody_reads_is_seen(tmp_path, clock, monkeypatch):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    key = read_once_settled(one)
    pass_time(one, 1)
    two.decode()
    one.memory.evict(key)
    read = one.backend.read

    def read_before_the_other_writes(key: str) -> tuple[bytes | None, str]:
        found = read(key)
        clock.advance(1)
        two.decode(directive=Directive.REFRESH)
        one.store.tick()
        return found

    with monkeypatch.context() as patched:
        patched.setattr(one.backend, "read", read_before_the_other_writes)
        older = one.decode()
    newer = two.decode()
    assert older.fetched_at < newer.fetched_at
    pass_time(one, 2)
    assert one.decode().fetched_at == newer.fetched_at


def test_what_is_written_while_the_store_is_asked_is_seen(tmp_path, clock, monkeypatch):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    read_once_settled(one)
    two.decode()
    two.decode("DEF4G56")  # the version of before vouches no more: heads are asked for
    heads = one.backend.signatures

    def heads_before_the_other_writes(keys, size):
        found = heads(keys, size)
        clock.advance(1)
        two.decode(directive=Directive.REFRESH)
        return found

    one.decode()
    with monkeypatch.context() as patched:
        patched.setattr(one.backend, "signatures", heads_before_the_other_writes)
        one.store.tick()
    newer = two.decode()
    for _ in range(3):
        one.decode()
        pass_time(one, 0.5)
    assert one.decode().fetched_at == newer.fetched_at


def test_belief_counts_from_before_the_store_was_asked(tmp_path, clock, monkeypatch):
    one = bench(tmp_path, clock)
    key = read_once_settled(one)
    version = one.backend.version

    def slow_version():
        one.ticking.advance(0.7)
        return version()

    monkeypatch.setattr(one.backend, "version", slow_version)
    one.ticking.advance(5)
    one.store.tick()
    assert one.store.recent(key) is not None
    one.ticking.advance(0.4)
    assert one.store.recent(key) is None


def test_what_was_confirmed_by_its_seal_needs_no_seal_again_until_somebody_writes(tmp_path, clock):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    key = read_once_settled(one)
    pass_time(one, 0.5)
    two.decode("DEF4G56")
    for expected in ([key], []):
        assert one.store.recent(key) is not None
        assert one.memory.take_unconfirmed(one.backend.version()) == expected
        one.store.recent(key)
        pass_time(one, 0.5)


def test_a_purge_is_seen_where_the_version_cannot_be_asked_for(tmp_path, clock, monkeypatch):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    read_once_settled(one)
    two.store.purge("ABC1D23")
    monkeypatch.setattr(one.backend, "version", _no_descriptors)
    one.store.tick()
    assert one.memory.size_bytes == 0


def _no_descriptors() -> None:
    raise OSError(errno.EMFILE, "Too many open files")


def test_what_was_read_before_a_purge_that_is_noticed_meanwhile_is_not_kept(
    tmp_path, clock, monkeypatch
):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    key = read_once_settled(one)
    one.memory.evict(key)
    opened = one.store._seal.open

    def open_while_the_purge_is_noticed(sealed: object, key: str) -> Envelope | None:
        two.store.purge("ABC1D23")
        one.store.tick()
        return opened(sealed, key)

    monkeypatch.setattr(one.store._seal, "verify", open_while_the_purge_is_noticed)
    assert one.store.read(key) is not None  # it was there when it was asked for
    assert one.memory.get_stale(key) is None


def test_what_is_past_its_retention_is_vouched_for_no_more(tmp_path, clock):
    one = bench(tmp_path, clock)
    key = read_once_settled(one)
    clock.advance(10 * (FRESH_S + STALE_S))
    pass_time(one, 0.5)
    assert one.memory.get_stale(key) is None


def test_what_nobody_asks_for_is_confirmed_no_more(tmp_path, clock):
    one = bench(tmp_path, clock)
    one.decode()
    key = one.gateway.key(decode(), None)
    pass_time(one, 2)
    assert one.store.recent(key) is None


def test_what_another_process_replaced_is_believed_no_longer_than_its_second(tmp_path, clock):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    clock.advance(10)
    newer = two.decode(directive=Directive.REFRESH)
    for _ in range(2):
        one.decode()
        pass_time(one, 0.5)
    one.ticking.advance(0.1)
    assert one.decode().fetched_at == newer.fetched_at


def test_what_another_process_purged_is_gone_with_the_next_tick(tmp_path, clock):
    one, two = bench(tmp_path, clock), bench(tmp_path, clock)
    one.decode()
    two.store.purge("ABC1D23")
    one.decode()
    one.store.tick()
    assert one.memory.size_bytes == 0


def test_what_is_past_its_retention_leaves_the_process_too():
    memory = LocalCache(10_000)
    memory.put(envelope("t:old", delete_at=50), "era")
    memory.put(envelope("t:new", delete_at=500), "era")
    memory.sweep(now=60)
    assert memory.get_stale("t:old") is None
    assert memory.get_stale("t:new") is not None
