"""The server's batch process: its start, its priority and its end."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.serving.batch_process import NICENESS
from tests.batch.engine import plates
from tests.batch.servers import AUTH, batch_of, finished, started
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import managed
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture
def portal(upstream: FaultUpstream) -> Iterator[PortalProcess]:
    with PortalProcess(managed(upstream.url)) as process:
        yield process


def test_runs_beside_the_workers_with_a_lower_priority(
    upstream: FaultUpstream, portal: PortalProcess
) -> None:
    assert portal.batch_pid() is None
    workers = set(portal.worker_pids())
    upstream.default(faults.slow_first_byte(0.2))
    batch = started(portal, plates(60))
    upstream.wait_for_calls(10)
    pid = portal.batch_pid()
    assert pid is not None
    assert set(portal.worker_pids()) == workers
    threads = Path(f"/proc/{pid}/task")
    if threads.is_dir():  # every thread of the batch process has the lower priority
        main = os.getpriority(os.PRIO_PROCESS, portal.pid)
        found = {os.getpriority(os.PRIO_PROCESS, int(each.name)) for each in threads.iterdir()}
        assert found == {min(19, main + NICENESS)}
    assert finished(portal, batch)["counts"]["done"] == 60
    assert portal.batch_pid() == pid  # the process keeps running for further batches
    # /metrics adds the batch process's counts to those of the workers.
    lines = portal.get("/metrics").text.splitlines()
    attempts = [each for each in lines if each.startswith("portal_upstream_attempts_total")]
    assert sum(float(each.rpartition(" ")[2]) for each in attempts) == 60


def test_killed_process_is_replaced_and_its_items_are_free_at_once(
    upstream: FaultUpstream, portal: PortalProcess
) -> None:
    texts = plates(60)
    upstream.default(faults.slow_first_byte(0.3))
    batch = started(portal, texts)
    upstream.wait_for_calls(10)
    first = portal.batch_pid()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert finished(portal, batch)["counts"]["done"] == 60
    assert portal.batch_pid() not in (None, first)
    assert len({call.path for call in upstream.calls}) == 60
    assert upstream.count() <= 60 + 8


def test_stop_waits_for_the_lookups_under_way(
    upstream: FaultUpstream, portal: PortalProcess
) -> None:
    upstream.default(faults.slow_first_byte(1.0))
    batch = started(portal, plates(60))
    upstream.wait_for_calls(4)
    assert portal.stop() == 0
    asked = upstream.count()
    assert asked < 60
    upstream.default(faults.good())
    portal.start()
    assert finished(portal, batch)["counts"]["done"] == 60
    assert upstream.count() == 60  # the answers of calls in progress at the stop were stored


def test_ends_after_its_lookups_if_the_main_process_is_killed(
    upstream: FaultUpstream, portal: PortalProcess
) -> None:
    upstream.default(faults.slow_first_byte(2.0))
    batch = started(portal, plates(60))
    upstream.wait_for_calls(8)
    pid = portal.batch_pid()
    assert pid is not None
    portal.kill()
    wait_until(lambda: not _lives(pid), "the end of the batch process", 30)
    asked = upstream.count()
    assert asked == 8
    upstream.default(faults.good())
    portal.start()
    assert finished(portal, batch)["counts"]["done"] == 60
    assert upstream.count() == 60
    assert batch_of(portal, batch)["state"] == "done"
    assert portal.get("/api/v1/batches", headers=AUTH).status_code == 200


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # a zombie no longer lives
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True
