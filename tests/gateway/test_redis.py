"""Redis for the store and the leases: entries by tag, fenced writes, outages."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from portal.gateway.backend import BytesRemain, Found
from portal.gateway.lookup import Served
from portal.gateway.store import StoreDown
from portal.storage.purge_log import purge_bucket
from tests.fakes import Clock, wait_until
from tests.fakes.processes import RedisProcess
from tests.fakes.purges import log_purge
from tests.gateway.gateways import Bench, StubUpstream, bench, decode
from tests.gateway.reviews import kept_after_review

if TYPE_CHECKING:
    import redis
else:
    redis = pytest.importorskip("redis", reason="redis-py is not installed")

from portal.gateway import redis_cache
from portal.gateway.redis_cache import PREFIX, SealedRedisCache
from portal.gateway.redis_lease import RedisLeases

pytestmark = [pytest.mark.slow, pytest.mark.long]

TAG, OTHER_TAG = "a" * 24, "b" * 24


@pytest.fixture(scope="module")
def running() -> Iterator[RedisProcess]:
    with RedisProcess() as started:
        yield started


@pytest.fixture
def server(running: RedisProcess) -> Iterator[RedisProcess]:
    """A running and empty Redis."""
    if not running.is_running:
        running.start()
    with redis.Redis.from_url(running.url) as client:
        client.flushall()
    yield running
    if running.is_running:
        running.resume()


def cache_at(url: str) -> SealedRedisCache:
    return SealedRedisCache(url, "log")


@pytest.fixture
def cache(server: RedisProcess) -> Iterator[SealedRedisCache]:
    made = cache_at(server.url)
    yield made
    made.client.close()


@pytest.fixture
def leases(cache: SealedRedisCache) -> RedisLeases:
    return RedisLeases(cache.client, cache.breaker)


def process(tmp_path: Path, clock: Clock, url: str, upstream: StubUpstream | None = None) -> Bench:
    """A worker process's gateway on this Redis."""
    backend = cache_at(url)
    return bench(
        tmp_path,
        clock,
        upstream,
        backend=backend,
        leases=RedisLeases(backend.client, backend.breaker),
    )


def value(cache: SealedRedisCache, key: str) -> bytes | None:
    return cache.read_many([key]).values[0]


def redis_of(made: Bench) -> SealedRedisCache:
    assert isinstance(made.backend, SealedRedisCache)
    return made.backend


def test_purge_is_recorded_unless_an_earlier_one_was_missed(cache: SealedRedisCache) -> None:
    """After a gap, the store repeats all purges from the first unrecorded one."""
    assert cache.read_many(["t:k"]).purged_to == 0
    for before, number, recorded in ((0, 1, 1), (1, 3, 3), (4, 5, 3), (3, 4, 4)):
        cache.end_purges(before, number)
        assert cache.read_many(["t:k"]).purged_to == recorded


def test_redis_of_a_former_version_is_taken_over(cache: SealedRedisCache) -> None:
    """Its entries are valid up to the last purge that was applied to this Redis."""
    cache.client.hset("portal:generation", mapping={"purged_to:log": 57, "purged_to:other": 60})
    assert cache.read_many([f"{TAG}:k"]) == Found([None], 57)
    cache.end_purges(57, 58)
    assert cache.read_many([f"{TAG}:k"]).purged_to == 58
    cache.client.sadd(f"{PREFIX}tag:{TAG}", f"{PREFIX}{TAG}:k")
    cache.delete_tagged([TAG])
    assert [key for key in cache.client.keys("*") if TAG.encode() in key] == []


def test_purge_raises_if_redis_cannot_write_its_snapshot() -> None:
    with RedisProcess(save="3600 1") as server:
        (server.directory / "dump.rdb").mkdir()  # a directory, which no snapshot can replace
        cache = cache_at(server.url)
        cache.replace(f"{TAG}:a", b"value", 60)
        assert cache.delete_tagged([TAG]) == 1
        with pytest.raises(BytesRemain):
            cache.erase_deleted()
        assert cache.read_many([f"{TAG}:a"]).values == [None]
        cache.client.close()
        server.kill()  # on SIGTERM, Redis would not end without a snapshot


def test_value_is_returned_unchanged_until_expiry(cache: SealedRedisCache) -> None:
    cache.replace("t:k", b"\x00\xff sealed", 2)
    assert value(cache, "t:k") == b"\x00\xff sealed"
    wait_until(lambda: value(cache, "t:k") is None, "the expiry")


def test_signatures_are_read_in_batches(
    cache: SealedRedisCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_cache, "BATCH_SIZE", 3)
    for number in range(7):
        cache.replace(f"t:{number}", b"head%d and body" % number, 60, fence=number)
    signatures = cache.signatures([f"t:{number}" for number in (0, 1, 2, 3, 6, 9)], 5)
    assert signatures == {f"t:{number}": b"head%d" % number for number in (0, 1, 2, 3, 6)}
    assert cache.signatures([], 5) == {}


def test_older_fence_does_not_replace_newer(cache: SealedRedisCache) -> None:
    assert cache.replace("t:k", b"second", 60, fence=200) == "stored"
    assert cache.replace("t:k", b"first", 60, fence=100) == "outdated"
    assert value(cache, "t:k") == b"second"
    assert cache.replace("t:k", b"third", 60, fence=300) == "stored"


def test_purge_removes_all_keys_of_tag(cache: SealedRedisCache) -> None:
    for number in range(20):
        cache.replace(f"{TAG}:{number}", b"secret", 60)
        cache.replace(f"{OTHER_TAG}:{number}", b"kept", 60)
    assert cache.delete_tagged([TAG]) == 20
    assert not any(TAG.encode() in key for key in cache.client.keys("*"))
    assert value(cache, f"{OTHER_TAG}:3") == b"kept"


def test_begun_purge_rejects_answers_of_lookups_under_way(cache: SealedRedisCache) -> None:
    bucket = purge_bucket(TAG)
    cache.begin_purges({bucket: 7})
    cache.begin_purges({bucket: 5})
    assert cache.replace(f"{TAG}:k", b"x", 60, purge_no=6) == "purged"
    assert cache.replace(f"{TAG}:k", b"x", 60, purge_no=7) == "stored"
    assert cache.replace(f"{OTHER_TAG}:k", b"x", 60, purge_no=6) == "stored"


def test_review_changes_the_ends_of_chosen_entries(
    cache: SealedRedisCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_cache, "BATCH_SIZE", 3)
    assert kept_after_review(cache) == [True] * 2 + [False] * 3 + [True] * 5


def test_all_keys_have_the_prefix(tmp_path: Path, clock: Clock, server: RedisProcess) -> None:
    """Other applications may use the same Redis, and operators search by prefix."""
    gate, upstream = threading.Event(), StubUpstream()
    upstream.gate = gate
    made = process(tmp_path, clock, server.url, upstream)
    asking = threading.Thread(target=made.decode)
    asking.start()
    wait_until(lambda: upstream.calls, "the call")
    held = redis_of(made).client.keys("*")
    gate.set()
    asking.join(20)
    keys = held + redis_of(made).client.keys("*")
    assert {key.split(b":")[1] for key in keys} >= {b"purges", b"fence", b"lease"}
    assert {key.split(b":")[0] for key in keys} == {PREFIX.removesuffix(":").encode()}


def test_lease_has_one_holder_and_fences_increase(leases: RedisLeases) -> None:
    with leases.hold("t:k") as first, leases.hold("t:k") as second:
        assert second is None
    fences = []
    for _ in range(20):
        with leases.hold("t:k") as fence:
            assert fence is not None
            fences.append(fence)
    assert first is not None
    assert first < fences[0]
    assert fences == sorted(set(fences))
    assert len(str(fences[0])) == 16


def test_former_holder_does_not_release_lease_of_new_holder(
    leases: RedisLeases, cache: SealedRedisCache
) -> None:
    with leases.hold("t:k"):
        cache.client.set("portal:lease:t:k", "another's")
    assert cache.client.get("portal:lease:t:k") == b"another's"


def test_lease_of_dead_holder_expires(leases: RedisLeases, cache: SealedRedisCache) -> None:
    cache.client.set("portal:lease:t:k", "a dead process", px=200)
    started = time.monotonic()
    while True:
        with leases.hold("t:k") as fence:
            if fence is not None:
                break
        time.sleep(0.02)
    assert time.monotonic() - started < 4


def test_late_answer_of_stalled_leader_does_not_replace_newer(
    tmp_path: Path, clock: Clock, server: RedisProcess
) -> None:
    """The late answer reaches its caller, but its older fence prevents the write."""
    gate, slow = threading.Event(), StubUpstream()
    slow.gate = gate
    stalled, other = (
        process(tmp_path, clock, server.url, slow),
        process(tmp_path, clock, server.url),
    )
    results: list[Served] = []
    leader = threading.Thread(target=lambda: results.append(stalled.decode()))
    leader.start()
    wait_until(lambda: slow.calls, "the first call")
    for key in redis_of(other).client.keys("portal:lease:*"):
        redis_of(other).client.delete(key)  # as if the leader's lease had expired
    clock.advance(1)
    newer = other.decode()
    gate.set()
    leader.join(20)
    assert results[0].status == 200
    other.expire_local_cache()
    assert other.decode().fetched_at == newer.fetched_at


def test_machines_coalesce_misses(tmp_path: Path, clock: Clock, server: RedisProcess) -> None:
    gate, upstream = threading.Event(), StubUpstream()
    upstream.gate = gate
    machines = [process(tmp_path / str(number), clock, server.url, upstream) for number in range(3)]
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda each=each: answers.append(each.decode().status))
        for each in machines
        for _ in range(5)
    ]
    for thread in threads:
        thread.start()
    wait_until(lambda: upstream.calls, "the call")
    time.sleep(0.1)
    gate.set()
    for thread in threads:
        thread.join(20)
    assert answers == [200] * 15
    assert len(upstream.calls) == 1


@pytest.mark.parametrize("trouble", ["stopped", "silent"])
def test_redis_outage_costs_one_time_out_and_recovery_is_detected(
    tmp_path: Path, clock: Clock, server: RedisProcess, trouble: str
) -> None:
    made = process(tmp_path, clock, server.default_url)
    warm = made.decode().body
    if trouble == "stopped":
        server.stop()
    else:
        server.pause()
    made.expire_local_cache()
    assert made.decode().body == warm  # this call detects the outage
    started = time.monotonic()
    for number in range(40):
        made.expire_local_cache()
        assert made.decode().body == warm
        assert made.decode(f"DEF4G{number:02}").status == 200
    assert time.monotonic() - started < 40  # s; 40 time-outs would take at least 80 s
    assert made.store.is_up()
    if trouble == "stopped":
        server.start()
    else:
        server.resume()
    wait_until(lambda: not redis_of(made).breaker.is_open, "the recovery", timeout_s=5)
    made.expire_local_cache()
    assert made.decode().cache_status == "hit"
    assert made.decode("DEF4G07").cache_status == "hit"
    assert len(made.upstream.calls) == 41
    wait_until(lambda: redis_of(made).client.dbsize() > 0, "an answer written back")


def test_purge_raises_store_down_without_redis(
    tmp_path: Path, clock: Clock, server: RedisProcess
) -> None:
    made = process(tmp_path, clock, server.url)
    made.decode()
    server.stop()
    with pytest.raises(StoreDown):
        made.store.purge({made.store.tag("ABC1D23"): 1})


def test_forged_entries_are_misses_and_not_executed(
    tmp_path: Path, clock: Clock, server: RedisProcess
) -> None:
    """The forged entries are pickles, which Flask-Caching's own serializer would load."""
    made = process(tmp_path, clock, server.url)
    plates = [f"AB{letter}1D{number:02}" for letter in "ABC" for number in range(100)]
    for plate in plates:
        made.decode(plate)
    trap = tmp_path / "sprung"
    planted = b"0" * 16 + b"\x80\x04cposix\nmkdir\n(V" + str(trap).encode() + b"\ntR."
    for key in redis_of(made).client.keys("portal:*:*"):
        if b"lifetimes:" not in key and b":purges:" not in key:
            redis_of(made).client.set(key, planted)
    for plate in plates:
        made.memory.evict(made.store.key(decode(plate), None))
        served = made.decode(plate)
        assert (served.status, served.cache_status) == (200, "miss")
    assert not trap.exists()


def test_size_counts_keys_and_memory(cache: SealedRedisCache) -> None:
    for number in range(3):
        cache.replace(f"t{number}:k", b"x" * 5000, 60)
    size = cache.size()
    assert size.entries >= 3
    assert size.bytes > 3 * 5000


# Two purges at once


def test_two_purges_of_a_plate_at_once_both_succeed(
    tmp_path: Path, clock: Clock, server: RedisProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second purge begins and ends while the first is scanning."""
    made, other = (process(tmp_path, clock, server.url) for _ in range(2))
    made.decode()
    client = redis_of(made).client
    scan, found = client.scan, []

    def overtaken(*args: object, **named: object) -> object:
        monkeypatch.setattr(client, "scan", scan)
        found.append(other.purge())
        return scan(*args, **named)

    monkeypatch.setattr(client, "scan", overtaken)
    assert made.purge() == 0
    assert found == [1]
    for one in (made, other):
        one.store.tick()
        assert one.store.purged_to() == 2
    assert made.decode().stored


def test_killed_purge_is_completed_by_the_next_tick(
    tmp_path: Path, clock: Clock, server: RedisProcess
) -> None:
    made = process(tmp_path, clock, server.url)
    made.decode()
    log_purge(made.purge_log.database, made.store.tag("ABC1D23"))
    made.store.tick()
    assert made.store.purged_to() == 1
    assert [key for key in redis_of(made).client.keys("*:*:*") if b":purges:" not in key] == []


# Rewriting the files


@pytest.mark.over_5_s("Redis reports a snapshot's progress every 1,000 keys")
def test_purge_waits_for_a_slow_snapshot_while_it_makes_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(redis_cache, "REWRITE_STALL_S", 3.0)
    with RedisProcess(save="3600 1") as server:
        cache = cache_at(server.url)
        # Redis counts the written keys in thousands.
        cache.client.mset({f"key {number}": b"value" for number in range(6_000)})
        cache.client.config_set("rdb-key-save-delay", 1_000)  # 1 ms a key: over 6 s in all
        cache.erase_deleted()
        assert not cache.client.info("persistence")["rdb_bgsave_in_progress"]
        cache.client.config_set("rdb-key-save-delay", 60_000_000)
        with pytest.raises(BytesRemain, match="Redis does not finish"):
            cache.erase_deleted()
        cache.client.close()
        server.kill()


# A lost reply


def test_lease_is_held_although_the_reply_was_lost(server: RedisProcess) -> None:
    """The client sends the script again on a new connection, and finds its own token."""
    with ReplyLoss(server.port, b"lease:") as relay:
        cache = cache_at(f"redis://127.0.0.1:{relay.port}/0")
        leases = RedisLeases(cache.client, cache.breaker)
        with leases.hold("t:before"):
            pass  # Redis has the scripts from here on
        relay.loses = True
        with leases.hold("t:k") as fence:
            assert relay.lost == 1
            assert fence is not None
            with leases.hold("t:k") as second:
                assert second is None
        cache.client.close()


class ReplyLoss:
    """A relay to Redis. While ``loses``, it loses one reply to a command with ``text``."""

    def __init__(self, port: int, text: bytes) -> None:
        self._target, self._text = port, text
        self.loses, self.lost = False, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> "ReplyLoss":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._relay, args=(near,), daemon=True).start()

    def _relay(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self._target)) as far:
            while command := near.recv(65536):
                far.sendall(command)
                reply = far.recv(65536)
                if self.loses and self._text in command:
                    self.loses, self.lost = False, self.lost + 1
                    return
                near.sendall(reply)
