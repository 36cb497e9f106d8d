"""Breaker of pass-through mode: failures and pauses affect one payer only."""

import threading
from pathlib import Path

import pytest

from portal.system.shared_counters import SharedCounters
from portal.upstream.breaker import (
    BYTES_PER_BREAKER,
    COOLDOWN_S,
    COUNTERS,
    FAILURES_TO_OPEN,
    LONGEST_PAUSE_S,
    SETS,
    WAYS,
    Breaker,
)
from portal.upstream.errors import (
    Broken,
    CircuitOpen,
    Failing,
    LocalFailure,
    NotSent,
    TimedOut,
    Unusable,
    UpstreamError,
)
from portal.upstream.protocol import Account, Resource, Response
from tests.fakes import Clock
from tests.upstream.lookups import RecordedAttempt, RecordingAccount, resource
from tests.upstream.scripted_origin import ScriptedOrigin, ask, fail, state_of

GOOD = Response(200, b"{}", "primary")
# Three times as many payers as the breaker has slots.
STRANGERS = [f"stranger-{number}" for number in range(3 * SETS * WAYS)]


def answered(breaker: Breaker, scripted: ScriptedOrigin, *payers: str) -> None:
    scripted.next = GOOD
    for payer in payers:
        ask(breaker, payer=payer)


def seconds_refused(breaker: Breaker, payer: str, plate: str = "ABC1D23") -> float:
    """Return the seconds for which a call is refused, or 0 for a call that was sent."""
    origin = breaker._origin
    assert isinstance(origin, ScriptedOrigin)
    calls = origin.calls
    try:
        ask(breaker, plate, payer)
    except CircuitOpen as error:
        assert origin.calls == calls
        return error.retry_after_s
    except UpstreamError:
        pass
    return 0.0


def rate_limited(retry_after_s: float | None) -> Response:
    return Response(429, b"{}", "primary", retry_after_s=retry_after_s)


@pytest.mark.parametrize(
    ("retry_after_s", "pause"), [(60.0, 60.0), (3600.0, LONGEST_PAUSE_S), (None, 1.0)]
)
def test_429_pauses_its_payer_only(
    breaker: Breaker,
    scripted: ScriptedOrigin,
    clock: Clock,
    retry_after_s: float | None,
    pause: float,
) -> None:
    scripted.next = rate_limited(retry_after_s)
    ask(breaker, payer="ana")
    scripted.next = GOOD
    assert seconds_refused(breaker, "ana") == pytest.approx(pause)
    assert ask(breaker, payer="bia").status == 200
    assert breaker.state == "closed"
    clock.advance(pause)
    assert ask(breaker, payer="ana").status == 200


@pytest.mark.parametrize(
    "failure", [Failing(500), TimedOut("slow"), Broken("cut"), Unusable("odd")]
)
def test_failures_of_one_payer_open_its_circuit_only(
    breaker: Breaker,
    scripted: ScriptedOrigin,
    clock: Clock,
    failure: UpstreamError,
) -> None:
    scripted.next = failure
    for number in range(FAILURES_TO_OPEN):
        assert seconds_refused(breaker, "ana", f"ABC1D{number:02}") == 0
    assert seconds_refused(breaker, "ana") == COOLDOWN_S
    assert breaker.state == "closed"
    answered(breaker, scripted, "bia")
    clock.advance(COOLDOWN_S)
    answered(breaker, scripted, "ana")  # the probe closes the circuit
    answered(breaker, scripted, "ana")


def test_repeated_failures_of_one_vehicle_keep_circuit_closed(
    breaker: Breaker, scripted: ScriptedOrigin
) -> None:
    scripted.next = Failing(500)
    for _ in range(10 * FAILURES_TO_OPEN):
        assert seconds_refused(breaker, "ana") == 0


def test_answer_resets_the_address_s_failure_count(
    breaker: Breaker, scripted: ScriptedOrigin
) -> None:
    plates = [f"ABC1D{number:02}" for number in range(FAILURES_TO_OPEN)]
    scripted.next = NotSent("refused")
    for plate in plates[:-1]:
        assert seconds_refused(breaker, "ana", plate) == 0
    scripted.next = Response(404, b"{}", "primary")
    ask(breaker, payer="bia")
    scripted.next = NotSent("refused")
    assert seconds_refused(breaker, "ana", plates[-1]) == 0
    assert breaker.state == "closed"


def test_failures_of_many_payers_never_open_the_address_s_circuit(
    breaker: Breaker, scripted: ScriptedOrigin
) -> None:
    """Each credential may be the cause of its failures, for example an invented one."""
    for payer in STRANGERS:
        fail(breaker, scripted, 1, payer=payer)
    assert breaker.state == "closed"
    answered(breaker, scripted, "bia")


def test_unsent_calls_open_shared_circuit(breaker: Breaker, scripted: ScriptedOrigin) -> None:
    """No credential can cause a refused connect, so one payer can open the circuit."""
    scripted.next = NotSent("refused")
    for number in range(FAILURES_TO_OPEN):
        assert breaker.state == "closed"
        assert seconds_refused(breaker, "ana", f"ABC1D{number:02}") == 0
    assert breaker.state == "open"
    assert seconds_refused(breaker, "bia") == COOLDOWN_S


def opened(breaker: Breaker, scripted: ScriptedOrigin) -> None:
    scripted.next = NotSent("refused")
    for number in range(FAILURES_TO_OPEN):
        seconds_refused(breaker, "zoe", f"ABC1D{number:02}")
    assert breaker.state == "open"


def test_failed_probe_of_one_payer_allows_probes_of_others(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    answered(breaker, scripted, "ana")
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    assert breaker.state == "half-open"
    fail(breaker, scripted, 1, payer="ana")
    assert seconds_refused(breaker, "ana") == COOLDOWN_S
    answered(breaker, scripted, "bia")
    assert state_of(breaker) == "closed"
    assert seconds_refused(breaker, "ana") == COOLDOWN_S  # because ana's own probe failed


def test_half_open_circuit_sends_one_probe_per_payer(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    inside, go = threading.Semaphore(0), threading.Event()

    def hang(*_: object) -> Response:
        inside.release()
        go.wait(20)
        return GOOD

    scripted.handler = hang
    probes = [
        threading.Thread(target=ask, args=(breaker,), kwargs={"payer": payer})
        for payer in ("ana", "bia")
    ]
    for probe in probes:
        probe.start()
    for _ in probes:
        assert inside.acquire(timeout=20)
    assert seconds_refused(breaker, "ana") > 0
    go.set()
    for probe in probes:
        probe.join(20)
    assert breaker.state == "closed"


def test_unsent_probe_reopens_shared_circuit(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    scripted.next = NotSent("refused")
    assert seconds_refused(breaker, "ana") == 0
    assert breaker.state == "open"
    clock.advance(COOLDOWN_S)
    answered(breaker, scripted, "ana")  # sent, because the earlier probe has ended


@pytest.mark.parametrize("failure", [LocalFailure("EMFILE"), RuntimeError("limit")])
def test_uncounted_probe_failure_allows_next_probe(
    breaker: Breaker,
    scripted: ScriptedOrigin,
    clock: Clock,
    failure: Exception,
) -> None:
    opened(breaker, scripted)
    clock.advance(COOLDOWN_S)
    scripted.next = failure
    with pytest.raises(type(failure)):
        ask(breaker, payer="ana")
    answered(breaker, scripted, "ana")
    assert breaker.state == "closed"


def test_new_payer_takes_the_slot_that_is_unchanged_for_longest(
    breaker: Breaker, scripted: ScriptedOrigin, clock: Clock
) -> None:
    scripted.next = rate_limited(60.0)
    ask(breaker, payer="ana")
    for payer in STRANGERS:
        clock.advance(0.001)
        scripted.next = rate_limited(60.0)
        ask(breaker, payer=payer)
    scripted.next = GOOD
    assert seconds_refused(breaker, STRANGERS[-1]) == 60.0
    assert ask(breaker, payer="ana").status == 200  # her slot was taken


def test_call_takes_no_lock(breaker: Breaker, scripted: ScriptedOrigin) -> None:
    answered(breaker, scripted, "bia")
    with breaker._counters.locked():  # a call that acquired this lock would hang
        caller = threading.Thread(target=answered, args=(breaker, scripted, "bia"), daemon=True)
        caller.start()
        caller.join(20)
        assert not caller.is_alive()


def test_call_begun_while_payer_circuit_opens_is_not_sent(
    breaker: Breaker, scripted: ScriptedOrigin
) -> None:
    sent: list[Resource] = []

    class Opening(RecordingAccount):
        def begin(self, origin: str) -> RecordedAttempt:
            fail(breaker, scripted, FAILURES_TO_OPEN, payer="ana")
            return super().begin(origin)

    def send(requested: Resource, account: Account, deadline: float) -> Response:
        scripted.handler = None
        if isinstance(account, RecordingAccount):
            raise Failing(500)
        account.begin("primary")
        sent.append(requested)
        return GOOD

    scripted.handler = send
    account = Opening()
    with pytest.raises(CircuitOpen):
        breaker.send(resource(payer="ana"), account, 0.0)
    assert sent == []
    assert account.outcomes == ["circuit_open"]


@pytest.fixture
def pair(tmp_path: Path, scripted: ScriptedOrigin, clock: Clock) -> tuple[Breaker, Breaker]:
    """The breakers of two worker processes around one origin."""
    one, other = (
        Breaker(scripted, "primary", clock, SharedCounters(COUNTERS, tmp_path / "breaker-primary"))
        for _ in range(2)
    )
    return one, other


def test_workers_share_payer_state(
    pair: tuple[Breaker, Breaker], scripted: ScriptedOrigin, clock: Clock
) -> None:
    one, other = pair
    scripted.next = rate_limited(60.0)
    ask(one, payer="ana")
    fail(one, scripted, 2, payer="bia")
    fail(other, scripted, FAILURES_TO_OPEN - 2, first=50, payer="bia")
    assert seconds_refused(other, "ana") == 60.0
    assert seconds_refused(one, "bia") == COOLDOWN_S
    answered(other, scripted, "caio")


def test_shared_file_is_preallocated_and_names_no_payer(
    pair: tuple[Breaker, Breaker], scripted: ScriptedOrigin, tmp_path: Path
) -> None:
    file = tmp_path / "breaker-primary"
    assert file.stat().st_size == BYTES_PER_BREAKER
    assert file.stat().st_blocks * 512 >= BYTES_PER_BREAKER
    fail(pair[0], scripted, 1, payer="s3cret")
    assert b"s3cret" not in file.read_bytes()
    assert file.stat().st_size == BYTES_PER_BREAKER
