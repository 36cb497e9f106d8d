"""The heartbeat thread renews a process's leases in batches and on time."""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pytest

from portal.system.dependency_breaker import DependencyBreaker
from tests.fakes import Clock, wait_until
from tests.fakes.processes import RedisProcess
from tests.fakes.threads import no_thread_named

if TYPE_CHECKING:
    import redis
else:
    redis = pytest.importorskip("redis", reason="redis-py is not installed")

from portal.gateway.redis_cache import BATCH_SIZE, CLIENT_OPTIONS, FAILURES
from portal.gateway.redis_lease import HEARTBEAT_S, LIFETIME_MS, RedisLeases


@pytest.fixture(scope="module")
def server() -> Iterator[RedisProcess]:
    with RedisProcess() as started:
        yield started


@pytest.fixture
def observer(server: RedisProcess) -> Iterator[redis.Redis]:
    """A client without the portal's short time-outs, for the test's own commands."""
    with redis.Redis.from_url(server.url) as made:
        made.flushall()
        yield made


@pytest.fixture
def client(server: RedisProcess, observer: redis.Redis) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url, **CLIENT_OPTIONS) as made:
        yield made


@pytest.fixture
def breaker(client: redis.Redis) -> DependencyBreaker:
    return DependencyBreaker("Redis", client.ping, FAILURES)


@pytest.fixture
def leases(client: redis.Redis, breaker: DependencyBreaker) -> RedisLeases:
    return RedisLeases(client, breaker)


def test_heartbeat_without_thread_starts_with_next_lease(
    leases: RedisLeases, observer: redis.Redis
) -> None:
    with no_thread_named("lease") as refused, leases.hold("t:unkept") as unkept:
        assert unkept is not None
    assert refused
    with leases.hold("t:k"):
        wait_until(
            lambda: observer.pttl("portal:lease:t:k") < LIFETIME_MS - HEARTBEAT_S * 500,
            "half a second",
        )
        wait_until(
            lambda: observer.pttl("portal:lease:t:k") > LIFETIME_MS - HEARTBEAT_S * 500,
            "the renewal",
        )


class FarConnection(redis.Connection):
    """Counts the packets sent. Each packet costs one network round trip."""

    sent = 0

    def send_packed_command(self, command: object, check_health: bool = True) -> None:
        FarConnection.sent += 1
        super().send_packed_command(command, check_health)  # type: ignore[no-untyped-call]


def test_heartbeat_renews_many_leases_in_few_round_trips(
    server: RedisProcess, client: redis.Redis, breaker: DependencyBreaker
) -> None:
    """Regression: one round trip per lease took 2.4 s, and held leases expired."""
    beat = threading.Semaphore(0)
    beats: list[float] = []

    def sleep(seconds: float) -> None:
        beats.append(seconds)
        beat.acquire(timeout=20)

    pool = redis.ConnectionPool.from_url(server.url, connection_class=FarConnection)
    far = redis.Redis(connection_pool=pool)
    leases = RedisLeases(far, breaker, sleep, clock=lambda: 0.0)
    names = [f"portal:lease:t:{number}" for number in range(2 * BATCH_SIZE + 1)]
    with contextlib.ExitStack() as held:
        for number in range(len(names)):
            assert held.enter_context(leases.hold(f"t:{number}")) is not None
        wait_until(lambda: len(beats) == 1, "the pause before the beat")
        with client.pipeline(transaction=False) as soon_over:
            for name in names[:-1]:
                soon_over.set(name, leases._held[name], px=60 * LIFETIME_MS)
            soon_over.set(names[-1], "another's", px=60 * LIFETIME_MS)
            soon_over.script_flush()  # as after a restart of Redis, which deletes its scripts
            soon_over.execute()
        FarConnection.sent = 0
        beat.release()
        wait_until(lambda: len(beats) == 2, "the pause after the beat")
        sent = FarConnection.sent
        with client.pipeline(transaction=False) as asked:
            for name in names:
                asked.pttl(name)
            left = asked.execute()
        assert max(left[:-1]) <= LIFETIME_MS
        assert left[-1] > LIFETIME_MS  # not renewed, because another process holds it
        assert sent <= 10
        beat.release(10)
    far.close()


def test_heartbeat_interval_counts_from_its_start(
    client: redis.Redis,
    breaker: DependencyBreaker,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The duration of a slow renewal is subtracted from the pause after it."""
    beat, took = threading.Semaphore(0), iter([0.25, 5.0, 0.0, 0.0])
    beats: list[float] = []

    def sleep(seconds: float) -> None:
        beats.append(seconds)
        beat.acquire(timeout=20)

    leases = RedisLeases(client, breaker, sleep, clock)
    monkeypatch.setattr(leases, "_renew_all", lambda _held: clock.advance(next(took)))
    with leases.hold("t:k"):
        for count in (1, 2, 3):
            wait_until(partial(lambda count: len(beats) == count, count), "a pause")
            beat.release()
        wait_until(lambda: len(beats) == 4, "the last pause")
    beat.release()
    assert beats[:4] == [HEARTBEAT_S, HEARTBEAT_S - 0.25, 0.0, HEARTBEAT_S]


def test_new_and_released_leases_trigger_no_renewal(
    client: redis.Redis, breaker: DependencyBreaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renewing all leases with every new one would cost n² commands for n leases."""
    beat = threading.Semaphore(0)
    beats: list[float] = []

    def sleep(seconds: float) -> None:
        beats.append(seconds)
        beat.acquire(timeout=20)

    leases = RedisLeases(client, breaker, sleep)
    renewed: list[str] = []

    def renew_all(held: Sequence[tuple[str, str]]) -> None:
        renewed.extend(name for name, _ in held)

    monkeypatch.setattr(leases, "_renew_all", renew_all)
    with leases.hold("t:long"):
        for number in range(50):
            with leases.hold(f"t:{number}"):
                pass
        wait_until(lambda: beats == [HEARTBEAT_S], "the pause before the first beat")
        assert renewed == []
        beat.release()
        wait_until(lambda: len(beats) == 2, "the pause before the second")
        assert renewed == ["portal:lease:t:long"]
    beat.release()
    for number in range(50):
        with leases.hold(f"t:{number}"):
            pass
    assert len(beats) <= 3
