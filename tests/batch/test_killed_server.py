"""A batch on a slow upstream with failures, while its servers are killed twice.

Lookups in progress at a kill may be repeated, because their answers were never received.
"""

import csv
import io
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import openpyxl
import pytest

from tests.batch.engine import plates
from tests.batch.servers import AUTH, batch_of, finished, start, started
from tests.effort import FULL, long
from tests.fakes import FaultUpstream, faults
from tests.fakes.databases import PostgresProcess
from tests.fakes.in_process import managed
from tests.fakes.ports import accepts_connections, wait_until
from tests.fakes.processes import PortalProcess, RedisProcess
from tests.fakes.wire import Fault

pytestmark = [pytest.mark.slow, pytest.mark.long]

COUNT = 500 if FULL else 120
DELAY_S = 0.2 if FULL else 0.05
CONCURRENCY = 8
KILLS = 2
# Failures of single plates. 5 % of the plates fail. The failures that pause a whole batch, such as
# a 429, are in test_engine.py. A 404 is no failure here, because it is remembered for 10 minutes.
FAILURES: tuple[Fault, ...] = (
    faults.status(500),
    faults.status(410),
    faults.status(402),
    faults.closed_before_a_byte(),
    faults.reset_before_a_byte(),
    faults.hang(),
)


def settings(upstream: FaultUpstream) -> dict[str, str]:
    return managed(upstream.url) | {
        "PORTAL_PRICE_DECODE": "0.85",
        "PORTAL_BATCH_CONCURRENCY": str(CONCURRENCY),
        "PORTAL_FIRST_BYTE_TIMEOUT": "10",
        "PORTAL_DEADLINE": "20",
    }


@contextmanager
def on_sqlite(upstream: FaultUpstream) -> Iterator[list[PortalProcess]]:
    with PortalProcess(settings(upstream)) as portal:
        yield [portal]


@contextmanager
def on_redis_and_postgresql(upstream: FaultUpstream) -> Iterator[list[PortalProcess]]:
    with ExitStack() as stack:
        redis = stack.enter_context(RedisProcess())
        database = stack.enter_context(PostgresProcess())
        shared = settings(upstream) | {
            "PORTAL_REDIS_URL": redis.url,
            "PORTAL_DATABASE_URL": database.url,
            "PORTAL_SECRET_KEY": "k" * 64,
        }
        yield [stack.enter_context(PortalProcess(shared)) for _ in range(2)]


def kill(portal: PortalProcess) -> None:
    """Kill all processes of a server at once, as a power failure does."""
    os.killpg(portal.pid, signal.SIGKILL)
    portal.kill()
    wait_until(lambda: not accepts_connections(portal.port), "the end of its workers")


@pytest.mark.over_5_s("it kills servers during 120 lookups")
@pytest.mark.parametrize("arrangement", [on_sqlite, *long(on_redis_and_postgresql)])
def test_every_lookup_is_paid_once(upstream: FaultUpstream, arrangement: Any) -> None:
    texts = plates(COUNT)
    failing = texts[:: COUNT // (len(FAILURES) * max(1, COUNT // 20 // len(FAILURES)))]
    upstream.default(faults.slow_first_byte(DELAY_S))
    for number, plate in enumerate(failing):
        fault = FAILURES[number % len(FAILURES)]
        upstream.script(f"/detran/v1/decode/{plate}", faults.slow_first_byte(DELAY_S, fault))
    with arrangement(upstream) as portals:
        began_at = time.monotonic()
        batch = started(portals[0], texts)
        for number in range(KILLS):
            upstream.wait_for_calls((number + 1) * COUNT // 3, 300)
            portal = portals[number % len(portals)]
            kill(portal)
            portal.start()
        found = settled(portals[0], batch)
        elapsed_s = time.monotonic() - began_at
        ideal_s = COUNT * DELAY_S / CONCURRENCY
        # Shown by ``pytest -s``. No test asserts the ratio, because it depends on the machine.
        sys.stdout.write(
            f"\n{COUNT} plates: {elapsed_s:.1f} s, {elapsed_s / ideal_s:.2f} × ideal\n"
        )

        assert (found["state"], found["counts"]["pending"]) == ("done", 0)
        assert found["counts"]["failed"] == len(failing)
        calls = Counter(call.path.rpartition("/")[2] for call in upstream.calls)
        assert set(calls) == set(texts)
        answered = {plate: times for plate, times in calls.items() if plate not in failing}
        # Only calls in progress at a kill are repeated.
        assert sum(answered.values()) - len(answered) <= KILLS * CONCURRENCY
        assert max(answered.values()) <= 1 + KILLS
        check_ledger(portals[0], found, upstream)
        check_files(portals[-1], batch, texts, failing)

        upstream.clear()
        time.sleep(2.1)  # the gateway caches a failure for two seconds
        before = len(upstream.calls)
        start(portals[0], batch, retry=failing)
        assert settled(portals[0], batch)["counts"]["done"] == COUNT
        again = [call.path.rpartition("/")[2] for call in upstream.calls[before:]]
        assert sorted(again) == sorted(failing)
        check_files(portals[0], batch, texts, [])


def settled(portal: PortalProcess, batch: str) -> Any:
    """Return the batch at its end. If it is paused, by an outage or because the lookups that a
    kill interrupted may have been charged, resume it.
    """
    while (found := finished(portal, batch, 300))["state"] == "paused":
        assert found["reason"] in ("unreachable", "busy", "price"), found
        start(portal, batch)
    return batch_of(portal, batch)


def check_ledger(portal: PortalProcess, found: Any, upstream: FaultUpstream) -> None:
    """Check that every call has a row; only a kill may leave a row without a call."""
    lines = portal.command_line("ledger", "--csv").stdout.splitlines()
    rows = list(csv.DictReader(lines))
    assert upstream.count() <= len(rows) <= upstream.count() + KILLS * CONCURRENCY
    assert round(found["cost"]["spent"] * 100) == sum(
        round(float(row["price"]) * 100) for row in rows
    )


def check_files(portal: PortalProcess, batch: str, texts: list[str], failing: list[str]) -> None:
    def download(ending: str) -> bytes:
        response = portal.get(f"/api/v1/batches/{batch}/results.{ending}", headers=AUTH)
        assert response.status_code == 200
        return bytes(response.content)

    states = {plate: "failed" if plate in failing else "done" for plate in texts}
    rows = [json.loads(line) for line in download("jsonl").splitlines()]
    assert {row["plate"]: row["state"] for row in rows} == states
    assert [row["plate"] for row in rows] == texts
    assert all(bool(row["cause"]) == (row["state"] == "failed") for row in rows)
    assert all(row["vehicle"] for row in rows if row["state"] == "done")
    text = download("csv").decode("utf-8-sig")
    cells = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=";"))
    assert [(row["plate"], row["state"]) for row in cells] == list(states.items())
    (sheet,) = openpyxl.load_workbook(io.BytesIO(download("xlsx"))).worksheets
    found = [(row[0].value, row[1].value) for row in sheet.iter_rows(min_row=2)]
    assert found == list(states.items())
