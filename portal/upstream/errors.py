"""All that can go wrong while asking, by what it means for money.

    UpstreamError
    ├── NotSent        refused, DNS, connect, TLS: nothing left this machine, asking again is free
    │   └── CircuitOpen    not even tried: cooling down, or the origin asked for a pause
    ├── Uncertain      sent, no whole answer: it may have been charged
    │   ├── TimedOut       slower than its limit or the deadline
    │   ├── Broken         reset or closed before an answer
    │   └── Failing        an answer of 5xx
    └── Unusable       answered and charged, and still no answer: malformed, cut, another plate's

Messages name the kind of failure only: an exception text of the HTTP library carries the URL,
and the URL the plate.
"""


class UpstreamError(Exception):
    """Base of the tree. ``outcome`` is the word for the ledger and the metrics."""

    outcome = "error"


class NotSent(UpstreamError):
    outcome = "not_sent"


class CircuitOpen(NotSent):
    outcome = "circuit_open"

    def __init__(self, retry_after_s: float) -> None:
        super().__init__("circuit open")
        self.retry_after_s = retry_after_s


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
