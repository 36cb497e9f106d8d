"""The generation of a backend's contents changes after a loss or a purge."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from portal.gateway.backend import Held, compare_counters, purge_bucket
from portal.gateway.lookup import Directive
from portal.storage.purge_log import PurgeLog
from tests.fakes import Clock
from tests.fakes.databases import kept_open
from tests.gateway.gateways import Bench, bench, decode, pass_time


class Backend:
    """A backend that can be down and can come back empty."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}
        self.generation, self.is_down = "begun:1", False
        self.contents, self.purges = "1", 0
        self.logged = 0

    @property
    def counter(self) -> str:
        return f"{self.contents}:{self.purges}"

    def _up(self) -> None:
        if self.is_down:
            raise ConnectionError("down")

    def read_many(self, keys: Sequence[str]) -> Held:
        self._up()
        return Held([self.values.get(key) for key in keys], self.generation, self.counter)

    def version(self) -> None:
        self._up()

    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        self._up()
        return {key: self.values[key][:size] for key in keys if key in self.values}, self.generation

    def replace(self, key: str, value: bytes, timeout: float, fence: int, counter: str) -> bool:
        self._up()
        compare_counters(counter, self.counter)
        self.values[key] = value
        return True

    def purged_to(self, log: str) -> int:
        self._up()
        return self.logged

    def set_purged_to(self, log: str, number: int) -> None:
        self.logged = number

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        found = [key for key in self.values if buckets is None or purge_bucket(key) in buckets]
        for key in found:
            del self.values[key]
        return len(found)

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        self._up()
        self.logged = max(self.logged, number)
        gone = [key for key in self.values if key.startswith(tag)]
        for key in gone:
            del self.values[key]
        self.purges += 1
        self.generation = f"purged:{self.purges}"
        return len(gone)


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
def made(tmp_path: Path, clock: Clock, backend: Backend) -> Bench:
    return bench(tmp_path, clock, backend=backend)


def come_back_empty(backend: Backend) -> None:
    backend.values.clear()
    backend.generation, backend.is_down = "begun:2", False
    backend.contents, backend.purges = "2", 0


def test_unavailable_backend_confirms_no_entry(made: Bench, backend: Backend) -> None:
    made.decode()
    backend.is_down = True
    made.decode()
    pass_time(made, 1.5)
    assert made.store.recent(made.gateway.key(decode(), None)) is None


def test_local_cache_serves_while_backend_is_down(made: Bench, backend: Backend) -> None:
    body = made.decode().body
    backend.is_down = True
    made.expire_local_cache()
    assert [made.decode().body for _ in range(3)] == [body] * 3
    assert len(made.upstream.calls) == 1


def test_only_requested_entries_are_confirmed_without_backend_version(
    made: Bench, backend: Backend
) -> None:
    asked, unasked = (made.gateway.key(decode(plate), None) for plate in ("ABC1D23", "DEF4G56"))
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
    come_back_empty(backend)
    made.expire_local_cache()
    assert made.decode().cache_status == "hit"
    assert made.decode("DEF4G56").cache_status == "hit"
    assert len(backend.values) == 2
    assert len(made.upstream.calls) == 2


def test_entry_evicted_by_backend_is_evicted_locally(made: Bench, backend: Backend) -> None:
    """In an unchanged generation, a missing entry is not written back."""
    made.decode()
    backend.values.clear()
    made.expire_local_cache()
    assert made.decode().cache_status == "miss"


def test_purge_by_another_process_clears_local_cache(made: Bench, backend: Backend) -> None:
    """Nothing is written back, and a later backend outage does not revive the entry."""
    made.decode()
    backend.delete_tagged("")
    made.store.tick()
    assert made.memory.size_bytes == 0
    backend.is_down = True
    made.upstream.answer = ConnectionError("unexpected upstream call")
    with pytest.raises(ConnectionError):
        made.decode()


def test_purge_during_idle_process_is_not_undone(made: Bench, backend: Backend) -> None:
    made.decode()
    backend.delete_tagged("")
    made.expire_local_cache()
    assert made.decode().cache_status == "miss"


def test_purged_answer_in_a_restored_snapshot_is_not_served(
    tmp_path: Path, clock: Clock, backend: Backend
) -> None:
    log = PurgeLog(kept_open(None, tmp_path))
    made = bench(tmp_path, clock, backend=backend, purge_log=log)
    made.decode()
    snapshot, generation = dict(backend.values), backend.generation
    tag = made.store.tag("ABC1D23")
    number = log.note(purge_bucket(tag))
    made.store.purge("ABC1D23", number)
    assert backend.logged == number
    made.store.tick()
    backend.values, backend.generation, backend.logged = snapshot, generation, 0
    made.expire_local_cache()
    assert made.decode().cache_status == "miss"
    assert len(backend.values) == 1


def test_newer_cached_answer_replaces_an_older_restored_one(made: Bench, backend: Backend) -> None:
    made.decode()
    older = dict(backend.values)
    made.clock.advance(5)
    newer = made.decode(directive=Directive.REFRESH)
    come_back_empty(backend)
    backend.values = older  # as if another process had written the older answer
    made.expire_local_cache()
    assert made.decode().fetched_at == newer.fetched_at


def test_forged_entry_is_a_miss(made: Bench, backend: Backend) -> None:
    made.decode()
    for key in list(backend.values):
        backend.values[key] = b"\x80\x04planted" * 20
    made.expire_local_cache()
    assert made.decode().status == 200
    assert len(made.upstream.calls) == 2
