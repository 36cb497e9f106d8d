"""An origin with scripted results, and helpers that call it through a breaker."""

from collections.abc import Callable

import pytest

from portal.upstream.breaker import FAILURES_TO_OPEN, Breaker, State
from portal.upstream.errors import Failing
from portal.upstream.protocol import Account, Resource, Response
from tests.upstream.lookups import RecordingAccount, resource

Send = Callable[[Resource, Account, float], Response]


class ScriptedOrigin:
    """An origin that returns or raises ``next`` and counts the calls.

    If ``handler`` is set, ``handler`` handles the calls, and they are not counted.
    """

    def __init__(self) -> None:
        self.next: Response | Exception = Response(200, b"{}", "primary")
        self.handler: Send | None = None
        self.calls = 0

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        if self.handler is not None:
            return self.handler(resource, account, deadline)
        self.calls += 1
        if isinstance(self.next, Exception):
            raise self.next
        return self.next


def ask(breaker: Breaker, plate: str = "ABC1D23", payer: str | None = None) -> Response:
    return breaker.send(resource(plate=plate, payer=payer), RecordingAccount(), 0.0)


def fail(
    breaker: Breaker,
    scripted: ScriptedOrigin,
    times: int,
    first: int = 0,
    payer: str | None = None,
) -> None:
    scripted.next = Failing(500)
    for number in range(first, first + times):
        with pytest.raises(Failing):
            ask(breaker, f"ABC1D{number:02}", payer)


def state_of(breaker: Breaker) -> State:
    """Return the state. After an assert, type checkers assume a constant attribute."""
    return breaker.state


def opened(breaker: Breaker, scripted: ScriptedOrigin) -> Breaker:
    fail(breaker, scripted, FAILURES_TO_OPEN)
    assert breaker.state == "open"
    scripted.calls = 0
    return breaker
