"""A low limit of threads: bursts queue, no worker dies, and no paid answer is lost."""

import os
import shutil
import sys
import uuid
from collections import Counter
from contextlib import closing

import pytest

from tests.fakes import FaultUpstream, faults
from tests.fakes.answers import path_of
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Ask, one, together

HEADER = {"Authorization": PORTAL_TOKEN}


class ThreadLimitedPortal(PortalProcess):
    """A portal of a user of its own, with a limit of that user's threads.

    The kernel exempts root from the limit. The user may read and write every file.
    """

    preloaded = False

    def __init__(self, upstream: FaultUpstream, threads: int, workers: int = 2) -> None:
        if os.geteuid() != 0 or not (shutil.which("setpriv") and shutil.which("prlimit")):
            pytest.skip("only root on Linux can start a portal as another user")
        super().__init__(managed(upstream.url) | PATIENT, workers)
        user = str(100_000 + uuid.uuid4().int % 100_000)
        self.command = [
            *("setpriv", "--reuid", user, "--regid", user, "--clear-groups"),
            *("--inh-caps", "+dac_override", "--ambient-caps", "+dac_override"),
            *("prlimit", f"--nproc={threads}:{threads}", sys.executable, "app.py"),
        ]


def test_burst_beyond_the_thread_limit_is_answered(upstream: FaultUpstream) -> None:
    upstream.default(faults.slow_first_byte(0.2))
    with ThreadLimitedPortal(upstream, 512) as server:
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


def test_limit_too_low_for_the_workers_ends_the_start_with_one_line(
    upstream: FaultUpstream,
) -> None:
    with closing(ThreadLimitedPortal(upstream, 60)) as server:
        with pytest.raises(AssertionError, match="ended with 1:"):
            server.start()
        assert server.output.count("\n") == 1, server.output
        assert server.output.startswith("dossie-veicular: cannot start: 59 more threads are")
