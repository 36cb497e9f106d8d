"""The other base address is asked where that is safe, and nowhere else."""

import time

import pytest

from portal.upstream import (
    Breaker,
    CircuitOpen,
    Failing,
    Failover,
    LocalFailure,
    NotSent,
    Origin,
    TimedOut,
    UpstreamError,
)
from tests.fakes import faults, refused_url
from tests.fakes.matrix import BROKEN, REFUSED, Row
from tests.upstream.asking import Notes, resource, soon
from tests.upstream.playing import Played


def both(primary_url: str, secondary_url: str, first_byte_s: float = 15.0) -> Failover:
    return Failover(
        [
            Breaker(Origin(name, url, 15.0, first_byte_s), name, time.monotonic)
            for name, url in (("primary", primary_url), ("secondary", secondary_url))
        ]
    )


@pytest.mark.parametrize("row", BROKEN, ids=str)
def test_a_get_that_may_have_been_charged_asks_the_other_address_once(upstream, secondary, row):
    upstream.once("/", row.fault)
    notes = Notes()
    response = both(upstream.url, secondary.url).send(resource(), notes, soon(30))
    assert (response.status, response.origin) == (200, "secondary")
    assert (upstream.count(), secondary.count()) == (1, 1)
    assert [origin for origin, _, _ in notes.sends] == ["primary", "secondary"]


@pytest.mark.parametrize("row", [row for row in BROKEN if "report" in row.operations], ids=str)
def test_a_report_that_may_have_been_charged_is_never_ordered_twice(upstream, secondary, row: Row):
    upstream.once("/", row.fault)
    with pytest.raises(UpstreamError):
        both(upstream.url, secondary.url).send(resource("report"), Notes(), soon(30))
    assert (upstream.count(), secondary.count()) == (1, 0)


@pytest.mark.parametrize("operation", ["decode", "report"])
def test_what_never_left_is_asked_of_the_other_address(secondary, operation):
    notes = Notes()
    response = both(refused_url(), secondary.url).send(resource(operation), notes, soon(30))
    assert response.origin == "secondary"
    assert notes.outcomes == ["not_sent", "answered"]


@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_an_answer_ends_the_search(upstream, secondary, row: Row):
    upstream.default(row.fault)
    response = both(upstream.url, secondary.url).send(resource(), Notes(), soon(30))
    assert response.origin == "primary"
    assert secondary.count() == 0


def test_the_secondary_keeps_the_same_deadline(upstream, secondary):
    """One deadline for all attempts together, not one each."""
    upstream.default(faults.hang())
    secondary.default(faults.hang())
    started = time.monotonic()
    with pytest.raises(TimedOut):
        both(upstream.url, secondary.url, 1).send(resource(), Notes(), soon(6))
    assert time.monotonic() - started < 20
    assert (upstream.count(), secondary.count()) == (1, 1)


def test_a_deadline_spent_on_the_primary_leaves_nothing_for_the_secondary(upstream, secondary):
    upstream.default(faults.hang())
    with pytest.raises(TimedOut):
        both(upstream.url, secondary.url, 15).send(resource(), Notes(), soon(0.5))
    assert secondary.count() == 0


def test_both_closed_is_told_at_once_and_free(clock):
    refused = both(refused_url(), refused_url())
    for number in range(5):
        with pytest.raises(NotSent):
            refused.send(resource(plate=f"ABC1D2{number}"), Notes(), soon(30))
    notes = Notes()
    with pytest.raises(CircuitOpen) as caught:
        refused.send(resource(), notes, soon(30))
    assert 0 < caught.value.retry_after_s <= 5
    assert notes.announced == 0


def test_what_came_closest_to_an_answer_is_what_is_told(upstream):
    """A time-out and a refusal: the caller hears of the time-out."""
    upstream.default(faults.hang())
    with pytest.raises(TimedOut):
        both(upstream.url, refused_url(), 0.2).send(resource(), Notes(), soon(30))


def test_the_other_address_is_spared_while_the_first_answers(upstream, secondary):
    asked = both(upstream.url, secondary.url)
    for number in range(10):
        asked.send(resource(plate=f"ABC1D2{number}"), Notes(), soon(30))
    assert (upstream.count(), secondary.count()) == (10, 0)


def test_flapping_costs_at_most_a_quarter_more(upstream, secondary):
    """Every fourth call of the primary fails: calls a miss stay at 1.25."""
    fault, good = faults.status(500), faults.good()
    upstream.script("/", *[good, good, good, fault] * 10)
    asked = both(upstream.url, secondary.url)
    for number in range(40):
        assert asked.send(resource(plate=f"ABC1D{number:02}"), Notes(), soon(30)).status == 200
    assert upstream.count() + secondary.count() <= 50


class _Spent(Exception):
    """The account has no more to give."""


class _OneSend(Notes):
    def announce(self, origin: str):
        if self.announced:
            raise _Spent
        return super().announce(origin)


def test_a_refusal_of_the_second_send_does_not_hide_that_the_first_was_charged(upstream, secondary):
    """Otherwise the failure would be nobody's, and everybody would pay for it in turn."""
    upstream.default(faults.status(500))
    with pytest.raises(Failing):
        both(upstream.url, secondary.url).send(resource(), _OneSend(), soon(30))
    assert (upstream.count(), secondary.count()) == (1, 0)


def test_a_refusal_of_the_first_send_is_the_accounts_own(upstream, secondary):
    nothing_left = _OneSend()
    nothing_left.announced = 1
    with pytest.raises(_Spent):
        both(upstream.url, secondary.url).send(resource(), nothing_left, soon(30))
    assert upstream.count() == 0


def test_a_local_failure_spares_the_other_address():
    """It would meet the same lack, and a descriptor that is free again belongs to a database."""
    primary, other = Played(), Played()
    primary.next = LocalFailure("EMFILE")
    with pytest.raises(LocalFailure):
        Failover([primary, other]).send(resource(), Notes(), soon(30))
    assert other.calls == 0


def test_a_local_failure_at_the_other_address_does_not_hide_that_the_first_was_asked():
    primary, other = Played(), Played()
    primary.next, other.next = TimedOut("slow"), LocalFailure("EMFILE")
    with pytest.raises(TimedOut):
        Failover([primary, other]).send(resource(), Notes(), soon(30))


def test_a_deadline_that_passed_before_the_send_opens_no_circuit(upstream):
    """A ledger that waits for a lock may take all of a lookup's time."""
    asked = both(upstream.url, upstream.url)
    for number in range(10):
        with pytest.raises(LocalFailure):
            asked.send(resource(plate=f"ABC1D{number:02}"), Notes(), soon(-1))
    assert asked.send(resource(), Notes(), soon(30)).status == 200
    assert upstream.count() == 1
