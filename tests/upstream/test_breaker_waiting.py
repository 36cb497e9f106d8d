"""Provisional failures: calls in flight at a time-out, withdrawn by an answer."""

import contextlib
import threading
from collections.abc import Iterator

import pytest

from portal.upstream import (
    COUNTERS,
    Breaker,
    Failing,
    Response,
    SharedCounters,
    TimedOut,
    UpstreamError,
)
from portal.upstream.circuit import COOLDOWN_S, FAILURES_TO_OPEN
from tests.fakes import wait_until
from tests.upstream.scripted_origin import ask, opened

PROVISIONAL = [f"ABC1D{number:02}" for number in range(FAILURES_TO_OPEN - 1)]
POISONED = "BAD1A00"
LATER = [f"XYZ9Z{number:02}" for number in range(FAILURES_TO_OPEN)]


class ControlledOrigin:
    """An origin whose calls end when and how the test decides."""

    def __init__(self) -> None:
        self.results: dict[str, UpstreamError | Response] = {}
        self.condition = threading.Condition()
        self.received: list[str] = []

    def send(self, requested, account, deadline):
        with self.condition:
            self.received.append(requested.subject)
            self.condition.notify_all()
            assert self.condition.wait_for(lambda: requested.subject in self.results, 20)
            finish = self.results[requested.subject]
        if isinstance(finish, UpstreamError):
            raise finish
        return finish


class CallsInFlight:
    """Calls in flight through breakers that may share their counters."""

    def __init__(self, origin: ControlledOrigin) -> None:
        self.origin = origin
        self.threads: dict[str, threading.Thread] = {}

    def start(self, breaker: Breaker, *plates: str) -> None:
        for plate in plates:
            self.threads[plate] = threading.Thread(target=_ask_quietly, args=(breaker, plate))
            self.threads[plate].start()
            wait_until(lambda plate=plate: plate in self.origin.received, "the call")

    def finish(self, plate: str, result: UpstreamError | Response | None = None) -> None:
        with self.origin.condition:
            self.origin.results[plate] = result or Response(200, b"{}", "primary")
            self.origin.condition.notify_all()
        self.threads.pop(plate).join(20)


def _ask_quietly(breaker: Breaker, plate: str) -> None:
    with contextlib.suppress(UpstreamError):
        ask(breaker, plate)


@pytest.fixture
def calls() -> Iterator[CallsInFlight]:
    made = CallsInFlight(ControlledOrigin())
    yield made
    for plate in list(made.threads):
        made.finish(plate)


@pytest.fixture
def pair(tmp_path, clock, calls) -> tuple[Breaker, Breaker]:
    """Breakers of two worker processes, opened by one time-out.

    The call for POISONED timed out after 8 s. The calls for PROVISIONAL, in flight for 5 s in the
    first process, count as the other failures.
    """
    one, other = (
        Breaker(calls.origin, "primary", clock, SharedCounters(COUNTERS, tmp_path / "cells"))
        for _ in range(2)
    )
    calls.start(one, POISONED)
    clock.advance(3)
    calls.start(one, *PROVISIONAL)
    clock.advance(1.5)
    calls.start(one, *LATER)  # too late to count as provisional failures
    clock.advance(3.5)
    calls.finish(POISONED, TimedOut("slow"))
    assert (one.state, other.state) == ("open", "open")
    return one, other


def test_answer_to_provisional_failure_closes_circuit(pair, calls, clock):
    """Otherwise one faulty record would open the circuit of a slow origin."""
    clock.advance(2)
    calls.finish(PROVISIONAL[0])
    assert [each.state for each in pair] == ["closed", "closed"]
    calls.start(pair[1], "NEW1A00")


def test_withdrawn_failures_are_not_counted_later(pair, calls):
    calls.finish(PROVISIONAL[0])
    for plate in LATER[:-1]:
        calls.finish(plate, Failing(500))
    assert [each.state for each in pair] == ["closed", "closed"]
    calls.finish(LATER[-1], Failing(500))
    assert [each.state for each in pair] == ["open", "open"]


def test_answer_to_other_call_withdraws_nothing(pair, calls):
    calls.finish(LATER[0])
    assert pair[0].state == "open"
    calls.finish(PROVISIONAL[0])  # a provisional failure still withdraws
    assert pair[0].state == "closed"


def test_enough_real_failures_prevent_withdrawal(pair, calls):
    """The circuit would be open without the provisional failures too."""
    for plate in LATER[: FAILURES_TO_OPEN - 1]:
        calls.finish(plate, Failing(500))
    calls.finish(PROVISIONAL[0])
    calls.finish(PROVISIONAL[1], Response(429, b"{}", "primary"))
    assert [each.state for each in pair] == ["open", "open"]


def test_open_circuit_counts_no_provisional_failures(calls, clock):
    breaker = Breaker(calls.origin, "primary", clock)
    calls.start(breaker, POISONED, *PROVISIONAL, *LATER)
    clock.advance(8)
    for plate in LATER:
        calls.finish(plate, Failing(500))
    calls.finish(POISONED, TimedOut("slow"))
    calls.finish(PROVISIONAL[0])
    assert breaker.state == "open"


def test_failures_of_another_worker_prevent_withdrawal(pair, calls, clock, tmp_path):
    third = Breaker(calls.origin, "primary", clock, SharedCounters(COUNTERS, tmp_path / "cells"))
    for number in range(FAILURES_TO_OPEN - 1):
        third._record_failure(f"ELS3A{number:02}", set(), probe=False)
    calls.finish(PROVISIONAL[0])
    assert pair[0].state == "open"


def test_real_failure_replaces_its_provisional_failure(calls, clock):
    """Counted twice, three vehicles would count as five."""
    breaker = Breaker(calls.origin, "primary", clock)
    calls.start(breaker, POISONED, *PROVISIONAL[:2])
    clock.advance(8)
    for plate in (POISONED, *PROVISIONAL[:2]):
        calls.finish(plate, TimedOut("slow"))
    assert breaker.state == "closed"
    calls.start(breaker, *LATER[:2])
    calls.finish(LATER[0], Failing(500))
    assert breaker.state == "closed"
    calls.finish(LATER[1], Failing(500))
    assert breaker.state == "open"


def test_last_provisional_failure_can_be_withdrawn(pair, calls):
    for plate in PROVISIONAL[:-1]:
        calls.finish(plate, TimedOut("slow"))
    calls.finish(PROVISIONAL[-1])
    assert pair[0].state == "closed"


def test_cooldown_starts_when_last_provisional_call_fails(pair, calls, clock):
    for plate in PROVISIONAL:
        clock.advance(1)
        calls.finish(plate, TimedOut("slow"))
    clock.advance(COOLDOWN_S - 0.1)
    assert pair[0].state == "open"
    clock.advance(0.1)
    assert pair[0].state == "half-open"


def test_probe_in_flight_prevents_withdrawal(pair, calls, clock):
    clock.advance(COOLDOWN_S)
    calls.start(pair[1], "NEW1A00")
    calls.finish(PROVISIONAL[0])
    assert pair[0].state == "half-open"
    calls.finish("NEW1A00", TimedOut("slow"))
    assert pair[0].state == "open"
    calls.finish(PROVISIONAL[1])
    assert pair[0].state == "open"


def test_earlier_provisional_failure_keeps_later_opening(pair, calls, scripted, clock):
    calls.finish(PROVISIONAL[0])
    pair[1]._origin = scripted
    opened(pair[1], scripted)
    calls.finish(PROVISIONAL[1])
    assert [each.state for each in pair] == ["open", "open"]
