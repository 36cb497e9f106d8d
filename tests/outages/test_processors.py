"""Where there are as many workers as processors, each keeps to one; no two ever to the same."""

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest

from tests.fakes import wait_until
from tests.fakes.processes import PortalProcess

if not hasattr(os, "sched_getaffinity"):
    pytest.skip("only Linux places processes", allow_module_level=True)


@pytest.fixture
def two() -> Iterator[list[int]]:
    """Two processors, which is all that the servers started from here get."""
    available = os.sched_getaffinity(0)
    if len(available) < 2:
        pytest.skip("there is only one processor")
    chosen = sorted(available)[:2]
    os.sched_setaffinity(0, chosen)
    yield chosen
    os.sched_setaffinity(0, available)


def processors_of(server: PortalProcess) -> list[list[int]]:
    places = []
    for pid in server.worker_pids():
        with contextlib.suppress(ProcessLookupError):
            places.append(sorted(os.sched_getaffinity(pid)))
    return sorted(places)


def test_each_worker_has_a_processor_of_its_own(two: list[int]) -> None:
    each_its_own = [[processor] for processor in two]
    with PortalProcess(workers=2) as server:
        wait_until(lambda: processors_of(server) == each_its_own, "workers to settle")
        server.kill_worker()
        wait_until(lambda: processors_of(server) == each_its_own, "the replacement to settle")
        before = set(server.worker_pids())
        os.kill(server.pid, signal.SIGHUP)
        wait_until(
            lambda: len(pids := set(server.worker_pids())) == 2 and not pids & before,
            "the reload",
            timeout_s=60,
        )
        settled = [places for places in processors_of(server) if len(places) == 1]
        assert len({tuple(places) for places in settled}) == len(settled)
        assert server.get("/healthz").status_code == 200


def test_more_workers_than_processors_run_anywhere(two: list[int]) -> None:
    with PortalProcess(workers=3) as server:
        wait_until(lambda: len(server.worker_pids()) == 3, "all workers")
        assert server.get("/healthz").status_code == 200
        assert processors_of(server) == [two] * 3
