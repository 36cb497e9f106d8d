"""Where there are as many workers as processors, each keeps to one, and so does its replacement."""

import contextlib
import os

import pytest

from tests.fakes import wait_until
from tests.fakes.processes import PortalProcess

if not hasattr(os, "sched_getaffinity"):
    pytest.skip("only Linux places processes", allow_module_level=True)


def processors_of(server: PortalProcess) -> list[list[int]]:
    places = []
    for pid in server.worker_pids():
        with contextlib.suppress(ProcessLookupError):
            places.append(sorted(os.sched_getaffinity(pid)))
    return sorted(places)


def test_each_worker_has_a_processor_of_its_own_a_replaced_one_too() -> None:
    available = sorted(os.sched_getaffinity(0))
    each_its_own = [[processor] for processor in available]
    with PortalProcess(workers=len(available)) as server:
        wait_until(lambda: processors_of(server) == each_its_own, "workers to settle")
        server.kill_worker()
        wait_until(lambda: processors_of(server) == each_its_own, "the replacement to settle")
        assert server.get("/healthz").status_code == 200
    assert sorted(os.sched_getaffinity(0)) == available


def test_more_workers_than_processors_run_anywhere() -> None:
    available = sorted(os.sched_getaffinity(0))
    workers = len(available) + 1
    with PortalProcess(workers=workers) as server:
        wait_until(lambda: len(server.worker_pids()) == workers, "all workers")
        assert server.get("/healthz").status_code == 200
        assert processors_of(server) == [available] * workers
