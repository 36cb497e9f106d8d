"""Portals are restarted one after the other under load: no request fails, no call is repeated."""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from tests.effort import cases
from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Ask, one
from tests.outages.round_robin import RoundRobin

HEADER = {"Authorization": PORTAL_TOKEN}
DRAIN_S = 2
PER_SECOND = cases(60, 200)
REQUESTS = cases(500, 10_000)
RESTARTS = cases(1, 2)  # of each portal
PLATES = [
    f"ABC{at // 100 % 10}{chr(65 + at // 1000)}{at % 100:02}" for at in range(cases(400, 2_000))
]


@pytest.fixture
def portals(upstream: FaultUpstream, postgres: PostgresProcess) -> Iterator[list[PortalProcess]]:
    with ExitStack() as stack, RedisProcess() as store, ThreadPoolExecutor(2) as starting:
        settings = {
            **managed(upstream.url),
            **PATIENT,
            "PORTAL_REDIS_URL": store.url,
            "PORTAL_SECRET_KEY": "what both portals share",
            "PORTAL_DRAIN_SECONDS": str(DRAIN_S),
            "PORTAL_DATABASE_URL": postgres.new_database(),
        }
        both = [PortalProcess(settings) for _ in range(2)]
        for portal in both:
            stack.callback(portal.close)
        yield list(starting.map(PortalProcess.start, both))


@pytest.mark.long
def test_rolling_restart_loses_no_request(
    portals: list[PortalProcess], upstream: FaultUpstream
) -> None:
    upstream.default(faults.slow_first_byte(0.05))

    def ask(number: int) -> Ask:
        return Ask(path_of("decode", PLATES[number % len(PLATES)]), HEADER)

    with RoundRobin([portal.port for portal in portals], ask, PER_SECOND) as proxy:
        for _ in range(RESTARTS):
            for portal in portals:
                wait_until(lambda: all(map(proxy.is_ready, proxy.ports)), "both portals", 120)
                assert portal.stop() == 0
                portal.start()
        wait_until(lambda: proxy.sent >= REQUESTS, "the requests", 300)
    assert proxy.failures == []
    assert Counter(answer.status for answer in proxy.answers) == {200: proxy.sent}
    assert proxy.sent >= REQUESTS
    assert upstream.count() == len({call.path for call in upstream.calls}) == len(PLATES)
    if "PORTAL_DATABASE_URL" in portals[0].environment():
        ledger = portals[0].command_line("ledger", "--csv").stdout.splitlines()[1:]
        assert len(ledger) == len(PLATES)
        assert all("answered" in row for row in ledger)
    for seen in proxy.statuses.values():
        assert seen.count(503) >= RESTARTS, seen  # /readyz failed before the socket closed


def test_draining_portal_accepts_and_finishes_requests(upstream: FaultUpstream) -> None:
    settings = {**managed(upstream.url), **PATIENT, "PORTAL_DRAIN_SECONDS": "2"}
    with PortalProcess(settings) as portal, ThreadPoolExecutor(2) as pool:
        upstream.default(faults.slow_first_byte(5.0))
        early = pool.submit(one, portal.port, Ask(path_of("decode", "ABC1D23"), HEADER))
        upstream.wait_for_calls(1)
        started = time.monotonic()
        os.kill(portal.pid, signal.SIGTERM)
        wait_until(lambda: portal.get("/readyz").status_code == 503, "the drain", 2)
        assert portal.get("/healthz").status_code == 200
        late = pool.submit(one, portal.port, Ask(path_of("decode", "DEF4G56"), HEADER))
        upstream.wait_for_calls(2)
        assert [each.result().status for each in (early, late)] == [200, 200]
        wait_until(lambda: not portal.is_running, "the end")
    assert time.monotonic() - started >= 5.0
    assert upstream.count() == 2


def test_second_sigterm_ends_the_drain(upstream: FaultUpstream) -> None:
    with PortalProcess(managed(upstream.url) | {"PORTAL_DRAIN_SECONDS": "600"}) as portal:
        os.kill(portal.pid, signal.SIGTERM)
        wait_until(lambda: portal.get("/readyz").status_code == 503, "the drain")
        assert portal.stop() == 0
