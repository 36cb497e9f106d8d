"""A low limit of threads: bursts queue, no worker dies, and no paid answer is lost."""

import os
import shutil
import socket
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from portal.system.thread_limits import cgroup_directories
from tests.effort import long
from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.ports import wait_until
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import PATIENCE_S, Ask, one, together

pytestmark = pytest.mark.long

HEADER = {"Authorization": PORTAL_TOKEN}


class ThreadLimitedPortal(PortalProcess):
    """A portal with a limit of threads, which the command prefix ``launcher`` sets."""

    preloaded = False

    def __init__(self, upstream: FaultUpstream, launcher: list[str]) -> None:
        super().__init__(managed(upstream.url) | PATIENT)
        self.command = [*launcher, sys.executable, "app.py"]


Limit = Callable[[int], list[str]]


def user_limit(threads: int) -> list[str]:
    """Return a command prefix that limits the threads of a new user (``ulimit -u``).

    The kernel exempts root from the limit. The new user may read and write every file.
    """
    if os.geteuid() != 0 or not (shutil.which("setpriv") and shutil.which("prlimit")):
        pytest.skip("only root on Linux can start a portal as another user")
    user = str(100_000 + uuid.uuid4().int % 100_000)
    return [
        *("setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
        *("--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"),
        *("prlimit", f"--nproc={threads}:{threads}"),
    ]


def new_cgroup() -> Path:
    """Make a child cgroup with the pids controller, or skip the test."""
    try:
        memberships = Path("/proc/self/cgroup").read_text()
    except OSError:
        pytest.skip("no cgroups")
    own = list(cgroup_directories(memberships, Path("/sys/fs/cgroup")))
    for parent in own:
        group = parent / f"dossie-test-{uuid.uuid4().hex}"
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / "pids.max").exists():
            return group
        group.rmdir()  # ``parent`` does not enable the controller for its children
    pytest.skip("no cgroup with the pids controller can be made")


@pytest.fixture(params=["ulimit", *long("pids.max")])
def limit(request: pytest.FixtureRequest) -> Iterator[Limit]:
    """Return a function that makes a command prefix with a limit of threads."""
    if request.param == "ulimit":
        yield user_limit
        return
    group = new_cgroup()

    def pids_limit(threads: int) -> list[str]:
        (group / "pids.max").write_text(str(threads))
        return ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]

    yield pids_limit
    wait_until(lambda: not (group / "cgroup.procs").read_text(), "the end of its processes")
    group.rmdir()


@pytest.mark.long  # 700 calls; stalled bodies reach the same limit in make test
def test_burst_beyond_the_thread_limit_is_answered(upstream: FaultUpstream, limit: Limit) -> None:
    upstream.default(faults.slow_first_byte(0.2))
    with ThreadLimitedPortal(upstream, limit(512)) as server:
        workers = server.worker_pids()
        asks = [
            Ask(path_of("decode", f"{letter}BC{number // 100}D{number % 100:02}"), HEADER)
            for letter in "ABCDEFG"
            for number in range(100)
        ]
        answers = together(server.port, asks)
        assert Counter(answer.status for answer in answers) == {200: 700}
        assert upstream.count() == 700
        assert server.worker_pids() == workers
        assert one(server.port, asks[0]).status == 200
        rows = server.command_line("ledger", "--csv").stdout.splitlines()[1:]
        assert Counter("answered" in row for row in rows) == {True: 700}
        assert "a worker serves" in server.output


def test_stalled_bodies_leave_threads_for_other_requests(
    upstream: FaultUpstream, limit: Limit
) -> None:
    """The portal lets one token stall fewer bodies if a worker has few threads."""
    lines = [
        "POST /detran/v1/analytical-reports HTTP/1.1",
        *("Host: portal", f"Authorization: {PORTAL_TOKEN}", "Content-Length: 1000", "", "{"),
    ]
    with ThreadLimitedPortal(upstream, limit(150)) as server, ExitStack() as stalled:
        for _ in range(100):
            wire = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
            stalled.enter_context(wire).sendall("\r\n".join(lines).encode())
        for _ in range(20):
            assert one(server.port, Ask("/healthz")).status == 200
            assert one(server.port, Ask(path_of("decode", "ABC1D23"), HEADER)).status == 200


def test_limit_too_low_for_the_workers_ends_the_start_with_one_line(
    upstream: FaultUpstream, limit: Limit
) -> None:
    with closing(ThreadLimitedPortal(upstream, limit(60))) as server:
        with pytest.raises(AssertionError, match="ended with 1:"):
            server.start()
        assert server.output.count("\n") == 1, server.output
        assert server.output.startswith("dossie-veicular: cannot start: 59 more threads are")
