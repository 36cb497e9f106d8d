"""A portal raises a low limit of open files, or answers excess lookups with 503."""

import json
import resource
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from tests.fakes import FaultUpstream, faults, wait_until
from tests.fakes.answers import path_of
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, PRICED, managed
from tests.fakes.processes import PortalProcess
from tests.outages.crowd import Answer, Ask, one, together

pytestmark = pytest.mark.long

HEADER = {"Authorization": PORTAL_TOKEN}
USUAL_LIMIT = 1024
CLIENTS = 250


# Runs app.py with other soft and hard limits of open files.
PROGRAM = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_NOFILE, tuple(map(int, sys.argv[1:])))
runpy.run_path("app.py", run_name="__main__")
"""


class LimitedPortal(PortalProcess):
    """A portal with one worker and limits of open files."""

    def __init__(self, upstream: FaultUpstream, soft: int, hard: int | None = None) -> None:
        super().__init__(managed(upstream.url) | PRICED | PATIENT, workers=1)
        program = self.directory / "limited.py"
        program.write_text(PROGRAM)
        hard = soft if hard is None else hard
        self.command = [sys.executable, str(program), str(soft), str(hard)]

    @property
    def warnings(self) -> list[str]:
        lines = [json.loads(line) for line in self.output.splitlines() if line.startswith("{")]
        return [line["message"] for line in lines if line["level"] == "warning"]


@contextmanager
def limited(upstream: FaultUpstream, soft: int, hard: int | None = None) -> Iterator[LimitedPortal]:
    here = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if here != resource.RLIM_INFINITY and here < 8 * USUAL_LIMIT:
        pytest.skip("the hard limit is low here as well")
    with LimitedPortal(upstream, soft, hard) as running:
        yield running


def asks(letter: str) -> list[Ask]:
    """Return ``CLIENTS`` lookups of different vehicles."""
    plates = [f"{letter}BC{number // 100}D{number % 100:02}" for number in range(CLIENTS)]
    return [Ask(path_of("decode", plate), HEADER) for plate in plates]


def burst(server: PortalProcess, upstream: FaultUpstream, letter: str) -> list[Answer]:
    """Send all lookups; the upstream answers once each has arrived or got a 503."""
    gate, before = threading.Event(), upstream.count()
    upstream.default(faults.held(gate))
    refused: list[Answer] = []

    def ask(each: Ask) -> Answer:
        answer = one(server.port, each)
        if answer.status == 503:
            refused.append(answer)
        return answer

    with ThreadPoolExecutor(CLIENTS) as pool:
        answers = [pool.submit(ask, each) for each in asks(letter)]
        try:
            wait_until(
                lambda: upstream.count() - before + len(refused) >= CLIENTS,
                "a call or 503 for each",
                timeout_s=100,
            )
        finally:
            gate.set()
        upstream.default(faults.good())
        return [answer.result() for answer in answers]


def expect_healthy(server: PortalProcess, upstream: FaultUpstream) -> None:
    assert one(server.port, Ask(path_of("decode", "ZZZ9Z99"), HEADER)).status == 200
    assert 'portal_breaker_state{base="primary",state="closed"} 1.0' in server.get("/metrics").text
    rows = server.command_line("ledger", "--csv").stdout.splitlines()
    assert len(rows) - 1 == upstream.count()


def test_low_hard_limit_rejects_excess_lookups_before_the_call(upstream: FaultUpstream) -> None:
    with limited(upstream, USUAL_LIMIT) as server:
        (warning,) = server.warnings
        assert warning.startswith(f"{USUAL_LIMIT} open files are allowed (ulimit -n)")
        for letter in "AB":  # the second burst has the same capacity as the first
            before = upstream.count()
            answers = burst(server, upstream, letter)
            statuses = Counter(answer.status for answer in answers)
            assert set(statuses) == {200, 503}
            assert statuses[200] == upstream.count() - before
            assert statuses[200] > CLIENTS / 2
            waits = {answer.headers["retry-after"] for answer in answers if answer.status == 503}
            assert waits == {"1"}
            expect_healthy(server, upstream)


def test_low_soft_limit_is_raised(upstream: FaultUpstream) -> None:
    with limited(upstream, USUAL_LIMIT, 8 * USUAL_LIMIT) as server:
        answers = burst(server, upstream, "A")
        assert Counter(answer.status for answer in answers) == {200: CLIENTS}
        expect_healthy(server, upstream)
        # On a busy machine the portal may close ledger rows late and warn of that.
        assert not [each for each in server.warnings if "open files" in each]


def test_hits_are_served_while_lookups_hang_at_a_low_limit(upstream: FaultUpstream) -> None:
    with limited(upstream, USUAL_LIMIT) as server:
        stored = Ask(path_of("decode", "ZZZ9Z99"), HEADER)
        assert one(server.port, stored).status == 200
        gate = threading.Event()
        upstream.default(faults.held(gate))
        with ThreadPoolExecutor(1) as pool:
            hanging = pool.submit(together, server.port, asks("A"))
            try:
                upstream.wait_for_calls(CLIENTS // 2)
                assert one(server.port, stored).status == 200
            finally:
                gate.set()
            hanging.result()


def test_limit_too_low_for_a_worker_ends_the_start_with_one_line(upstream: FaultUpstream) -> None:
    with closing(LimitedPortal(upstream, 128)) as server:
        with pytest.raises(AssertionError, match="ended with 1:"):
            server.start()
        line = "cannot start: 128 open files are allowed (ulimit -n), 252 are needed"
        assert server.output == f"dossie-veicular: {line}\n"


def test_lowest_limit_serves_and_refuses_excess_lookups(upstream: FaultUpstream) -> None:
    with limited(upstream, 256) as server:
        answers = together(server.port, asks("A")[:60])
        statuses = Counter(answer.status for answer in answers)
        assert statuses[200] == upstream.count() > 0
        assert set(statuses) <= {0, 200, 503}  # 0: a connection beyond the limit
        expect_healthy(server, upstream)
