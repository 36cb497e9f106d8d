"""What is told by calls that only wait: believed at once, and taken back with the first answer."""

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

WAITING = [f"ABC1D{number:02}" for number in range(FAILURES_TO_OPEN - 1)]
POISONED = "BAD1A00"
LATER = [f"XYZ9Z{number:02}" for number in range(FAILURES_TO_OPEN)]


class Slow:
    """An origin whose calls end when the test says so, and how."""

    def __init__(self) -> None:
        self.ends: dict[str, UpstreamError | Response] = {}
        self.turn = threading.Condition()
        self.asked: list[str] = []

    def send(self, asked, account, deadline):
        with self.turn:
            self.asked.append(asked.subject)
            self.turn.notify_all()
            assert self.turn.wait_for(lambda: asked.subject in self.ends, 20)
            end = self.ends[asked.subject]
        if isinstance(end, UpstreamError):
            raise end
        return end


class Street:
    """Calls under way through breakers that may share their cells."""

    def __init__(self, origin: Slow) -> None:
        self.origin = origin
        self.threads: dict[str, threading.Thread] = {}

    def leave(self, breaker: Breaker, *plates: str) -> None:
        for plate in plates:
            self.threads[plate] = threading.Thread(target=_ask_quietly, args=(breaker, plate))
            self.threads[plate].start()
            wait_until(lambda plate=plate: plate in self.origin.asked, "the call")

    def end(self, plate: str, how: UpstreamError | Response | None = None) -> None:
        with self.origin.turn:
            self.origin.ends[plate] = how or Response(200, b"{}", "primary")
            self.origin.turn.notify_all()
        self.threads.pop(plate).join(20)


def _ask_quietly(breaker: Breaker, plate: str) -> None:
    with contextlib.suppress(UpstreamError):
        ask(breaker, plate)


@pytest.fixture
def street() -> Iterator[Street]:
    made = Street(Slow())
    yield made
    for plate in list(made.threads):
        made.end(plate)


@pytest.fixture
def pair(tmp_path, clock, street) -> tuple[Breaker, Breaker]:
    """Two worker processes around one origin, which one poisoned record has just opened:
    it hung for 8 s, and beside it waited, in the first, as many as it takes."""
    one, other = (
        Breaker(street.origin, "primary", clock, SharedCounters(COUNTERS, tmp_path / "cells"))
        for _ in range(2)
    )
    street.leave(one, POISONED)
    clock.advance(3)
    street.leave(one, *WAITING)
    clock.advance(1.5)
    street.leave(one, *LATER)  # too late to tell anything
    clock.advance(3.5)
    street.end(POISONED, TimedOut("slow"))
    assert (one.state, other.state) == ("open", "open")
    return one, other


def test_an_answer_to_a_call_that_told_of_an_outage_by_waiting_takes_it_back(pair, street, clock):
    """A slow origin with one poisoned record would be cut off from everybody."""
    clock.advance(2)
    street.end(WAITING[0])
    assert [each.state for each in pair] == ["closed", "closed"]
    street.leave(pair[1], "NEW1A00")


def test_what_was_taken_back_counts_for_nothing_afterwards(pair, street):
    street.end(WAITING[0])
    for plate in LATER[:-1]:
        street.end(plate, Failing(500))
    assert [each.state for each in pair] == ["closed", "closed"]
    street.end(LATER[-1], Failing(500))
    assert [each.state for each in pair] == ["open", "open"]


def test_an_answer_to_a_call_that_told_nothing_takes_nothing_back(pair, street):
    street.end(LATER[0])
    assert pair[0].state == "open"
    street.end(WAITING[0])  # and hides nothing from the one that may
    assert pair[0].state == "closed"


def test_nothing_is_taken_back_once_enough_have_failed(pair, street):
    """The circuit would be open without what was told by waiting."""
    for plate in LATER[: FAILURES_TO_OPEN - 1]:
        street.end(plate, Failing(500))
    street.end(WAITING[0])
    street.end(WAITING[1], Response(429, b"{}", "primary"))
    assert [each.state for each in pair] == ["open", "open"]


def test_who_waits_while_it_is_open_already_told_nothing(street, clock):
    breaker = Breaker(street.origin, "primary", clock)
    street.leave(breaker, POISONED, *WAITING, *LATER)
    clock.advance(8)
    for plate in LATER:
        street.end(plate, Failing(500))
    street.end(POISONED, TimedOut("slow"))
    street.end(WAITING[0])
    assert breaker.state == "open"


def test_failures_of_another_worker_count_against_it_too(pair, street, clock, tmp_path):
    third = Breaker(street.origin, "primary", clock, SharedCounters(COUNTERS, tmp_path / "cells"))
    for number in range(FAILURES_TO_OPEN - 1):
        third._record_failure(f"ELS3A{number:02}", set(), probe=False)
    street.end(WAITING[0])
    assert pair[0].state == "open"


def test_the_failure_of_one_that_waited_takes_its_own_place(street, clock):
    """Counted twice, three vehicles would speak for five."""
    breaker = Breaker(street.origin, "primary", clock)
    street.leave(breaker, POISONED, *WAITING[:2])
    clock.advance(8)
    for plate in (POISONED, *WAITING[:2]):
        street.end(plate, TimedOut("slow"))
    assert breaker.state == "closed"
    street.leave(breaker, *LATER[:2])
    street.end(LATER[0], Failing(500))
    assert breaker.state == "closed"
    street.end(LATER[1], Failing(500))
    assert breaker.state == "open"


def test_one_answer_is_enough_when_the_others_that_waited_have_failed(pair, street):
    for plate in WAITING[:-1]:
        street.end(plate, TimedOut("slow"))
    street.end(WAITING[-1])
    assert pair[0].state == "closed"


def test_after_all_that_waited_have_failed_the_cool_down_counts_from_the_last(pair, street, clock):
    for plate in WAITING:
        clock.advance(1)
        street.end(plate, TimedOut("slow"))
    clock.advance(COOLDOWN_S - 0.1)
    assert pair[0].state == "open"
    clock.advance(0.1)
    assert pair[0].state == "half-open"


def test_once_a_probe_goes_it_alone_decides(pair, street, clock):
    clock.advance(COOLDOWN_S)
    street.leave(pair[1], "NEW1A00")
    street.end(WAITING[0])
    assert pair[0].state == "half-open"
    street.end("NEW1A00", TimedOut("slow"))
    assert pair[0].state == "open"
    street.end(WAITING[1])
    assert pair[0].state == "open"


def test_a_later_opening_is_not_taken_back_by_what_told_of_an_earlier(pair, street, played, clock):
    street.end(WAITING[0])
    pair[1]._origin = played
    opened(pair[1], played)
    street.end(WAITING[1])
    assert [each.state for each in pair] == ["open", "open"]
