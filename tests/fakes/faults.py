"""Faults of time, connection, framing, encoding and status.

Each function returns a named Fault. A clean answer is a correct answer.
"""

import gzip
import threading
import zlib
from collections.abc import Callable
from functools import lru_cache

from tests.factories import MESSAGES, message_body
from tests.fakes.answers import good_body
from tests.fakes.wire import JSON, After, Call, Fault, Headers, Wire, head, send_whole

MIB = 1024 * 1024


def _good(call: Call) -> bytes:
    body = good_body(call)
    assert body is not None, f"{call.method} {call.path} is no path of the contract"
    return body


def good() -> Fault:
    """The clean answer; 404 for a path outside docs/contract.md."""

    def play(wire: Wire, call: Call) -> After:
        body = good_body(call)
        if body is None:
            return send_whole(wire, message_body("Não encontrado."), 404)
        return send_whole(wire, body)

    return Fault("good", play)


def answer(
    name: str,
    body: bytes | Callable[[Call], bytes],
    status: int = 200,
    content_type: str = JSON,
    headers: Headers = (),
) -> Fault:
    """A correctly framed answer with any status, headers and body."""

    def play(wire: Wire, call: Call) -> After:
        data = body if isinstance(body, bytes) else body(call)
        return send_whole(wire, data, status, content_type, headers)

    return Fault(name, play)


# Time


def slow_first_byte(delay_s: float, then: Fault | None = None) -> Fault:
    """Nothing for ``delay_s``, then the fault ``then``, by default the clean answer."""
    following = then or good()

    def play(wire: Wire, call: Call) -> After:
        wire.pause(delay_s)
        return following.play(wire, call)

    return Fault(f"{following} after {delay_s:g} s", play)


def held(gate: threading.Event, then: Fault | None = None) -> Fault:
    """Nothing until the test sets ``gate``, then ``then`` or the clean answer.

    With this fault, tests make calls overlap without relying on time.
    """
    following = then or good()

    def play(wire: Wire, call: Call) -> After:
        while not gate.is_set():
            wire.pause(0.01)
        return following.play(wire, call)

    return Fault(f"{following} when released", play)


def hang() -> Fault:
    """Reads the request and never answers."""

    def play(wire: Wire, call: Call) -> After:
        while True:
            wire.pause(3600)

    return Fault("hang", play)


def slow_headers(interval_s: float = 0.05) -> Fault:
    """A header that grows by one byte at a time and never ends.

    A client's time-out for each read therefore never expires.
    """

    def play(wire: Wire, call: Call) -> After:
        wire.send(b"HTTP/1.1 200 OK\r\nX-Drip: ")
        while True:
            wire.send(b"a")
            wire.pause(interval_s)

    return Fault("slow headers", play)


def body_drip(interval_s: float = 0.05, closing: bool = False, sized: bool = True) -> Fault:
    """The clean answer's headers at once, its body one byte at a time.

    ``sized`` adds a Content-Length, and ``closing`` adds ``Connection: close``.
    """

    def play(wire: Wire, call: Call) -> After:
        body = _good(call)
        framing = [("Content-Type", JSON)]
        framing += [("Content-Length", str(len(body)))] if sized else []
        framing += [("Connection", "close")] if closing else []
        wire.send(head(200, framing))
        for index in range(len(body)):
            wire.send(body[index : index + 1])
            wire.pause(interval_s)
        return After.KEEP if sized and not closing else After.CLOSE

    ends = (" before a close" if closing else "") + ("" if sized else " without a length")
    return Fault("body drip" + ends, play)


# Connection


def closed_before_a_byte() -> Fault:
    return Fault("closed before a byte", lambda wire, call: After.CLOSE)


def stale_keep_alive() -> Fault:
    """A clean answer, then a close when the next request arrives, before reading it."""

    def play(wire: Wire, call: Call) -> After:
        send_whole(wire, _good(call))
        return After.CLOSE_UNREAD

    return Fault("stale keep-alive", play)


def reset_before_a_byte() -> Fault:
    def play(wire: Wire, call: Call) -> After:
        wire.reset_on_close()
        return After.CLOSE

    return Fault("reset before a byte", play)


def reset_when_idle() -> Fault:
    """A clean answer, after which the connection is reset."""

    def play(wire: Wire, call: Call) -> After:
        send_whole(wire, _good(call))
        wire.reset_on_close()
        return After.CLOSE

    return Fault("reset when idle", play)


def reset_mid_body() -> Fault:
    def play(wire: Wire, call: Call) -> After:
        _half_sent(wire, _good(call))
        wire.reset_on_close()
        return After.CLOSE

    return Fault("reset mid-body", play)


# Framing


def _half_sent(wire: Wire, body: bytes) -> None:
    framing = [("Content-Type", JSON), ("Content-Length", str(len(body)))]
    wire.send(head(200, framing) + body[: len(body) // 2])


def short_length() -> Fault:
    """Half the body that Content-Length announces, then an orderly close."""

    def play(wire: Wire, call: Call) -> After:
        _half_sent(wire, _good(call))
        return After.CLOSE

    return Fault("short length", play)


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _chunked(name: str, frame: Callable[[bytes], bytes], after: After) -> Fault:
    def play(wire: Wire, call: Call) -> After:
        wire.send(head(200, [("Content-Type", JSON), ("Transfer-Encoding", "chunked")]))
        wire.send(frame(_good(call)))
        return after

    return Fault(name, play)


def chunked() -> Fault:
    """The clean answer in three valid chunks."""

    def frame(body: bytes) -> bytes:
        third = len(body) // 3
        parts = (body[:third], body[third : 2 * third], body[2 * third :])
        return b"".join(map(_chunk, parts)) + b"0\r\n\r\n"

    return _chunked("chunked", frame, After.KEEP)


def bad_chunk_framing() -> Fault:
    """A valid first chunk, then a size line that is not a number."""
    return _chunked(
        "bad chunk framing",
        lambda body: _chunk(body[:20]) + b"ZZ;\r\n" + body[20:] + b"\r\n0\r\n\r\n",
        After.CLOSE,
    )


def chunks_without_end() -> Fault:
    """The whole body as one chunk, then a close without the final, empty chunk."""
    return _chunked("chunks without end", _chunk, After.CLOSE)


def wrong_length_beside_chunks() -> Fault:
    """A wrong Content-Length, which chunked coding overrides (RFC 9112 §6.3)."""

    def play(wire: Wire, call: Call) -> After:
        framing = [
            ("Content-Type", JSON),
            ("Content-Length", "7"),
            ("Transfer-Encoding", "chunked"),
        ]
        wire.send(head(200, framing) + _chunk(_good(call)) + b"0\r\n\r\n")
        return After.CLOSE

    return Fault("wrong length beside chunks", play)


def interim(delay_s: float = 0.0, *codes: int, then: Fault | None = None) -> Fault:
    """Interim responses (RFC 9110 §15.2), then ``then`` or the clean answer.

    The answer follows after ``delay_s``. With a delay of 0, all bytes leave in one packet if the
    system allows it.
    """
    following = then or good()

    def play(wire: Wire, call: Call) -> After:
        wire.hold(b"".join(head(code, [("Link", "</a>; rel=preload")]) for code in codes or (103,)))
        if delay_s:
            wire.send(b"")
            wire.pause(delay_s)
        return following.play(wire, call)

    late = f", {delay_s:g} s before the answer" if delay_s else ""
    return Fault(f"interim {', '.join(map(str, codes or (103,)))}{late}", play)


def interim_and_no_answer() -> Fault:
    """An interim response, then a close."""

    def play(wire: Wire, call: Call) -> After:
        wire.send(head(103, []))
        return After.CLOSE

    return Fault("interim and no answer", play)


def bytes_behind(extra: bytes = b"\r\n", delay_s: float = 0.0) -> Fault:
    """The clean answer, then bytes that belong to no answer."""

    def play(wire: Wire, call: Call) -> After:
        send_whole(wire, _good(call))
        wire.pause(delay_s)
        wire.send(extra)
        return After.KEEP

    return Fault(f"{len(extra)} bytes behind" + (" and late" if delay_s else ""), play)


def started_then_reset() -> Fault:
    """A status line and part of a header, then an RST. The call is charged."""

    def play(wire: Wire, call: Call) -> After:
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Type: appl")
        wire.pause(0.05)  # an immediate reset would discard bytes not received yet
        wire.reset_on_close()
        return After.CLOSE

    return Fault("started then reset", play)


# Encoding


def gzipped_in_two() -> Fault:
    """The clean answer as two gzip members, which RFC 1952 §2.2 allows."""

    def members(call: Call) -> bytes:
        body = _good(call)
        return gzip.compress(body[:20]) + gzip.compress(body[20:])

    return answer("gzip in two members", members, headers=[("Content-Encoding", "gzip")])


def gzipped() -> Fault:
    """The clean answer, compressed with gzip."""
    return answer(
        "gzip", lambda call: gzip.compress(_good(call)), headers=[("Content-Encoding", "gzip")]
    )


def gzip_bomb(mib: int = 300) -> Fault:
    """The clean answer with ``mib`` MiB of blanks, compressed to about 1 kB per MiB."""
    return answer(
        f"gzip bomb of {mib} MiB",
        lambda call: _blown_up(_good(call), mib),
        headers=[("Content-Encoding", "gzip")],
    )


@lru_cache(maxsize=8)
def _blown_up(body: bytes, mib: int) -> bytes:
    """Return a gzip member of ``body`` with ``mib`` MiB of blanks before its last byte.

    After a full flush, zlib compresses equal input to equal bytes. One MiB of blanks is therefore
    compressed once, and the result is repeated.
    """
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)

    def block(data: bytes) -> bytes:
        return deflate.compress(data) + deflate.flush(zlib.Z_FULL_FLUSH)

    blanks = b" " * MIB
    checksum = zlib.crc32(body[:-1])
    for _ in range(mib):
        checksum = zlib.crc32(blanks, checksum)
    checksum = zlib.crc32(body[-1:], checksum)
    size = (len(body) + mib * MIB) & 0xFFFFFFFF
    opening = block(body[:-1])
    middle = block(blanks) * mib
    closing = block(body[-1:]) + deflate.flush()
    trailer = checksum.to_bytes(4, "little") + size.to_bytes(4, "little")
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + opening + middle + closing + trailer


def unknown_encoding() -> Fault:
    """A body in an unknown content coding. The encoded bytes are not JSON."""
    return answer(
        "unknown content-encoding",
        lambda call: bytes(255 - byte for byte in _good(call)),
        headers=[("Content-Encoding", "x-inverted")],
    )


def labelled(encoding: str, content_type: str = JSON) -> Fault:
    """The clean answer without a content coding, under a header that names one."""
    return answer(
        f"{encoding} in name only",
        _good,
        content_type=content_type,
        headers=[("Content-Encoding", encoding)],
    )


def gzipped_as(encoding: str | None, layers: int = 1) -> Fault:
    """The clean answer in ``layers`` of gzip, with ``encoding`` as its Content-Encoding."""

    def body(call: Call) -> bytes:
        data = _good(call)
        for _ in range(layers):
            data = gzip.compress(data)
        return data

    headers = [("Content-Encoding", encoding)] if encoding is not None else []
    return answer(f"gzip times {layers} as {encoding}", body, headers=headers)


def cut_gzip() -> Fault:
    """Half of a gzip member."""

    def body(call: Call) -> bytes:
        whole = gzip.compress(_good(call))
        return whole[: len(whole) // 2]

    return answer("cut gzip", body, headers=[("Content-Encoding", "gzip")])


def typed_as(content_type: str) -> Fault:
    """The clean answer under an odd or wrong Content-Type."""
    return answer(f"typed as {content_type!r}", _good, content_type=content_type)


def marked(mark: bytes = b"\xef\xbb\xbf") -> Fault:
    """The clean answer behind a byte order mark, which RFC 8259 §8.1 lets a reader ignore."""
    return answer(f"mark {mark.hex()}", lambda call: mark + _good(call))


# Status


def status(code: int, message: str | None = None, retry_after: str | None = None) -> Fault:
    """A status with an error body as in docs/contract.md."""
    text = message or MESSAGES.get(code, f"Erro {code} da origem.")
    waiting = [("Retry-After", retry_after)] if retry_after is not None else []
    return answer(f"status {code}", message_body(text), code, headers=waiting)


def status_in_bad_gzip(code: int, retry_after: str | None = None) -> Fault:
    """A status whose body is not gzip, although Content-Encoding says so."""
    waiting = [("Retry-After", retry_after)] if retry_after is not None else []
    encoded = [("Content-Encoding", "gzip"), *waiting]
    return answer(f"status {code} in bad gzip", b"no gzip", code, headers=encoded)


def html_error(code: int) -> Fault:
    """A proxy's HTML error page."""
    page = b"<html><body><h1>Service Unavailable</h1></body></html>"
    return answer(f"status {code} in HTML", page, code, "text/html")


def redirect(location: str = "/elsewhere", code: int = 302) -> Fault:
    return answer(f"status {code}", b"", code, headers=[("Location", location)])


def accepted() -> Fault:
    return answer("202", message_body("Consulta em processamento."), 202)


def no_content() -> Fault:
    def play(wire: Wire, call: Call) -> After:
        wire.send(head(204, []))  # RFC 9110 §8.6: no Content-Length in a 204
        return After.KEEP

    return Fault("status 204", play)


def partial_content() -> Fault:
    """206 with the clean body, although no range was requested."""

    def play(wire: Wire, call: Call) -> After:
        body = _good(call)
        part = ("Content-Range", f"bytes 0-{len(body) - 1}/{2 * len(body)}")
        return send_whole(wire, body, 206, extra=[part])

    return Fault("status 206", play)


def cookies() -> Fault:
    """The clean answer with cookies, which the portal must not send back."""
    planted = [("Set-Cookie", "visitor=1; Path=/"), ("Set-Cookie", "session=abc; Path=/; HttpOnly")]
    return answer("cookies", _good, headers=planted)
