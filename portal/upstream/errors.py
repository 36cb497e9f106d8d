"""Errors of an upstream call, classified by what the call may have cost.

The section "Charge classes" of docs/contract.md explains the classes.

    UpstreamError
    ├── NotSent
    │   ├── CircuitOpen
    │   └── LocalFailure
    ├── Uncertain
    │   ├── TimedOut
    │   ├── Broken
    │   └── Failing
    └── Unusable
        └── Unfit

An error's message names only the kind of failure. The HTTP library's own message is left out,
because it may contain the URL with a vehicle's plate.
"""

from typing import Final

# The outcome of a call that was answered. Every other call has the ``outcome`` of its error.
ANSWERED: Final = "answered"


class UpstreamError(Exception):
    """The base class of upstream errors.

    ``outcome`` is the value that the ledger and the metrics record. If ``held_back`` is true, a
    base address was not asked, because a circuit breaker or a limit refused the call.
    """

    outcome = "error"
    held_back = False


class NotSent(UpstreamError):
    """The upstream has not read any byte of the request, so a retry is free."""

    outcome = "not_sent"


class CircuitOpen(NotSent):
    """The circuit breaker is open, or the origin asked for a pause.

    If ``is_resting`` is true, the origin may be asked now if no other base address can be asked.
    """

    outcome = "circuit_open"

    def __init__(self, retry_after_s: float, *, is_resting: bool = False) -> None:
        super().__init__("circuit open")
        self.retry_after_s = retry_after_s
        self.is_resting = is_resting


class LocalFailure(NotSent):
    """This machine has no file descriptor, thread, memory or time left to send the request.

    Circuit breakers do not count a LocalFailure, because the origin did not cause it.
    """


class Uncertain(UpstreamError):
    """The request was sent. Whether the request was charged is unknown."""

    outcome = "maybe"


class TimedOut(Uncertain):
    """No complete answer arrived within the time limit."""

    outcome = "timed_out"


class Broken(Uncertain):
    """The connection was closed or reset before the first byte of the answer."""

    outcome = "broken"


class Failing(Uncertain):
    """The origin answered with a 5xx status."""

    outcome = "failing"

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class Unusable(UpstreamError):
    """The call is charged, but the answer is malformed, truncated or about another vehicle."""

    outcome = "unusable"


class Unfit(Unusable):
    """The answer is well-formed and has the contract's status, but cannot be used.

    Circuit breakers count it as an answer, because the base address works. Another base address is
    tried only if ``may_differ`` is true: its answer may be a better one.
    """

    def __init__(self, reason: str, may_differ: bool) -> None:
        super().__init__(reason)
        self.may_differ = may_differ
