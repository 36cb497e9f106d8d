"""Errors of an upstream call, classified by what the call may have cost.

docs/contract.md, "Charge classes", gives the reasons.

    UpstreamError
    ├── NotSent        refused, DNS, connect, TLS: no byte of the request was sent, a retry is free
    │   ├── CircuitOpen    not attempted: the circuit cools down, or the origin asked for a pause
    │   └── LocalFailure   this machine has no descriptor, thread, memory or time left
    ├── Uncertain      sent, no complete answer: it may have been charged
    │   ├── TimedOut       slower than its limit or the deadline
    │   ├── Broken         reset or closed before an answer
    │   └── Failing        an answer of 5xx
    └── Unusable       answered and charged, but invalid: malformed, cut, of another plate

Messages name the kind of failure only, because an exception text of the HTTP library contains
the URL, and the URL contains the plate.
"""


class UpstreamError(Exception):
    """Base class. ``outcome`` is the value recorded in the ledger and the metrics."""

    outcome = "error"


class NotSent(UpstreamError):
    outcome = "not_sent"


class CircuitOpen(NotSent):
    outcome = "circuit_open"

    def __init__(self, retry_after_s: float) -> None:
        super().__init__("circuit open")
        self.retry_after_s = retry_after_s


class LocalFailure(NotSent):
    """This machine could not send the request.

    Breakers do not count it, because it gives no information about the origin. Failover does not
    try the other base address, because the same resource would be missing there.
    """


class Uncertain(UpstreamError):
    outcome = "maybe"


class TimedOut(Uncertain):
    outcome = "timed_out"


class Broken(Uncertain):
    outcome = "broken"


class Failing(Uncertain):
    outcome = "failing"

    def __init__(self, status: int) -> None:
        super().__init__(f"status {status}")
        self.status = status


class Unusable(UpstreamError):
    outcome = "unusable"
