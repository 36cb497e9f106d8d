"""All that can go wrong while asking, by what it means for money.

    UpstreamError
    ├── NotSent        refused, DNS, connect, TLS: nothing left this machine, asking again is free
    │   ├── CircuitOpen    not even tried: cooling down, or the origin asked for a pause
    │   └── LocalFailure   this machine has no descriptor, thread, port, memory or time left
    ├── Uncertain      sent, no whole answer: it may have been charged
    │   ├── TimedOut       slower than its limit or the deadline
    │   ├── Broken         reset or closed before an answer
    │   └── Failing        an answer of 5xx
    └── Unusable       answered and charged, and still no answer: malformed, cut, another plate's

Messages name the kind of failure only: an exception text of the HTTP library carries the URL,
and the URL the plate.
"""

import errno
import ssl


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


class LocalFailure(NotSent):
    """This machine could not send. It says nothing about the origin: no breaker counts it, and
    the other base address would meet the same lack."""


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


def kind_of(error: Exception) -> str:
    """The class of an exception and what TLS or the system calls it. Never its text, which may
    hold an address and with it a plate."""
    kind = type(error).__name__
    match error:
        case ssl.SSLCertVerificationError():
            return f"{kind}, {error.verify_message.partition(',')[0]}"
        case ssl.SSLError():
            name = getattr(error, "reason", None)  # missing where Python itself raises it
        case OSError(errno=int(number)):
            name = errno.errorcode.get(number)
        case _:
            name = None
    return f"{kind}, {name}" if name else kind
