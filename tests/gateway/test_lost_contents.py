"""A backend that is down, comes back empty, or comes back with old contents."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from portal.gateway.backend import EndOf, Found, Outcome
from portal.gateway.lookup import Spend
from portal.storage.purge_log import purge_bucket
from portal.system.dependency_breaker import BreakerOpen
from tests.fakes import Clock
from tests.gateway.gateways import Bench, as_caller, bench, decode, outcome, pass_time


class Backend:
    """A backend that can be down and can lose its contents."""

    is_down = False

    def __init__(self) -> None:
        self.lose()

    def lose(self) -> None:
        self.values: dict[str, bytes] = {}
        self.purges: dict[int, int] = {}
        self.purged_to = 0

    def _up(self) -> None:
        if self.is_down:
            raise ConnectionError("down")

    def read_many(self, keys: Sequence[str]) -> Found:
        self._up()
        return Found([self.values.get(key) for key in keys], self.purged_to)

    def signatures(self, keys: Sequence[str], size: int) -> dict[str, bytes]:
        self._up()
        return {key: self.values[key][:size] for key in keys if key in self.values}

    def replace(self, key: str, value: bytes, timeout: float, fence: int, purge_no: int) -> Outcome:
        self._up()
        if self.purges.get(purge_bucket(key), 0) > purge_no:
            return "purged"
        self.values[key] = value
        return "stored"

    def begin_purges(self, purges: Mapping[int, int]) -> None:
        self._up()
        self.purges |= purges

    def end_purges(self, before: int, number: int) -> None:
        if self.purged_to == before:
            self.purged_to = number

    def review(self, end_of: EndOf, buckets: Collection[int]) -> Iterator[None]:
        for key, value in list(self.values.items()):
            if purge_bucket(key) in buckets and end_of(key, value) is not None:
                del self.values[key]
            yield

    def delete_tagged(self, tags: Collection[str]) -> int:
        gone = [key for key in self.values if key.partition(":")[0] in tags]
        for key in gone:
            del self.values[key]
        return len(gone)


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
def made(tmp_path: Path, clock: Clock, backend: Backend) -> Bench:
    return bench(tmp_path, clock, backend=backend)


def test_unavailable_backend_confirms_no_entry(made: Bench, backend: Backend) -> None:
    made.decode()
    backend.is_down = True
    made.decode()
    pass_time(made, 1.5)
    assert made.store.recent(made.store.key(decode(), None)) is None


def test_local_cache_serves_while_backend_is_down(made: Bench, backend: Backend) -> None:
    body = made.decode().body
    backend.is_down = True
    made.expire_local_cache()
    assert [made.decode().body for _ in range(3)] == [body] * 3
    assert len(made.upstream.calls) == 1


def test_only_requested_entries_are_confirmed(made: Bench, backend: Backend) -> None:
    asked, unasked = (made.store.key(decode(plate), None) for plate in ("ABC1D23", "DEF4G56"))
    made.decode("DEF4G56")
    made.decode()
    for _ in range(6):
        assert made.store.recent(asked) is not None
        pass_time(made, 0.5)
    assert made.store.recent(unasked) is None
    backend.values[asked] = b"another's, newer"
    made.decode()
    pass_time(made, 1.5)
    assert made.store.recent(asked) is None


def test_empty_backend_receives_cached_answers_back(made: Bench, backend: Backend) -> None:
    made.decode()
    backend.is_down = True
    made.decode("DEF4G56")
    backend.is_down = False
    backend.lose()
    made.expire_local_cache()
    assert made.decode().cache_status == "hit"
    assert made.decode("DEF4G56").cache_status == "hit"
    assert len(backend.values) == 2
    assert len(made.upstream.calls) == 2


def test_answers_that_were_not_stored_are_written_after_the_outage(
    made: Bench, backend: Backend
) -> None:
    assert not made.store.has_unstored
    backend.is_down = True
    for plate in ("ABC1D23", "DEF4G56"):
        made.decode(plate)
    made.store.tick()
    assert made.store.has_unstored
    backend.is_down = False
    made.store.tick()
    assert (len(backend.values), made.store.has_unstored) == (2, False)


@pytest.mark.parametrize(
    ("fault", "lines"), [(ConnectionError("host"), 1), (BreakerOpen("redis"), 0)], ids=repr
)
def test_fault_is_logged_unless_the_breaker_has_logged_it(
    made: Bench,
    backend: Backend,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    fault: Exception,
    lines: int,
) -> None:
    def fail() -> None:
        raise fault

    monkeypatch.setattr(backend, "_up", fail)
    assert not made.store.is_up()
    assert [record.name for record in caplog.records] == ["portal.gateway.store"] * lines
    assert "host" not in caplog.text


def test_store_is_up_while_it_has_an_answer(made: Bench, backend: Backend) -> None:
    assert made.store.is_up()
    backend.is_down = True
    assert not made.store.is_up()
    made.decode()
    assert made.store.is_up()
    assert made.store.size() is None


def test_batch_buys_nothing_while_the_store_is_down(made: Bench, backend: Backend) -> None:
    """Its owner has confirmed a price without the answers that are stored."""
    backend.is_down = True
    batch = as_caller("ana", batch="b1")
    assert outcome(lambda: made.gateway.fetch(decode(), batch)) == "no_store"
    assert made.upstream.calls == []
    assert made.decode().cache_status == "miss"


def test_entry_evicted_by_backend_is_written_back(made: Bench, backend: Backend) -> None:
    """The answer was paid for, and no purge of its vehicle is known."""
    made.decode()
    backend.values.clear()
    made.expire_local_cache()
    assert made.decode().cache_status == "hit"
    assert len(backend.values) == 1


def test_purge_by_another_process_clears_local_cache(
    made: Bench, backend: Backend, tmp_path: Path, clock: Clock
) -> None:
    """Nothing is written back, and a later backend outage does not revive the entry."""
    made.decode()
    assert bench(tmp_path, clock, backend=backend).purge() == 1
    made.store.tick()
    assert made.memory.size_bytes == 0
    backend.is_down = True
    made.upstream.answer = ConnectionError("unexpected upstream call")
    with pytest.raises(ConnectionError):
        made.decode()


def test_purge_during_idle_process_is_not_undone(
    made: Bench, backend: Backend, tmp_path: Path, clock: Clock
) -> None:
    """The process answers a request before its next tick, also from a backend that was emptied."""
    for lose in (list, backend.lose):
        made.decode()
        bench(tmp_path, clock, backend=backend).purge()
        lose()
        made.expire_local_cache()
        assert made.decode().cache_status == "miss"


def test_copy_is_not_trusted_while_the_purge_log_cannot_be_read(
    made: Bench, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.decode()
    backend.lose()
    monkeypatch.setattr(made.purge_log, "after", lambda _: None)
    monkeypatch.setattr(made.store._purges, "_purges_after", lambda _: None)
    made.expire_local_cache()
    made.decode()
    assert len(made.upstream.calls) == 2


def test_purged_answer_in_a_restored_snapshot_is_neither_served_nor_kept(
    made: Bench, backend: Backend
) -> None:
    made.decode()
    made.decode("DEF4G56")
    snapshot = dict(backend.values)
    made.purge()
    assert backend.purged_to == 1
    backend.lose()
    backend.values = snapshot
    made.expire_local_cache()
    made.store._purges.refresh()
    assert made.store.read(made.store.key(decode(), None)) is None
    made.store.tick()
    assert (len(backend.values), backend.purged_to) == (1, 1)
    assert made.decode("DEF4G56").cache_status == "hit"


def test_late_write_to_an_emptied_backend_is_hidden_and_deleted(
    made: Bench, backend: Backend
) -> None:
    made.decode()
    (late,) = backend.values.items()
    made.purge()
    backend.lose()
    backend.values[late[0]] = late[1]
    made.store.tick()
    assert backend.values == {}


def test_newer_cached_answer_replaces_an_older_restored_one(made: Bench, backend: Backend) -> None:
    made.decode()
    older = dict(backend.values)
    made.clock.advance(5)
    newer = made.decode(directive=Spend.AGAIN)
    backend.lose()
    backend.values = older  # as if another process had written the older answer
    made.expire_local_cache()
    assert made.decode().fetched_at == newer.fetched_at


def test_forged_entry_is_a_miss(made: Bench, backend: Backend) -> None:
    made.decode()
    for key in list(backend.values):
        backend.values[key] = b"\x80\x04planted" * 20
        made.memory.evict(key)
    assert made.decode().status == 200
    assert len(made.upstream.calls) == 2
