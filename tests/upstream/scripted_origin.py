"""A breaker's origin that plays what it is told, and the ways tests ask through it."""

import pytest

from portal.upstream import Breaker, Failing, PayerBreaker, Response
from portal.upstream.circuit import FAILURES_TO_OPEN
from tests.upstream.lookups import Notes, resource


class Played:
    """An origin that gives what it is told, and counts."""

    def __init__(self):
        self.next = Response(200, b"{}", "primary")
        self.calls = 0

    def send(self, asked, account, deadline):
        self.calls += 1
        if isinstance(self.next, Exception):
            raise self.next
        return self.next


def ask(breaker: Breaker | PayerBreaker, plate: str = "ABC1D23", payer: str | None = None):
    return breaker.send(resource(plate=plate, payer=payer), Notes(), 0.0)


def fail(
    breaker: Breaker | PayerBreaker,
    played: Played,
    times: int,
    first: int = 0,
    payer: str | None = None,
) -> None:
    played.next = Failing(500)
    for number in range(first, first + times):
        with pytest.raises(Failing):
            ask(breaker, f"ABC1D{number:02}", payer)


def opened(breaker: Breaker, played: Played) -> Breaker:
    fail(breaker, played, FAILURES_TO_OPEN)
    assert breaker.state == "open"
    played.calls = 0
    return breaker
