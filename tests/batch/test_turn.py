"""The lock with which the threads of a batch take turns to compute."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from portal.batch import turn
from portal.batch.turn import Turn
from tests.fakes import FaultUpstream, faults
from tests.fakes.in_process import PATIENT, PORTAL_TOKEN, built, managed


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a thread wait for its turn longer than the test takes."""
    monkeypatch.setattr(turn, "PATIENCE_S", 30.0)


@pytest.mark.usefixtures("patient")
def test_second_thread_computes_after_the_first() -> None:
    order: list[str] = []
    shared = Turn()
    has_begun = threading.Event()

    def second() -> None:
        has_begun.set()
        with shared.taken():
            order.append("second")

    with shared.taken():
        thread = started(second)
        assert has_begun.wait(10)
        thread.join(0.05)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


@pytest.mark.usefixtures("patient")
def test_turn_is_free_while_its_thread_waits() -> None:
    order: list[str] = []
    shared = Turn()

    def second() -> None:
        with shared.taken():
            order.append("second")

    with shared.taken():
        with shared.given_up():
            started(second).join(10)
        order.append("first")
    assert order == ["second", "first"]


def test_thread_goes_on_without_a_turn_that_does_not_come() -> None:
    """The thread that has the turn may wait for this thread's answer."""
    shared = Turn()
    has_answer = threading.Event()

    def second() -> None:
        with shared.taken():
            has_answer.set()

    with shared.taken():
        thread = started(second)
        assert has_answer.wait(10)
    thread.join(10)


@pytest.mark.usefixtures("patient")
def test_thread_without_the_turn_gives_up_nothing() -> None:
    shared = Turn()
    is_second = threading.Event()

    def second() -> None:
        with shared.given_up(), shared.taken():
            is_second.set()

    with shared.taken():
        thread = started(second)
        assert not is_second.wait(0.1)
    thread.join(10)
    assert is_second.is_set()


@pytest.mark.usefixtures("patient")
def test_turn_is_free_after_an_error() -> None:
    shared = Turn()
    with pytest.raises(ZeroDivisionError), shared.taken(), shared.given_up():
        raise ZeroDivisionError
    is_second = threading.Event()

    def second() -> None:
        with shared.taken():
            is_second.set()

    started(second).join(10)
    assert is_second.is_set()


def test_thread_that_missed_its_turn_gets_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    shared = Turn()
    order: list[str] = []
    has_missed, is_free, is_waiting = threading.Event(), threading.Event(), threading.Event()

    def late() -> None:
        with shared.taken():
            has_missed.set()
            with shared.given_up():
                assert is_free.wait(10)
            is_waiting.set()
            time.sleep(0.05)
            order.append("late")

    with shared.taken():
        thread = started(late)
        assert has_missed.wait(10)
    monkeypatch.setattr(turn, "PATIENCE_S", 30.0)
    is_free.set()
    assert is_waiting.wait(10)
    with shared.taken():
        order.append("next")
    thread.join(10)
    assert order == ["late", "next"]


@pytest.mark.usefixtures("patient")
def test_lookups_of_a_batch_wait_for_the_upstream_together(
    upstream: FaultUpstream, tmp_path: Path
) -> None:
    """A lookup releases the turn while it waits for the upstream."""
    gate = threading.Event()
    upstream.default(faults.held(gate))
    wanted = {"plates": ["AAA0A01", "AAA0A02", "AAA0A03"], "ask": ["decode"]}
    headers = {"Authorization": PORTAL_TOKEN}
    with built(tmp_path, managed(upstream.url) | PATIENT) as portal:
        made = portal.client.post("/api/v1/batches", json=wanted, headers=headers).get_json()
        path = f"/api/v1/batches/{made['id']}"
        assert portal.client.post(f"{path}/start", json={}, headers=headers).status_code < 300
        portal.parts.batch_runner.tick()
        try:
            upstream.wait_for_calls(3, timeout_s=20)
        finally:
            gate.set()
            portal.parts.batch_runner.stop()
