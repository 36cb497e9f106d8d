"""Redis stops and returns under a running server: no request fails, few calls are repeated."""

import threading

import pytest

from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Ask, in_turn, together

pytest.importorskip("redis", reason="redis-py is not installed")

HEADER = {"Authorization": PORTAL_TOKEN}
WORKERS = 2


def test_redis_outage_in_mid_traffic_fails_no_request(upstream: FaultUpstream) -> None:
    """None of 2,000 warm requests fails. Cold requests are coalesced per process."""
    plates = [f"ABC1D{number:02}" for number in range(50)]
    warm = [Ask(path_of("decode", plate), HEADER) for plate in plates]
    with RedisProcess() as redis:
        settings = (
            managed(upstream.url)
            | PATIENT
            | {
                "PORTAL_REDIS_URL": redis.url,
                "PORTAL_SECRET_KEY": "a secret that portals share",
            }
        )
        with PortalProcess(settings, workers=WORKERS) as server:
            server.wait_for_workers()
            for _ in range(5):  # new connections, so that every process gets every plate
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
            wait_until(lambda: "Redis is back" in server.output, "Redis's return", timeout_s=30)
            again = in_turn(server.port, warm * 4, clients=16)
            assert {answer.status for answer in again} == {200}
            # The purge could not reach Redis, but each worker dropped the plate anyway.
            purged = upstream.count(path_of("decode", "ABC1D00"))
            assert purged <= 1 + WORKERS
            assert upstream.count() - purged < len(plates) + WORKERS
