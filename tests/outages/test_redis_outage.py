"""Redis stops and returns under a running server: no request fails, few calls are repeated."""

import threading

import pytest

from tests.batch.servers import finished, start, started
from tests.effort import long
from tests.fakes import FaultUpstream, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.outages.crowd import Ask, in_turn, together

pytestmark = pytest.mark.long

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


@pytest.mark.over_5_s("a batch process starts, waits for Redis's time-out and goes on")
@pytest.mark.parametrize("pause", [True, *long(False)], ids=["paused", "killed"])
def test_a_batch_pays_no_stored_answer_again_while_redis_is_away(
    upstream: FaultUpstream, pause: bool
) -> None:
    """The batch waits until Redis is back. A JSON path does not wait, because its caller does."""
    plates = [f"ABC1D{number:02}" for number in range(12)]
    with RedisProcess(save="", appendonly="yes") as redis:
        settings = managed(upstream.url) | {
            "PORTAL_REDIS_URL": redis.default_url,
            "PORTAL_SECRET_KEY": "a secret that portals share",
        }
        with PortalProcess(settings, workers=1) as server:
            asks = [Ask(path_of("decode", plate), HEADER) for plate in plates]
            answers = in_turn(server.port, asks, clients=4)
            assert {answer.status for answer in answers} == {200}
            assert upstream.count() == len(plates)
            redis.pause() if pause else redis.kill()
            batch = started(server, plates)
            found = finished(server, batch)
            assert upstream.count() == len(plates)
            assert (found["state"], found["reason"]) == ("paused", "portal")
            assert server.get(path_of("decode", "DEF4G56"), headers=HEADER).status_code == 200
            redis.resume() if pause else redis.start()
            wait_until(lambda: "Redis is back" in server.output, "Redis's return", timeout_s=30)
            while found["state"] != "done":
                start(server, batch)
                found = finished(server, batch)
            assert found["counts"]["done"] == len(plates)
            assert upstream.count() == len(plates) + 1
