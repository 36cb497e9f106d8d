"""An address that hangs for an hour while the other one answers, at a few lookups an hour."""

import time
from pathlib import Path

import pytest

from portal.system.shared_counters import SharedCounters
from portal.upstream.breaker import COOLDOWN_S, COUNTERS, LONGEST_REST_S, Breaker
from portal.upstream.errors import CircuitOpen, Failing, NotSent, TimedOut, UpstreamError
from portal.upstream.failover import Failover
from portal.upstream.protocol import Response
from tests.fakes import Clock
from tests.upstream.lookups import RecordingAccount, resource
from tests.upstream.scripted_origin import ScriptedOrigin

HOUR_S = 3600.0
FIRST_BYTE_TIMEOUT_S = 8.0
GOOD = Response(200, b"{}", "secondary")


class Pair:
    """Two base addresses with circuit breakers, for one worker or for two that take turns."""

    def __init__(self, clock: Clock, folder: Path | None = None) -> None:
        self.clock = clock
        self.primary, self.secondary = ScriptedOrigin(), ScriptedOrigin()
        origins = {"primary": self.primary, "secondary": self.secondary}
        self.breakers = [
            {
                name: Breaker(
                    each, name, clock, SharedCounters(COUNTERS, folder / name) if folder else None
                )
                for name, each in origins.items()
            }
            for _ in range(2 if folder else 1)
        ]
        self.failovers = [Failover(list(each.values())) for each in self.breakers]
        self.asked = 0

    def hang(self, *_: object) -> Response:
        self.primary.calls += 1
        self.clock.advance(FIRST_BYTE_TIMEOUT_S)
        raise TimedOut("no byte")

    def ask(self, payer: str | None = None, method: str = "decode") -> Response | UpstreamError:
        """Look up another vehicle, in turn in each worker."""
        self.asked += 1
        failover = self.failovers[self.asked % len(self.failovers)]
        plate = f"ABC{self.asked // 100 % 10}D{self.asked % 100:02}"
        try:
            return failover.send(
                resource(method, plate, payer=payer), RecordingAccount(), time.monotonic() + 60
            )
        except UpstreamError as error:
            return error

    @property
    def calls(self) -> int:
        return self.primary.calls + self.secondary.calls


@pytest.fixture(params=["one worker", "two workers"])
def pair(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> Pair:
    return Pair(clock, tmp_path if request.param == "two workers" else None)


@pytest.mark.parametrize("payer", [None, "credential"])
@pytest.mark.parametrize(("every_s", "most"), [(7.0, 1.25), (60.0, 1.4)])
def test_an_hour_of_a_hanging_primary_costs_few_second_calls(
    pair: Pair, clock: Clock, every_s: float, most: float, payer: str | None
) -> None:
    pair.primary.handler = pair.hang
    pair.secondary.next = GOOD
    start = clock()
    for number in range(int(HOUR_S / every_s)):
        clock.advance(max(0.0, start + number * every_s - clock()))
        assert pair.ask(payer) == GOOD
    assert pair.calls / pair.asked <= most


@pytest.mark.parametrize("payer", [None, "credential"])
def test_rest_doubles_up_to_its_longest_and_an_answer_resets_it(
    pair: Pair, clock: Clock, payer: str | None
) -> None:
    def rests() -> list[int]:
        """Return the seconds between the calls that the primary gets, to 1 s."""
        found, last, waited = [], clock(), 0.0
        while waited < 1300:
            before = pair.primary.calls
            pair.ask(payer)
            if pair.primary.calls > before:
                found.append(round(clock() - last))
                last = clock()
            clock.advance(1)
            waited += 1
        return found

    pair.primary.next = Failing(503)
    expected = [0, 1, 1, 1, 1, 5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert rests() == expected
    pair.primary.next = Response(200, b"{}", "primary")
    clock.advance(LONGEST_REST_S)
    pair.ask(payer)
    assert pair.ask(payer) == pair.primary.next
    pair.primary.next = Failing(503)
    assert rests() == expected


@pytest.mark.parametrize("payer", [None, "credential"])
@pytest.mark.parametrize("secondary", [NotSent("refused"), Failing(500)], ids=repr)
def test_resting_address_is_asked_after_the_cool_down_if_no_other_one_answers(
    pair: Pair, clock: Clock, secondary: UpstreamError, payer: str | None
) -> None:
    _rest(pair, clock, payer)
    pair.secondary.next, before = secondary, pair.primary.calls
    pair.primary.next = Response(200, b"{}", "primary")
    assert pair.ask(payer) == pair.primary.next
    assert pair.primary.calls == before + 1


def test_callers_wait_for_the_cool_down_if_no_address_can_be_asked(
    pair: Pair, clock: Clock
) -> None:
    _rest(pair, clock, None)
    pair.secondary.next = NotSent("refused")
    for _ in range(8):
        pair.ask()
    refused = pair.ask()
    assert isinstance(refused, CircuitOpen)
    assert 0 < refused.retry_after_s <= COOLDOWN_S
    clock.advance(COOLDOWN_S)
    pair.primary.next = Response(200, b"{}", "primary")
    assert pair.ask() == pair.primary.next


def test_sole_address_never_rests(clock: Clock) -> None:
    scripted = ScriptedOrigin()
    sole = Failover([Breaker(scripted, "primary", clock)])
    scripted.next = Failing(503)
    for number in range(60):
        clock.advance(COOLDOWN_S)
        with pytest.raises(Failing):
            asked = resource(plate=f"ABC1D{number:02}")
            sole.send(asked, RecordingAccount(), time.monotonic() + 60)
    assert scripted.calls == 60


def test_credential_with_a_resting_address_makes_no_other_one_wait(
    pair: Pair, clock: Clock
) -> None:
    _rest(pair, clock, "first")
    pair.primary.next, before = Response(200, b"{}", "primary"), pair.primary.calls
    assert pair.ask("first") == GOOD
    assert pair.ask("second") == pair.primary.next
    assert pair.primary.calls == before + 1


def test_report_is_not_sent_to_a_resting_address_after_a_sent_call(
    pair: Pair, clock: Clock
) -> None:
    _rest(pair, clock, None)
    pair.secondary.next, before = Failing(500), pair.primary.calls
    assert isinstance(pair.ask(method="report"), Failing)
    assert pair.primary.calls == before


def test_vehicles_that_fail_at_both_addresses_open_only_one_circuit(
    pair: Pair, clock: Clock
) -> None:
    """Each of them may be the cause of its failures, so other vehicles are still answered."""
    pair.primary.next = pair.secondary.next = Failing(500)
    for _ in range(8):
        assert isinstance(pair.ask(), Failing)
        if pair.primary.calls >= 5:
            break
    pair.secondary.next = GOOD
    assert pair.ask() == GOOD


def test_addresses_that_refuse_connections_open_both_circuits(pair: Pair, clock: Clock) -> None:
    pair.primary.next = pair.secondary.next = NotSent("refused")
    for _ in range(5):
        pair.ask()
    assert isinstance(pair.ask(), CircuitOpen)
    assert (pair.primary.calls, pair.secondary.calls) == (5, 5)


def _rest(pair: Pair, clock: Clock, payer: str | None) -> None:
    """Let the primary fail until it rests for longer than the cool-down, and let that end."""
    pair.primary.next, pair.secondary.next = Failing(503), GOOD
    for _ in range(5):
        pair.ask(payer)
    for _ in range(3):  # the rest grows to 40 s
        clock.advance(COOLDOWN_S * 8)
        pair.ask(payer)
    clock.advance(COOLDOWN_S + 1)
    before = pair.primary.calls
    assert pair.ask(payer) == GOOD
    assert pair.primary.calls == before
