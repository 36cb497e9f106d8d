"""An origin with scripted results, and helpers that call it through a breaker."""

import pytest

from portal.upstream import Breaker, Failing, PayerBreaker, Response
from portal.upstream.circuit_state import FAILURES_TO_OPEN
from tests.upstream.lookups import RecordingAccount, resource


class ScriptedOrigin:
    """An origin that returns or raises ``next`` and counts the calls."""

    def __init__(self):
        self.next = Response(200, b"{}", "primary")
        self.calls = 0

    def send(self, requested, account, deadline):
        self.calls += 1
        if isinstance(self.next, Exception):
            raise self.next
        return self.next


def ask(breaker: Breaker | PayerBreaker, plate: str = "ABC1D23", payer: str | None = None):
    return breaker.send(resource(plate=plate, payer=payer), RecordingAccount(), 0.0)


def fail(
    breaker: Breaker | PayerBreaker,
    scripted: ScriptedOrigin,
    times: int,
    first: int = 0,
    payer: str | None = None,
) -> None:
    scripted.next = Failing(500)
    for number in range(first, first + times):
        with pytest.raises(Failing):
            ask(breaker, f"ABC1D{number:02}", payer)


def opened(breaker: Breaker, scripted: ScriptedOrigin) -> Breaker:
    fail(breaker, scripted, FAILURES_TO_OPEN)
    assert breaker.state == "open"
    scripted.calls = 0
    return breaker
