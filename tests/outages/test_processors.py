"""With one worker per processor, each worker is pinned to a different processor."""

import contextlib
import os
import signal
from collections.abc import Iterator

import pytest

from tests.fakes import wait_until
from tests.fakes.processes import PortalProcess

if not hasattr(os, "sched_getaffinity"):
    pytest.skip("only Linux has processor affinity", allow_module_level=True)


@pytest.fixture
def two_processors() -> Iterator[list[int]]:
    """Restrict this process and the servers it starts to two processors."""
    available = os.sched_getaffinity(0)
    if len(available) < 2:
        pytest.skip("there is only one processor")
    chosen = sorted(available)[:2]
    os.sched_setaffinity(0, chosen)
    yield chosen
    os.sched_setaffinity(0, available)


def processors_of(server: PortalProcess) -> list[list[int]]:
    affinities = []
    for pid in server.worker_pids():
        with contextlib.suppress(ProcessLookupError):
            affinities.append(sorted(os.sched_getaffinity(pid)))
    return sorted(affinities)


def test_each_worker_is_pinned_to_its_own_processor(two_processors: list[int]) -> None:
    one_each = [[processor] for processor in two_processors]
    with PortalProcess(workers=2) as server:
        wait_until(lambda: processors_of(server) == one_each, "workers to settle")
        server.kill_worker()
        wait_until(lambda: processors_of(server) == one_each, "the replacement to settle")
        before = set(server.worker_pids())
        os.kill(server.pid, signal.SIGHUP)
        wait_until(
            lambda: len(pids := set(server.worker_pids())) == 2 and not pids & before,
            "the reload",
            timeout_s=60,
        )
        settled = [affinities for affinities in processors_of(server) if len(affinities) == 1]
        assert len({tuple(affinities) for affinities in settled}) == len(settled)
        assert server.get("/healthz").status_code == 200


def test_excess_workers_are_not_pinned(two_processors: list[int]) -> None:
    with PortalProcess(workers=3) as server:
        wait_until(lambda: len(server.worker_pids()) == 3, "all workers")
        assert server.get("/healthz").status_code == 200
        assert processors_of(server) == [two_processors] * 3
