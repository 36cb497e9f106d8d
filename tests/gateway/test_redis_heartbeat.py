"""The scheduler renews a process's leases on time, many with each round trip."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from portal.system.dependency_breaker import DependencyBreaker
from tests.conftest import PortalFactory
from tests.fakes import wait_until
from tests.fakes.processes import RedisProcess

if TYPE_CHECKING:
    import redis
else:
    redis = pytest.importorskip("redis", reason="redis-py is not installed")

from portal.gateway.redis_cache import BATCH_SIZE, FAILURES
from portal.gateway.redis_lease import LIFETIME_MS, RedisLeases

pytestmark = [pytest.mark.slow, pytest.mark.long]


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


def test_portal_renews_the_lease_that_it_holds(
    portal: PortalFactory, server: RedisProcess, observer: redis.Redis
) -> None:
    parts = portal(REDIS_URL=server.url, SECRET_KEY="a shared secret").parts
    parts.scheduler.start()
    with parts.leases.hold("t:k"):
        observer.pexpire("portal:lease:t:k", LIFETIME_MS // 2)
        wait_until(
            lambda: observer.pttl("portal:lease:t:k") > LIFETIME_MS // 2, "the lease's renewal"
        )
    assert observer.get("portal:lease:t:k") is None


class FarConnection(redis.Connection):
    """Counts the packets sent. Each packet costs one network round trip."""

    sent = 0

    def send_packed_command(self, command: object, check_health: bool = True) -> None:
        FarConnection.sent += 1
        super().send_packed_command(command, check_health)  # type: ignore[no-untyped-call]


def test_many_leases_are_renewed_in_few_round_trips(
    server: RedisProcess, observer: redis.Redis
) -> None:
    """Regression: one round trip per lease took 2.4 s, and held leases expired."""
    pool = redis.ConnectionPool.from_url(server.url, connection_class=FarConnection)
    far = redis.Redis(connection_pool=pool)
    leases = RedisLeases(far, DependencyBreaker("Redis", far.ping, FAILURES))
    names = [f"portal:lease:t:{number}" for number in range(2 * BATCH_SIZE + 1)]
    with contextlib.ExitStack() as held:
        for number in range(len(names)):
            assert held.enter_context(leases.hold(f"t:{number}")) is not None
        with observer.pipeline(transaction=False) as soon_over:
            for name in names[:-1]:
                soon_over.set(name, leases._held[name], px=60 * LIFETIME_MS)
            soon_over.set(names[-1], "another's", px=60 * LIFETIME_MS)
            soon_over.script_flush()  # as after a restart of Redis, which deletes its scripts
            soon_over.execute()
        FarConnection.sent = 0
        leases.renew()
        sent = FarConnection.sent
        with observer.pipeline(transaction=False) as asked:
            for name in names:
                asked.pttl(name)
            left = asked.execute()
        assert max(left[:-1]) <= LIFETIME_MS
        assert left[-1] > LIFETIME_MS  # not renewed, because another process holds it
        assert sent <= 10
    far.close()
