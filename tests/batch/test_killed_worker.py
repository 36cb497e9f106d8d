"""A batch of a real server whose workers are killed during their lookups."""

import time
from collections import Counter
from typing import Any

import pytest

from tests.batch.engine import plates
from tests.batch.servers import start
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PORTAL_TOKEN, managed
from tests.fakes.ports import accepts_connections, wait_until
from tests.fakes.processes import PortalProcess

pytestmark = pytest.mark.slow

AUTH = {"Authorization": PORTAL_TOKEN}


def batch_of(portal: PortalProcess, batch: str) -> Any:
    response = portal.get(f"/api/v1/batches/{batch}", headers=AUTH)
    assert response.status_code == 200, response.text
    return response.json()


def finished(portal: PortalProcess, batch: str) -> Any:
    wait_until(lambda: batch_of(portal, batch)["state"] != "running", "the end of the batch", 120)
    return batch_of(portal, batch)


def started(portal: PortalProcess, texts: list[str]) -> str:
    body = {"plates": texts, "ask": ["decode"]}
    batch = str(portal.post("/api/v1/batches", json=body, headers=AUTH).json()["id"])
    assert portal.post(f"/api/v1/batches/{batch}/start", headers=AUTH).status_code == 200
    return batch


@pytest.mark.long  # test_killed_server.py kills all processes at once, during 120 lookups
def test_every_seventh_of_400_plates_fails_and_two_workers_are_killed(
    upstream: FaultUpstream,
) -> None:
    """Each lookup is paid for once. Only lookups in progress at a kill may repeat."""
    texts = plates(400)
    for plate in texts[::7]:
        upstream.script(f"/detran/v1/decode/{plate}", faults.status(500))
    environment = managed(upstream.url) | {
        "PORTAL_PRICE_DECODE": "0.85",
        "PORTAL_BATCH_CONCURRENCY": "8",
    }
    with PortalProcess(environment) as portal:
        batch = started(portal, texts)
        for mark in (60, 160):
            upstream.wait_for_calls(mark)
            # Without the first replacement, the second kill would leave no worker that listens.
            portal.wait_for_workers()
            portal.kill_worker()
        found = finished(portal, batch)
        assert found["state"] == "done", found
        assert found["counts"]["failed"] == 58
        assert found["counts"]["done"] == 342
        calls = [call.path for call in upstream.calls]
        assert len(set(calls)) == 400
        repeated = len(calls) - 400
        assert repeated <= 2 * 8  # at most eight lookups are in progress at each kill
        ledger = portal.command_line("ledger", "--csv").stdout.splitlines()[1:]
        # A row is written before its call, so a kill may leave rows without a call.
        assert len(calls) <= len(ledger) <= 400 + 2 * 8
        assert max(Counter(calls).values()) == 1 + bool(repeated)
        assert round(found["cost"]["spent"] * 100) == 85 * len(ledger)

        upstream.clear()
        time.sleep(2.1)  # the gateway caches a failure for two seconds
        before = len(calls)
        start(portal, batch, retry=texts[::7])
        assert finished(portal, batch)["counts"] == {
            "total": 400,
            "stored": 0,
            "done": 400,
            "failed": 0,
            "pending": 0,
        }
        again = [call.path for call in upstream.calls[before:]]
        assert sorted(again) == [f"/detran/v1/decode/{plate}" for plate in sorted(texts[::7])]
        lines = portal.get(f"/api/v1/batches/{batch}/results.jsonl", headers=AUTH).text.splitlines()
        assert len(lines) == 400


def test_batch_goes_on_after_the_whole_server_was_killed(upstream: FaultUpstream) -> None:
    texts = plates(60)
    with PortalProcess(managed(upstream.url)) as portal:
        batch = started(portal, texts)
        upstream.wait_for_calls(20)
        portal.kill()
        wait_until(lambda: not accepts_connections(portal.port), "the end of its workers")
        portal.start()
        found = finished(portal, batch)
        assert (found["state"], found["counts"]["done"]) == ("done", 60)
        calls = [call.path for call in upstream.calls]
        assert len(set(calls)) == 60
        assert len(calls) <= 60 + 8
