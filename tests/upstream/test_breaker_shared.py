"""Worker processes share the state of a breaker: failures, pauses and probes."""

import threading
from pathlib import Path

import pytest

from portal.system.shared_counters import SharedCounters
from portal.upstream.breaker import (
    COOLDOWN_S,
    COUNTERS,
    FAILURES_TO_OPEN,
    Breaker,
)
from portal.upstream.errors import CircuitOpen, LocalFailure
from portal.upstream.protocol import Response
from tests.fakes import Clock
from tests.upstream.scripted_origin import ScriptedOrigin, ask, fail, opened

LONGEST_CALL_S = 125.0  # s, for deadlines that exceed the breaker's default of 20 s


@pytest.fixture
def pair(tmp_path: Path, clock: Clock, scripted: ScriptedOrigin) -> tuple[Breaker, Breaker]:
    """The breakers of two worker processes around one origin."""
    one, other = (SharedCounters(COUNTERS, tmp_path / "breakers" / "primary") for _ in range(2))
    return (
        Breaker(scripted, "primary", clock, one, LONGEST_CALL_S),
        Breaker(scripted, "primary", clock, other, LONGEST_CALL_S),
    )


def test_workers_share_failures_and_probe(
    pair: tuple[Breaker, Breaker], scripted: ScriptedOrigin, clock: Clock
) -> None:
    one, other = pair
    fail(one, scripted, 2)
    fail(other, scripted, FAILURES_TO_OPEN - 2, first=50)
    assert (one.state, other.state) == ("open", "open")
    clock.advance(COOLDOWN_S)
    scripted.calls = 0

    def ask_beside(*_: object) -> Response:
        scripted.calls += 1
        with pytest.raises(CircuitOpen):
            ask(other)
        return Response(200, b"{}", "primary")

    scripted.handler = ask_beside
    ask(one)
    assert scripted.calls == 1
    assert (one.state, other.state) == ("closed", "closed")


def test_workers_share_429_pause(
    pair: tuple[Breaker, Breaker], scripted: ScriptedOrigin, clock: Clock
) -> None:
    one, other = pair
    scripted.next = Response(429, b"{}", "primary", retry_after_s=9.0)
    ask(one)
    with pytest.raises(CircuitOpen):
        ask(other)


def test_killed_probe_expires_after_longest_call(
    pair: tuple[Breaker, Breaker], scripted: ScriptedOrigin, clock: Clock
) -> None:
    one, other = pair
    opened(one, scripted)
    clock.advance(COOLDOWN_S)
    killed, go = threading.Thread(target=_ask_quietly, args=(one,)), threading.Event()
    sent = threading.Event()

    def hang(*_: object) -> Response:
        sent.set()
        go.wait(20)
        raise LocalFailure("killed")

    scripted.handler = hang
    killed.start()
    assert sent.wait(20)
    scripted.handler = None
    clock.advance(LONGEST_CALL_S - 0.1)
    with pytest.raises(CircuitOpen):
        ask(other)
    clock.advance(0.2)
    scripted.next = Response(200, b"{}", "primary")
    assert ask(other).status == 200
    assert other.state == "closed"
    go.set()
    killed.join(20)


def _ask_quietly(breaker: Breaker) -> None:
    with pytest.raises(LocalFailure):
        ask(breaker)


def test_times_of_earlier_boot_are_ignored(
    tmp_path: Path, scripted: ScriptedOrigin, clock: Clock
) -> None:
    """The monotonic clock restarts at each boot, so earlier times are invalid."""
    cells = SharedCounters(COUNTERS, tmp_path / "cells")
    for index in range(3):
        cells.numbers[index] = clock() + 10_000
    assert Breaker(scripted, "primary", clock, cells).state == "closed"
    assert ask(Breaker(scripted, "primary", clock, cells)).status == 200
