"""The breaker's states, by a clock that stands still: closed, open, half-open with one probe."""

import threading

import pytest

from portal.upstream import Breaker, CircuitOpen, Failing, LocalFailure, Response, TimedOut
from portal.upstream.circuit import (
    COOLDOWN_S,
    FAILURES_TO_OPEN,
    LONGEST_PAUSE_S,
)
from tests.fakes import wait_until
from tests.upstream.lookups import Notes, resource
from tests.upstream.scripted_origin import Played, ask, fail, opened


def test_it_opens_after_failures_of_distinct_vehicles_and_asks_no_more(breaker, played):
    fail(breaker, played, FAILURES_TO_OPEN - 1)
    assert breaker.state == "closed"
    fail(breaker, played, 1, first=90)
    assert breaker.state == "open"
    with pytest.raises(CircuitOpen) as caught:
        ask(breaker)
    assert 0 < caught.value.retry_after_s <= COOLDOWN_S
    assert played.calls == FAILURES_TO_OPEN


def test_one_poisoned_record_asked_for_again_and_again_opens_nothing(breaker, played):
    played.next = Failing(500)
    for _ in range(10 * FAILURES_TO_OPEN):
        with pytest.raises(Failing):
            ask(breaker)
    assert breaker.state == "closed"


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 418])
def test_an_answer_between_failures_counts_them_from_nothing(breaker, played, status):
    """4xx is an answer: whoever asks nonsense must not cut off everybody else."""
    fail(breaker, played, FAILURES_TO_OPEN - 1)
    played.next = Response(status, b"{}", "primary")
    ask(breaker)
    fail(breaker, played, FAILURES_TO_OPEN - 1, first=50)
    assert breaker.state == "closed"


def test_after_the_cool_down_one_probe_goes_and_the_rest_are_refused(breaker, played, clock):
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    assert breaker.state == "half-open"
    inside, go = threading.Event(), threading.Event()

    def hang(*_):
        played.calls += 1
        inside.set()
        go.wait(20)
        return Response(200, b"{}", "primary")

    played.send = hang
    probe = threading.Thread(target=ask, args=(breaker,))
    probe.start()
    assert inside.wait(20)
    for _ in range(5):
        with pytest.raises(CircuitOpen):
            ask(breaker)
    go.set()
    probe.join(20)
    assert played.calls == 1
    assert breaker.state == "closed"


def test_a_failed_probe_opens_it_for_another_cool_down(breaker, played, clock):
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    fail(breaker, played, 1)
    assert breaker.state == "open"
    clock.advance(COOLDOWN_S - 0.1)
    with pytest.raises(CircuitOpen):
        ask(breaker)


def _fail_once(breaker: Breaker) -> None:
    with pytest.raises(Failing):
        ask(breaker, "XYZ9Z99")


def test_the_cool_down_counts_from_the_last_failure(breaker, played, clock):
    """64 calls that hang end one by one: while they do, nobody new is sent after them."""
    hanging = threading.Event()

    def late(asked, account, deadline):
        hanging.wait(20)
        raise Failing(500)

    played.send, quick = late, played.send
    straggler = threading.Thread(target=_fail_once, args=(breaker,))
    straggler.start()
    wait_until(lambda: bool(breaker._in_flight), "a call in flight")
    played.send = quick
    opened(breaker, played)
    clock.advance(COOLDOWN_S - 1)
    hanging.set()
    straggler.join(20)
    clock.advance(2)
    assert breaker.state == "open"
    clock.advance(COOLDOWN_S)
    assert breaker.state == "half-open"


def test_a_probe_that_its_account_refused_leaves_the_turn_to_the_next(breaker, played, clock):
    """A limit that is spent says nothing about the origin."""
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    played.next = RuntimeError("limit")
    with pytest.raises(RuntimeError):
        ask(breaker)
    played.next = Response(200, b"{}", "primary")
    ask(breaker)
    assert breaker.state == "closed"


def test_an_answer_to_a_call_from_before_does_not_close_an_open_circuit(breaker, played):
    inside, go = threading.Event(), threading.Event()

    def late(*_):
        inside.set()
        go.wait(20)
        return Response(200, b"{}", "primary")

    usual, played.send = played.send, late
    early = threading.Thread(target=ask, args=(breaker,))
    early.start()
    assert inside.wait(20)
    played.send = usual
    opened(breaker, played)
    go.set()
    early.join(20)
    assert breaker.state == "open"


@pytest.mark.parametrize(("wished", "pause"), [(7.0, 7.0), (3600.0, LONGEST_PAUSE_S), (None, 1.0)])
def test_429_pauses_up_to_its_wish_and_at_most_a_minute(breaker, played, clock, wished, pause):
    played.next = Response(429, b"{}", "primary", retry_after_s=wished)
    assert ask(breaker).status == 429
    with pytest.raises(CircuitOpen) as caught:
        ask(breaker)
    assert caught.value.retry_after_s == pytest.approx(pause)
    clock.advance(pause)
    played.next = Response(200, b"{}", "primary")
    assert ask(breaker).status == 200
    assert played.calls == 2


def test_calls_run_side_by_side(breaker, played):
    """A breaker that held its lock in the call would serialise the portal."""
    together = threading.Barrier(4, timeout=20)

    def meet(*_):
        together.wait()
        return Response(200, b"{}", "primary")

    played.send = meet
    threads = [threading.Thread(target=ask, args=(breaker,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not together.broken


def test_the_first_time_out_speaks_for_all_that_wait_as_long(breaker, played, clock):
    """64 calls on an origin that hangs: after the first time-out nobody new is sent there."""
    count, go = 6, threading.Event()
    inside = threading.Semaphore(0)

    def hang(asked, account, deadline):
        played.calls += 1
        inside.release()
        if asked.subject != "ABC1D00":
            go.wait(20)
        else:
            for _ in range(count - 1):
                assert inside.acquire(timeout=20)
            clock.advance(8)
        raise TimedOut("slow")

    played.send = hang
    threads = [
        threading.Thread(target=_ask_in_vain, args=(breaker, f"ABC1D{number:02}"))
        for number in range(1, count)
    ]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert inside.acquire(timeout=20)
    inside.release(len(threads))
    _ask_in_vain(breaker, "ABC1D00")
    assert breaker.state == "open"
    go.set()
    for thread in threads:
        thread.join(20)
    assert played.calls == count


def _ask_in_vain(breaker: Breaker, plate: str) -> None:
    with pytest.raises(TimedOut):
        ask(breaker, plate)


@pytest.mark.parametrize(("answered_after_s", "state"), [(1, "open"), (3, "closed")])
def test_a_slow_record_beside_answers_speaks_for_itself_alone(
    breaker, played, clock, answered_after_s, state
):
    """Answers just after it left are those of an origin that fell silent; later ones are not."""
    waiting = [(clock(), f"ABC1D{number:02}") for number in range(10)]
    breaker._in_flight.update(enumerate(waiting, 100))

    def slow(asked, account, deadline):
        breaker._last_answer_at = clock() + answered_after_s
        clock.advance(8)
        raise TimedOut("slow")

    played.send = slow
    _ask_in_vain(breaker, "DEF4G56")
    assert breaker.state == state


def test_a_call_that_was_written_down_while_the_circuit_opened_is_not_sent(breaker):
    """The ledger takes a moment; in it five others may have failed."""
    sent = []

    class Sending(Played):
        def send(self, asked, account, deadline):
            if isinstance(self.next, Exception):
                return super().send(asked, account, deadline)
            account.announce("primary")
            sent.append(asked)
            return self.next

    sending = Sending()
    breaker._origin = sending

    class Opening(Notes):
        def announce(self, origin):
            sending.next = Failing(500)
            fail(breaker, sending, FAILURES_TO_OPEN)
            return super().announce(origin)

    notes = Opening()
    with pytest.raises(CircuitOpen):
        breaker.send(resource(), notes, 0.0)
    assert sent == []
    assert notes.outcomes == ["circuit_open"]


def test_local_failures_open_no_circuit(breaker, played):
    played.next = LocalFailure("EMFILE")
    for number in range(10 * FAILURES_TO_OPEN):
        with pytest.raises(LocalFailure):
            ask(breaker, f"ABC1D{number:02}")
    assert breaker.state == "closed"


def test_a_probe_that_met_a_local_failure_leaves_the_circuit_and_the_turn(breaker, played, clock):
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    played.next = LocalFailure("EMFILE")
    with pytest.raises(LocalFailure):
        ask(breaker)
    assert breaker.state == "half-open"
    played.next = Response(200, b"{}", "primary")
    ask(breaker)
    assert breaker.state == "closed"
