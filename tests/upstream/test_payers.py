"""Pass-through mode: one payer's failures and pauses stop that payer, and none of the others."""

import threading
from pathlib import Path

import pytest

from portal.upstream import (
    BYTES_PER_BREAKER,
    PAYER_COUNTERS,
    Broken,
    CircuitOpen,
    Failing,
    LocalFailure,
    NotSent,
    PayerBreaker,
    Response,
    SharedCounters,
    TimedOut,
    Unusable,
    UpstreamError,
)
from portal.upstream.circuit import COOLDOWN_S, FAILURES_TO_OPEN, LONGEST_PAUSE_S
from portal.upstream.payers import PROVEN_S, SETS, WAYS
from tests.fakes import Clock
from tests.upstream.lookups import Notes, resource
from tests.upstream.scripted_origin import Played, ask, fail

PAYERS = [f"payer-{number}" for number in range(FAILURES_TO_OPEN)]
GOOD = Response(200, b"{}", "primary")
# Far more than the table holds.
STRANGERS = [f"stranger-{number}" for number in range(3 * SETS * WAYS)]


@pytest.fixture
def breaker(played: Played, clock: Clock) -> PayerBreaker:
    return PayerBreaker(played, "primary", clock)


def prove(breaker: PayerBreaker, played: Played, *payers: str) -> None:
    played.next = GOOD
    for payer in payers:
        ask(breaker, payer=payer)


def refused(breaker: PayerBreaker, payer: str, plate: str = "ABC1D23") -> float:
    """Seconds until the payer may ask again; 0 where it may ask now, which does not happen."""
    calls = breaker._origin.calls
    try:
        ask(breaker, plate, payer)
    except CircuitOpen as error:
        assert breaker._origin.calls == calls
        return error.retry_after_s
    except UpstreamError:
        pass
    return 0.0


def limited(retry_after_s: float | None) -> Response:
    return Response(429, b"{}", "primary", retry_after_s=retry_after_s)


@pytest.mark.parametrize(
    ("wished", "pause"), [(60.0, 60.0), (3600.0, LONGEST_PAUSE_S), (None, 1.0)]
)
def test_a_429_pauses_its_payer_alone(breaker, played, clock, wished, pause):
    played.next = limited(wished)
    ask(breaker, payer="ana")
    played.next = GOOD
    assert refused(breaker, "ana") == pytest.approx(pause)
    assert ask(breaker, payer="bia").status == 200
    assert breaker.state == "closed"
    clock.advance(pause)
    assert ask(breaker, payer="ana").status == 200


@pytest.mark.parametrize(
    "failure", [Failing(500), TimedOut("slow"), Broken("cut"), Unusable("odd")]
)
@pytest.mark.parametrize("proven", [True, False])
def test_failures_of_one_payer_open_its_own_circuit_alone(breaker, played, clock, failure, proven):
    if proven:
        prove(breaker, played, "ana")
    played.next = failure
    for number in range(FAILURES_TO_OPEN):
        assert refused(breaker, "ana", f"ABC1D{number:02}") == 0
    assert refused(breaker, "ana") == COOLDOWN_S
    assert breaker.state == "closed"
    prove(breaker, played, "bia")
    clock.advance(COOLDOWN_S)
    prove(breaker, played, "ana")  # the probe
    prove(breaker, played, "ana")


def test_one_poisoned_vehicle_opens_no_circuit(breaker, played):
    played.next = Failing(500)
    for _ in range(10 * FAILURES_TO_OPEN):
        assert refused(breaker, "ana") == 0


def test_failures_of_different_proven_payers_open_the_circuit_for_all(breaker, played):
    prove(breaker, played, *PAYERS)
    for payer in PAYERS:
        assert breaker.state == "closed"
        fail(breaker, played, 1, payer=payer)
    assert breaker.state == "open"
    assert refused(breaker, "bia") == COOLDOWN_S


def test_an_answer_between_failures_of_different_payers_counts_them_from_nothing(breaker, played):
    prove(breaker, played, *PAYERS)
    for payer in PAYERS[:-1]:
        fail(breaker, played, 1, payer=payer)
    played.next = Response(404, b"{}", "primary")
    ask(breaker, payer="bia")
    fail(breaker, played, 1, payer=PAYERS[-1])
    assert breaker.state == "closed"


def test_failures_of_strangers_never_open_the_circuit_for_all(breaker, played):
    """A credential that was never answered with 200 says nothing about the origin."""
    for payer in STRANGERS:
        fail(breaker, played, 1, payer=payer)
    assert breaker.state == "closed"
    prove(breaker, played, "bia")


def test_a_payer_is_proven_for_a_time(breaker, played, clock):
    prove(breaker, played, *PAYERS)
    clock.advance(PROVEN_S + 1)
    for payer in PAYERS:
        fail(breaker, played, 1, payer=payer)
    assert breaker.state == "closed"


def test_calls_that_cannot_be_sent_open_the_circuit_for_all(breaker, played):
    """No credential can influence a refused connection: vehicles are counted, as ever."""
    played.next = NotSent("refused")
    for number in range(FAILURES_TO_OPEN):
        assert breaker.state == "closed"
        assert refused(breaker, "ana", f"ABC1D{number:02}") == 0
    assert breaker.state == "open"
    assert refused(breaker, "bia") == COOLDOWN_S


def opened(breaker: PayerBreaker, played: Played) -> None:
    played.next = NotSent("refused")
    for number in range(FAILURES_TO_OPEN):
        refused(breaker, "zoe", f"ABC1D{number:02}")
    assert breaker.state == "open"


def test_a_failing_probe_of_one_payer_does_not_keep_the_circuit_open_for_others(
    breaker, played, clock
):
    prove(breaker, played, "ana")
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    assert breaker.state == "half-open"
    fail(breaker, played, 1, payer="ana")
    assert refused(breaker, "ana") == COOLDOWN_S
    prove(breaker, played, "bia")
    assert breaker.state == "closed"
    assert refused(breaker, "ana") == COOLDOWN_S  # its own failed


def test_half_open_lets_one_probe_of_each_payer_through(breaker, played, clock):
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    inside, go = threading.Semaphore(0), threading.Event()

    def hang(*_):
        inside.release()
        go.wait(20)
        return GOOD

    played.send = hang
    probes = [
        threading.Thread(target=ask, args=(breaker,), kwargs={"payer": payer})
        for payer in ("ana", "bia")
    ]
    for probe in probes:
        probe.start()
    for _ in probes:
        assert inside.acquire(timeout=20)
    assert refused(breaker, "ana") > 0
    go.set()
    for probe in probes:
        probe.join(20)
    assert breaker.state == "closed"


def test_a_probe_that_cannot_be_sent_opens_the_circuit_again(breaker, played, clock):
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    played.next = NotSent("refused")
    assert refused(breaker, "ana") == 0
    assert breaker.state == "open"
    clock.advance(COOLDOWN_S)
    prove(breaker, played, "ana")  # its probe has ended


@pytest.mark.parametrize("failure", [LocalFailure("EMFILE"), RuntimeError("limit")])
def test_a_probe_that_says_nothing_leaves_the_turn_to_the_next(breaker, played, clock, failure):
    opened(breaker, played)
    clock.advance(COOLDOWN_S)
    played.next = failure
    with pytest.raises(type(failure)):
        ask(breaker, payer="ana")
    prove(breaker, played, "ana")
    assert breaker.state == "closed"


def test_a_thousand_strangers_take_no_state_from_a_proven_payer(breaker, played, clock):
    prove(breaker, played, "ana", "bia")
    played.next = limited(60.0)
    ask(breaker, payer="ana")
    fail(breaker, played, FAILURES_TO_OPEN, payer="bia")
    for payer in STRANGERS:
        played.next = limited(60.0)
        refused(breaker, payer)
        fail_once_quietly(breaker, played, payer)
    played.next = GOOD
    assert refused(breaker, "ana") == 60.0
    assert refused(breaker, "bia") == COOLDOWN_S
    prove(breaker, played, "caio")


def fail_once_quietly(breaker: PayerBreaker, played: Played, payer: str) -> None:
    played.next = Failing(500)
    refused(breaker, payer)


def test_of_more_payers_than_the_table_holds_each_is_still_answered(breaker, played, clock):
    prove(breaker, played, *STRANGERS)
    clock.advance(1)
    prove(breaker, played, "bia")  # takes the place of one that was proven before
    played.next = limited(60.0)
    ask(breaker, payer="bia")
    assert refused(breaker, "bia") == 60.0
    played.next = limited(60.0)
    ask(breaker, payer="new")  # and an unproven one takes nobody's
    played.next = GOOD
    assert ask(breaker, payer="new").status == 200


def test_the_usual_case_takes_no_lock(breaker, played):
    prove(breaker, played, "bia")
    with breaker._counters.locked():  # not re-entrant: a call that took it would never end
        asked = threading.Thread(target=prove, args=(breaker, played, "bia"), daemon=True)
        asked.start()
        asked.join(20)
        assert not asked.is_alive()


def test_a_call_announced_while_its_payers_circuit_opened_is_not_sent(breaker, played):
    sent = []

    class Opening(Notes):
        def announce(self, origin):
            fail(breaker, played, FAILURES_TO_OPEN, payer="ana")
            return super().announce(origin)

    def send(asked, account, deadline):
        if isinstance(account, Notes):
            raise Failing(500)
        account.announce("primary")
        sent.append(asked)

    usual = played.send

    def first(asked, account, deadline):
        played.send = usual
        return send(asked, account, deadline)

    played.send = first
    notes = Opening()
    with pytest.raises(CircuitOpen):
        breaker.send(resource(payer="ana"), notes, 0.0)
    assert sent == []
    assert notes.outcomes == ["circuit_open"]


@pytest.fixture
def pair(tmp_path: Path, played: Played, clock: Clock) -> tuple[PayerBreaker, PayerBreaker]:
    """The breakers that two worker processes would have around one origin."""
    one, other = (
        PayerBreaker(
            played, "primary", clock, SharedCounters(PAYER_COUNTERS, tmp_path / "breaker-primary")
        )
        for _ in range(2)
    )
    return one, other


def test_worker_processes_share_what_they_know_of_a_payer(pair, played, clock):
    one, other = pair
    played.next = limited(60.0)
    ask(one, payer="ana")
    fail(one, played, 2, payer="bia")
    fail(other, played, FAILURES_TO_OPEN - 2, first=50, payer="bia")
    assert refused(other, "ana") == 60.0
    assert refused(one, "bia") == COOLDOWN_S
    prove(other, played, "caio")


def test_the_shared_file_has_its_room_from_the_start_and_names_no_payer(pair, played, tmp_path):
    file = tmp_path / "breaker-primary"
    assert file.stat().st_size == BYTES_PER_BREAKER
    assert file.stat().st_blocks * 512 >= BYTES_PER_BREAKER
    fail(pair[0], played, 1, payer="s3cret")
    assert b"s3cret" not in file.read_bytes()
    assert file.stat().st_size == BYTES_PER_BREAKER
