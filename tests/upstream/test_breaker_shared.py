"""Worker processes share a breaker's state: they open, pause and probe as one."""

import pytest

from portal.upstream import COUNTERS, Breaker, CircuitOpen, Response, SharedCounters
from portal.upstream.circuit import (
    COOLDOWN_S,
    FAILURES_TO_OPEN,
)
from tests.upstream.scripted_origin import ask, fail, opened

LONGEST_CALL_S = 125.0  # a deadline may be ten minutes


@pytest.fixture
def pair(tmp_path, clock, played) -> tuple[Breaker, Breaker]:
    """The breakers that two worker processes would have around one origin."""
    one, other = (SharedCounters(COUNTERS, tmp_path / "breakers" / "primary") for _ in range(2))
    return (
        Breaker(played, "primary", clock, one, LONGEST_CALL_S),
        Breaker(played, "primary", clock, other, LONGEST_CALL_S),
    )


def test_worker_processes_open_as_one_and_probe_as_one(pair, played, clock):
    one, other = pair
    fail(one, played, 2)
    fail(other, played, FAILURES_TO_OPEN - 2, first=50)
    assert (one.state, other.state) == ("open", "open")
    clock.advance(COOLDOWN_S)
    played.calls = 0

    def ask_beside(*_):
        played.calls += 1
        with pytest.raises(CircuitOpen):
            ask(other)
        return Response(200, b"{}", "primary")

    played.send = ask_beside
    ask(one)
    assert played.calls == 1
    assert (one.state, other.state) == ("closed", "closed")


def test_a_pause_asked_of_one_worker_is_kept_by_all(pair, played, clock):
    one, other = pair
    played.next = Response(429, b"{}", "primary", retry_after_s=9.0)
    ask(one)
    with pytest.raises(CircuitOpen):
        ask(other)


def test_a_probe_that_was_killed_does_not_keep_the_circuit_open_for_ever(pair, played, clock):
    one, other = pair
    opened(one, played)
    clock.advance(COOLDOWN_S)
    assert one._admit() is True  # and then its process dies
    clock.advance(LONGEST_CALL_S - 0.1)
    with pytest.raises(CircuitOpen):
        ask(other)
    clock.advance(0.2)
    played.next = Response(200, b"{}", "primary")
    assert ask(other).status == 200
    assert other.state == "closed"


def test_times_left_by_an_earlier_boot_close_nothing(tmp_path, played, clock):
    """The monotonic clock starts anew with the machine."""
    cells = SharedCounters(COUNTERS, tmp_path / "cells")
    for index in range(3):
        cells[index] = clock() + 10_000
    assert Breaker(played, "primary", clock, cells).state == "closed"
    assert ask(Breaker(played, "primary", clock, cells)).status == 200
