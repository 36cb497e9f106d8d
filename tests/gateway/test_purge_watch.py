"""PurgeWatch: generation names and the purge log decide which entries are evicted."""

from typing import cast

import pytest

from portal.gateway.backend import Backend, PurgeState, purge_bucket
from portal.gateway.envelope import Envelope
from portal.gateway.local_cache import LocalCache
from portal.gateway.purge_watch import PurgeWatch
from portal.storage.purge_log import Purges

PURGED_KEY, OTHER_KEY = f"{'a' * 24}:name", f"{'b' * 24}:name"
BUCKET = purge_bucket(PURGED_KEY)


class RecordedPurges:
    """A backend's number of applied purges. ``deleted`` lists its deletions."""

    def __init__(self) -> None:
        self.number = 0
        self.deleted: list[frozenset[int] | None] = []

    def purged_to(self, log: str) -> int:
        return self.number if log == "present" else 0

    def set_purged_to(self, log: str, number: int) -> None:
        assert log == "present"
        self.number = number

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        self.deleted.append(buckets)
        return 0


class Log:
    """The purge log. It is unavailable while ``is_down``."""

    def __init__(self) -> None:
        self.buckets: list[int] = []
        self.is_down = False

    def since(self, number: int | None) -> Purges | None:
        if self.is_down:
            return None
        later = None if number is None else frozenset(self.buckets[number:])
        return Purges(len(self.buckets), later)


@pytest.fixture
def memory() -> LocalCache:
    return LocalCache(10_000)


@pytest.fixture
def recorded() -> RecordedPurges:
    return RecordedPurges()


@pytest.fixture
def purge_log() -> Log:
    return Log()


@pytest.fixture
def watch(memory: LocalCache, recorded: RecordedPurges, purge_log: Log) -> PurgeWatch:
    """A PurgeWatch that knows generation ``begun:1``; two vehicles are cached."""
    made = PurgeWatch(cast(Backend, recorded), memory, purge_log.since, ["present", "former"])
    assert made.note("begun:1")
    for key in (PURGED_KEY, OTHER_KEY):
        memory.put(Envelope(key, 1.8e9, 1e9, "primary", 200, False, b"{}"), "begun:1")
    return made


def cached(memory: LocalCache) -> list[str]:
    return [key for key in (PURGED_KEY, OTHER_KEY) if memory.get_stale(key) is not None]


def test_same_generation_evicts_nothing(watch: PurgeWatch, memory: LocalCache) -> None:
    assert not watch.note("begun:1")
    assert cached(memory) == [PURGED_KEY, OTHER_KEY]


def test_purged_generation_clears_local_cache(watch: PurgeWatch, memory: LocalCache) -> None:
    assert watch.note("purged:1")
    assert cached(memory) == []


def test_lost_backend_evicts_only_purged_vehicles(
    watch: PurgeWatch, memory: LocalCache, recorded: RecordedPurges, purge_log: Log
) -> None:
    purge_log.buckets.append(BUCKET)
    assert watch.note("begun:2")
    assert cached(memory) == [OTHER_KEY]
    assert (recorded.deleted, recorded.number) == ([frozenset({BUCKET})], 1)
    assert (watch.generation, watch.last_purge) == ("begun:2", 1)


def test_lost_backend_without_purge_log_clears_local_cache(
    watch: PurgeWatch, memory: LocalCache, purge_log: Log
) -> None:
    purge_log.is_down = True
    assert watch.note("begun:2")
    assert cached(memory) == []


def test_distrust_compares_backend_with_purge_log(
    watch: PurgeWatch, memory: LocalCache, recorded: RecordedPurges, purge_log: Log
) -> None:
    """``note`` rereads the log for a known generation only after ``distrust``."""
    purge_log.buckets.append(BUCKET)
    assert not watch.note("begun:1")
    assert recorded.deleted == []
    watch.distrust()
    assert watch.note("begun:1")
    assert recorded.deleted == [frozenset({BUCKET})]
    assert cached(memory) == [OTHER_KEY]


def test_check_evicts_purged_vehicles_while_backend_is_down(
    watch: PurgeWatch, memory: LocalCache, purge_log: Log
) -> None:
    purge_log.buckets.append(BUCKET)
    watch.check()
    assert cached(memory) == [OTHER_KEY]


def test_purge_state_before_a_purge_is_not_current(watch: PurgeWatch, purge_log: Log) -> None:
    before = PurgeState(None, watch.generation, watch.last_purge)
    assert watch.is_current(before)
    assert watch.may_be_purged(PURGED_KEY, before.last_purge) is False
    purge_log.buckets.append(BUCKET)
    watch.check()
    assert not watch.is_current(before)
    assert watch.may_be_purged(PURGED_KEY, before.last_purge) is True
    assert watch.may_be_purged(OTHER_KEY, before.last_purge) is False
    purge_log.is_down = True
    assert watch.may_be_purged(PURGED_KEY, before.last_purge) is None


def test_follow_applies_purges_of_a_portal_with_another_backend(
    watch: PurgeWatch, memory: LocalCache, recorded: RecordedPurges, purge_log: Log
) -> None:
    """The backend's generation name does not change, because its portal made no purge."""
    purge_log.buckets.append(BUCKET)
    watch.follow()
    assert cached(memory) == [OTHER_KEY]
    assert (recorded.deleted, recorded.number, watch.last_purge) == ([frozenset({BUCKET})], 1, 1)
    watch.follow()
    assert len(recorded.deleted) == 1


def test_follow_deletes_only_what_the_backend_missed(
    watch: PurgeWatch, memory: LocalCache, recorded: RecordedPurges, purge_log: Log
) -> None:
    """An answer that was stored after an applied purge stays."""
    purge_log.buckets += [BUCKET, purge_bucket(OTHER_KEY)]
    recorded.number = 1
    watch.follow()
    assert cached(memory) == []
    assert recorded.deleted == [frozenset({purge_bucket(OTHER_KEY)})]


def test_follow_without_purge_log_changes_nothing(
    watch: PurgeWatch, memory: LocalCache, purge_log: Log
) -> None:
    purge_log.buckets.append(BUCKET)
    purge_log.is_down = True
    watch.follow()
    assert cached(memory) == [PURGED_KEY, OTHER_KEY]
