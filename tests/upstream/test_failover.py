"""Failover to the secondary, limited to calls that are safe to send again."""

import time
from contextlib import nullcontext

import pytest

from portal.upstream.breaker import Breaker
from portal.upstream.errors import (
    Broken,
    CircuitOpen,
    Failing,
    LocalFailure,
    NotSent,
    TimedOut,
    Unfit,
    Unusable,
    UpstreamError,
)
from portal.upstream.failover import Failover
from tests.fakes import Clock, FaultUpstream, faults, refused_url
from tests.upstream.lookups import (
    RecordedAttempt,
    RecordingAccount,
    deadline_in,
    origin,
    resource,
)
from tests.upstream.scripted_origin import ScriptedOrigin


def both(primary_url: str, secondary_url: str, first_byte_s: float = 15.0) -> Failover:
    return Failover(
        [
            Breaker(origin(url, first_byte_s=first_byte_s, name=name), name, time.monotonic)
            for name, url in (("primary", primary_url), ("secondary", secondary_url))
        ]
    )


# test_origin.py shows which faults raise which of these errors.
BY_ERROR = {
    TimedOut: faults.hang(),
    Broken: faults.closed_before_a_byte(),
    Failing: faults.status(500),
    Unusable: faults.short_length(),
}


@pytest.mark.parametrize("error", BY_ERROR)
def test_uncertain_get_is_sent_to_secondary_once(
    upstream: FaultUpstream, secondary: FaultUpstream, error: type[UpstreamError]
) -> None:
    upstream.once("/", BY_ERROR[error])
    account = RecordingAccount()
    response = both(upstream.url, secondary.url, 1).send(resource(), account, deadline_in(30))
    assert (response.status, response.origin) == (200, "secondary")
    assert (upstream.count(), secondary.count()) == (1, 1)
    assert [origin for origin, _, _ in account.sends] == ["primary", "secondary"]
    assert account.outcomes == [error.outcome, "answered"]


@pytest.mark.parametrize("error", BY_ERROR)
def test_uncertain_report_is_not_sent_to_secondary(
    upstream: FaultUpstream, secondary: FaultUpstream, error: type[UpstreamError]
) -> None:
    upstream.once("/", BY_ERROR[error])
    with pytest.raises(error):
        both(upstream.url, secondary.url, 1).send(
            resource("report"), RecordingAccount(), deadline_in(30)
        )
    assert (upstream.count(), secondary.count()) == (1, 0)


@pytest.mark.parametrize("operation", ["decode", "report"])
@pytest.mark.parametrize("may_differ", [True, False])
def test_unfit_answer_is_asked_of_secondary_only_if_it_may_differ(
    operation: str, may_differ: bool
) -> None:
    primary, other = ScriptedOrigin(), ScriptedOrigin()
    primary.next = Unfit("the record of another vehicle", may_differ)
    with nullcontext() if may_differ and operation == "decode" else pytest.raises(Unfit):
        Failover([primary, other]).send(resource(operation), RecordingAccount(), deadline_in(30))
    assert (primary.calls, other.calls) == (1, int(may_differ and operation == "decode"))


@pytest.mark.parametrize("operation", ["decode", "report"])
def test_unsent_call_is_sent_to_secondary(secondary: FaultUpstream, operation: str) -> None:
    account = RecordingAccount()
    response = both(refused_url(), secondary.url).send(
        resource(operation), account, deadline_in(30)
    )
    assert response.origin == "secondary"
    assert account.outcomes == ["not_sent", "answered"]


@pytest.mark.parametrize("status", [404, 429])
def test_4xx_answer_of_primary_is_returned(
    upstream: FaultUpstream, secondary: FaultUpstream, status: int
) -> None:
    upstream.default(faults.status(status))
    response = both(upstream.url, secondary.url).send(
        resource(), RecordingAccount(), deadline_in(30)
    )
    assert response.origin == "primary"
    assert secondary.count() == 0


def test_both_attempts_share_one_deadline(
    upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    upstream.default(faults.hang())
    secondary.default(faults.hang())
    started = time.monotonic()
    with pytest.raises(TimedOut):
        both(upstream.url, secondary.url, 1).send(resource(), RecordingAccount(), deadline_in(6))
    assert time.monotonic() - started < 20
    assert (upstream.count(), secondary.count()) == (1, 1)


def test_deadline_spent_on_primary_skips_secondary(
    upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    upstream.default(faults.hang())
    with pytest.raises(TimedOut):
        both(upstream.url, secondary.url, 15).send(resource(), RecordingAccount(), deadline_in(0.5))
    assert secondary.count() == 0


def test_two_open_circuits_raise_without_announcement(clock: Clock) -> None:
    refused = both(refused_url(), refused_url())
    for number in range(5):
        with pytest.raises(NotSent):
            refused.send(resource(plate=f"ABC1D2{number}"), RecordingAccount(), deadline_in(30))
    account = RecordingAccount()
    with pytest.raises(CircuitOpen) as caught:
        refused.send(resource(), account, deadline_in(30))
    assert 0 < caught.value.retry_after_s <= 5
    assert account.begun == 0


def test_timeout_takes_precedence_over_refused_connect(upstream: FaultUpstream) -> None:
    """A time-out tells the caller more than a refused connection."""
    upstream.default(faults.hang())
    with pytest.raises(TimedOut):
        both(upstream.url, refused_url(), 0.2).send(resource(), RecordingAccount(), deadline_in(30))


def test_secondary_is_unused_while_primary_answers(
    upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    client = both(upstream.url, secondary.url)
    for number in range(10):
        client.send(resource(plate=f"ABC1D2{number}"), RecordingAccount(), deadline_in(30))
    assert (upstream.count(), secondary.count()) == (10, 0)


def test_flapping_primary_costs_at_most_a_quarter_more_calls(
    upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    """Every fourth call of the primary fails, so 40 lookups cost at most 50 calls."""
    fault, good = faults.status(500), faults.good()
    upstream.script("/", *[good, good, good, fault] * 10)
    client = both(upstream.url, secondary.url)
    for number in range(40):
        assert (
            client.send(
                resource(plate=f"ABC1D{number:02}"), RecordingAccount(), deadline_in(30)
            ).status
            == 200
        )
    assert upstream.count() + secondary.count() <= 50


class _Spent(Exception):
    """The account's limit is exhausted."""


class _OneSend(RecordingAccount):
    def begin(self, origin: str) -> RecordedAttempt:
        if self.begun:
            raise _Spent
        return super().begin(origin)


def test_refused_second_send_keeps_first_failure(
    upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    """The first send may have been charged, so its failure must be the one reported."""
    upstream.default(faults.status(500))
    with pytest.raises(Failing):
        both(upstream.url, secondary.url).send(resource(), _OneSend(), deadline_in(30))
    assert (upstream.count(), secondary.count()) == (1, 0)


def test_refused_first_send_raises_account_error(
    upstream: FaultUpstream, secondary: FaultUpstream
) -> None:
    nothing_left = _OneSend()
    nothing_left.begun = 1
    with pytest.raises(_Spent):
        both(upstream.url, secondary.url).send(resource(), nothing_left, deadline_in(30))
    assert upstream.count() == 0


def test_local_failure_skips_secondary() -> None:
    """A second call would need file descriptors too, and databases need them."""
    primary, other = ScriptedOrigin(), ScriptedOrigin()
    primary.next = LocalFailure("EMFILE")
    with pytest.raises(LocalFailure):
        Failover([primary, other]).send(resource(), RecordingAccount(), deadline_in(30))
    assert other.calls == 0


def test_local_failure_of_secondary_keeps_first_failure() -> None:
    primary, other = ScriptedOrigin(), ScriptedOrigin()
    primary.next, other.next = TimedOut("slow"), LocalFailure("EMFILE")
    with pytest.raises(TimedOut):
        Failover([primary, other]).send(resource(), RecordingAccount(), deadline_in(30))


def test_deadline_passed_before_send_keeps_circuit_closed(upstream: FaultUpstream) -> None:
    """A ledger that waits for a lock may use all of a lookup's time."""
    client = both(upstream.url, upstream.url)
    for number in range(10):
        with pytest.raises(LocalFailure):
            client.send(resource(plate=f"ABC1D{number:02}"), RecordingAccount(), deadline_in(-1))
    assert client.send(resource(), RecordingAccount(), deadline_in(30)).status == 200
    assert upstream.count() == 1
