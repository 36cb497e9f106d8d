"""States of the breaker, with a manual clock: closed, open, half-open."""

import threading

import pytest

from portal.upstream.breaker import (
    COOLDOWN_S,
    FAILURES_TO_OPEN,
    LONGEST_PAUSE_S,
    Breaker,
)
from portal.upstream.errors import CircuitOpen, Failing, LocalFailure
from portal.upstream.protocol import Account, Resource, Response
from tests.fakes import Clock
from tests.upstream.lookups import RecordedAttempt, RecordingAccount, resource
from tests.upstream.scripted_origin import ScriptedOrigin, ask, fail, opened, state_of


def test_failures_of_distinct_vehicles_open_circuit(
    breaker: Breaker, scripted: ScriptedOrigin
) -> None:
    fail(breaker, scripted, FAILURES_TO_OPEN - 1)
    assert breaker.state == "closed"
    fail(breaker, scripted, 1, first=90)
    assert state_of(breaker) == "open"
    with pytest.raises(CircuitOpen) as caught:
        ask(breaker)
    assert 0 < caught.value.retry_after_s <= COOLDOWN_S
    assert scripted.calls == FAILURES_TO_OPEN


def test_repeated_failures_of_one_vehicle_keep_circuit_closed(
    breaker: Breaker, scripted: ScriptedOrigin
) -> None:
    scripted.next = Failing(500)
    for _ in range(10 * FAILURES_TO_OPEN):
        with pytest.raises(Failing):
            ask(breaker)
    assert breaker.state == "closed"


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 418])
def test_answer_resets_failure_count(
    breaker: Breaker, scripted: ScriptedOrigin, status: int
) -> None:
    """A 4xx is an answer too, so invalid requests cannot open the circuit."""
    fail(breaker, scripted, FAILURES_TO_OPEN - 1)
    scripted.next = Response(status, b"{}", "primary")
    ask(breaker)
    fail(breaker, scripted, FAILURES_TO_OPEN - 1, first=50)
    assert breaker.state == "closed"


def test_half_open_circuit_sends_a_single_probe(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    assert breaker.state == "half-open"
    inside, go = threading.Event(), threading.Event()

    def hang(*_: object) -> Response:
        scripted.calls += 1
        inside.set()
        go.wait(20)
        return Response(200, b"{}", "primary")

    scripted.handler = hang
    probe = threading.Thread(target=ask, args=(breaker,))
    probe.start()
    assert inside.wait(20)
    for _ in range(5):
        with pytest.raises(CircuitOpen):
            ask(breaker)
    go.set()
    probe.join(20)
    assert scripted.calls == 1
    assert state_of(breaker) == "closed"


def test_failed_probe_restarts_cooldown(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    fail(breaker, scripted, 1)
    assert breaker.state == "open"
    clock.advance(COOLDOWN_S - 0.1)
    with pytest.raises(CircuitOpen):
        ask(breaker)


def _fail_once(breaker: Breaker) -> None:
    with pytest.raises(Failing):
        ask(breaker, "XYZ9Z99")


def test_cooldown_starts_at_last_failure(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    """Hanging calls fail one after another. Each failure restarts the cooldown."""
    sent, hanging = threading.Event(), threading.Event()

    def late(*_: object) -> Response:
        sent.set()
        hanging.wait(20)
        raise Failing(500)

    scripted.handler = late
    straggler = threading.Thread(target=_fail_once, args=(breaker,))
    straggler.start()
    assert sent.wait(20)
    scripted.handler = None
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S - 1)
    hanging.set()
    straggler.join(20)
    clock.advance(2)
    assert breaker.state == "open"
    clock.advance(COOLDOWN_S)
    assert state_of(breaker) == "half-open"


def test_probe_refused_by_account_allows_next_probe(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    """A call that the caller's limit stops says nothing about the origin."""
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    scripted.next = RuntimeError("limit")
    with pytest.raises(RuntimeError):
        ask(breaker)
    scripted.next = Response(200, b"{}", "primary")
    ask(breaker)
    assert breaker.state == "closed"


def test_answer_to_earlier_call_keeps_circuit_open(
    breaker: Breaker, scripted: ScriptedOrigin
) -> None:
    inside, go = threading.Event(), threading.Event()

    def late(*_: object) -> Response:
        inside.set()
        go.wait(20)
        return Response(200, b"{}", "primary")

    scripted.handler = late
    early = threading.Thread(target=ask, args=(breaker,))
    early.start()
    assert inside.wait(20)
    scripted.handler = None
    opened(breaker, scripted)
    go.set()
    early.join(20)
    assert breaker.state == "open"


@pytest.mark.parametrize(
    ("retry_after_s", "pause"), [(7.0, 7.0), (3600.0, LONGEST_PAUSE_S), (None, 1.0)]
)
def test_429_pauses_for_retry_after_up_to_limit(
    breaker: Breaker,
    scripted: ScriptedOrigin,
    clock: Clock,
    retry_after_s: float | None,
    pause: float,
) -> None:
    scripted.next = Response(429, b"{}", "primary", retry_after_s=retry_after_s)
    assert ask(breaker).status == 429
    with pytest.raises(CircuitOpen) as caught:
        ask(breaker)
    assert caught.value.retry_after_s == pytest.approx(pause)
    clock.advance(pause)
    scripted.next = Response(200, b"{}", "primary")
    assert ask(breaker).status == 200
    assert scripted.calls == 2


def test_breaker_does_not_serialise_calls(breaker: Breaker, scripted: ScriptedOrigin) -> None:
    """A breaker that held its lock during a call would serialise all calls."""
    together = threading.Barrier(4, timeout=20)

    def meet(*_: object) -> Response:
        together.wait()
        return Response(200, b"{}", "primary")

    scripted.handler = meet
    threads = [threading.Thread(target=ask, args=(breaker,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not together.broken


def test_call_begun_while_circuit_opens_is_not_sent(clock: Clock) -> None:
    """While the ledger writes the call's row, five other calls may fail."""
    sent: list[Resource] = []

    class Sending(ScriptedOrigin):
        def send(self, resource: Resource, account: Account, deadline: float) -> Response:
            if isinstance(self.next, Exception):
                return super().send(resource, account, deadline)
            account.begin("primary")
            sent.append(resource)
            return self.next

    sending = Sending()
    breaker = Breaker(sending, "primary", clock)

    class Opening(RecordingAccount):
        def begin(self, origin: str) -> RecordedAttempt:
            sending.next = Failing(500)
            fail(breaker, sending, FAILURES_TO_OPEN)
            return super().begin(origin)

    account = Opening()
    with pytest.raises(CircuitOpen):
        breaker.send(resource(), account, 0.0)
    assert sent == []
    assert account.outcomes == ["circuit_open"]


def test_local_failures_keep_circuit_closed(breaker: Breaker, scripted: ScriptedOrigin) -> None:
    scripted.next = LocalFailure("EMFILE")
    for number in range(10 * FAILURES_TO_OPEN):
        with pytest.raises(LocalFailure):
            ask(breaker, f"ABC1D{number:02}")
    assert breaker.state == "closed"


def test_local_failure_of_probe_allows_next_probe(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    scripted.next = LocalFailure("EMFILE")
    with pytest.raises(LocalFailure):
        ask(breaker)
    assert breaker.state == "half-open"
    scripted.next = Response(200, b"{}", "primary")
    ask(breaker)
    assert state_of(breaker) == "closed"


def test_wait_ends_with_the_cooldown_or_the_pause(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    assert breaker.wait_s == 0
    scripted.next = Response(429, b"{}", "primary", retry_after_s=30)
    ask(breaker)
    assert breaker.wait_s == pytest.approx(30)
    clock.advance(31)
    assert breaker.wait_s == 0
    opened(breaker, scripted)
    assert breaker.wait_s == pytest.approx(COOLDOWN_S)
    clock.advance(COOLDOWN_S)
    assert (breaker.state, breaker.wait_s) == ("half-open", 0)
