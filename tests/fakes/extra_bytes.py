"""Faults that send extra bytes before or after an answer, or break it off.

Faults with a complete answer take ``body``, a function that returns the answer's body. By default,
the body is correct.
"""

from collections.abc import Callable

from tests.fakes.answers import good_body
from tests.fakes.wire import JSON, After, Call, Fault, Wire, head, send_whole

Body = Callable[[Call], bytes]


def clean(call: Call) -> bytes:
    body = good_body(call)
    assert body is not None, f"{call.method} {call.path} is no path of the contract"
    return body


def whole(body: bytes) -> bytes:
    """Return a complete 200 response with this body, as bytes."""
    return head(200, [("Content-Type", JSON), ("Content-Length", str(len(body)))]) + body


def interim_with_answer(code: int = 103, body: Body = clean) -> Fault:
    """An interim (1xx) response and the answer in one packet (RFC 9110 §15.2)."""

    def play(wire: Wire, call: Call) -> After:
        wire.send(head(code, []) + whole(body(call)))
        return After.KEEP

    return Fault(f"interim {code} with the answer", play)


def interim_then_late_answer(delay_s: float = 0.4, code: int = 103, body: Body = clean) -> Fault:
    """An interim response, and after ``delay_s`` the answer on the same connection."""

    def play(wire: Wire, call: Call) -> After:
        wire.send(head(code, []))
        wire.pause(delay_s)
        return send_whole(wire, body(call))

    return Fault(f"interim {code} before the answer", play)


def started_then_reset() -> Fault:
    """A status line and some headers, then an RST. The upstream charges the call."""

    def play(wire: Wire, call: Call) -> After:
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Cut: ")
        wire.pause(0.05)  # an immediate RST would discard bytes not received yet
        wire.reset_on_close()
        return After.CLOSE

    return Fault("started, then reset", play)


def trailing_bytes(trailing: bytes = b"\r\n", delay_s: float = 0.05, body: Body = clean) -> Fault:
    """The answer, and after ``delay_s`` extra bytes; the connection stays open."""
    return _followed("trailing bytes", lambda call: trailing, delay_s, body)


def unasked_answer(unasked: Body = clean, delay_s: float = 0.05, body: Body = clean) -> Fault:
    """The answer, and after ``delay_s`` a second complete answer without a request."""
    return _followed("unasked answer", lambda call: whole(unasked(call)), delay_s, body)


def closed_after(body: Body = clean) -> Fault:
    """The answer, then a close when the next request arrives, before reading it."""

    def play(wire: Wire, call: Call) -> After:
        send_whole(wire, body(call))
        return After.CLOSE_UNREAD

    return Fault("closed after the answer", play)


def _followed(name: str, trailing: Body, delay_s: float, body: Body) -> Fault:
    def play(wire: Wire, call: Call) -> After:
        send_whole(wire, body(call))
        wire.pause(delay_s)
        wire.send(trailing(call))
        return After.KEEP

    return Fault(name, play)
