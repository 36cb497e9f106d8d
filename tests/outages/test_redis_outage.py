"""Redis dies and comes back under a running server: nobody fails, hardly anything is paid again."""

import threading

import pytest

from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Ask, in_turn, together

pytest.importorskip("redis", reason="redis-py is not installed")

HEADER = {"Authorization": PORTAL_TOKEN}
WORKERS = 2


def test_redis_is_killed_and_restored_in_mid_traffic(upstream: FaultUpstream):
    """2,000 warm requests: 0 failed; cold ones are coalesced per process; then all is as before."""
    plates = [f"ABC1D{number:02}" for number in range(50)]
    warm = [Ask(path_of("decode", plate), HEADER) for plate in plates]
    with RedisProcess() as redis:
        settings = managed(upstream.url) | {
            "PORTAL_REDIS_URL": redis.url,
            "PORTAL_SECRET_KEY": "a secret that portals share",
        }
        with PortalProcess(settings, workers=WORKERS) as server:
            for _ in range(5):  # each on a connection of its own: every process meets every plate
                together(server.port, warm * 4)
            assert upstream.count() == len(plates)
            answers = []
            traffic = threading.Thread(
                target=lambda: answers.extend(in_turn(server.port, warm * 40, clients=32))
            )
            traffic.start()
            wait_until(lambda: server.get("/readyz").status_code == 200, "readiness")
            redis.kill()
            cold = together(server.port, [Ask(path_of("decode", "DEF4G56"), HEADER)] * 60)
            ready = server.get("/readyz").status_code
            traffic.join()
            assert {answer.status for answer in answers} == {200}
            assert {answer.status for answer in cold} == {200}
            assert upstream.count(path_of("decode", "DEF4G56")) <= WORKERS
            assert ready == 200
            assert server.command_line("purge", "ABC1D00").returncode == 1
            redis.start()
            wait_until(lambda: "Redis is back" in server.output, "its return", timeout_s=30)
            again = in_turn(server.port, warm * 4, clients=16)
            assert {answer.status for answer in again} == {200}
            # The purge could not reach Redis; each worker forgot its plate all the same.
            purged = upstream.count(path_of("decode", "ABC1D00"))
            assert purged <= 1 + WORKERS
            assert upstream.count() - purged < len(plates) + WORKERS
