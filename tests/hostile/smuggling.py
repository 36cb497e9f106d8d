"""Ambiguous requests, each with a second request hidden inside (request smuggling)."""

from collections.abc import Iterator

from tests.fakes.in_process import PORTAL_TOKEN

HIDDEN_PLATE = "SMU9G11"
HIDDEN = (
    f"GET /detran/v1/decode/{HIDDEN_PLATE} HTTP/1.1\r\nHost: x\r\n"
    f"Authorization: {PORTAL_TOKEN}\r\n\r\n"
).encode()
LENGTH = len(HIDDEN)
LINE = b"POST /detran/v1/analytical-reports HTTP/1.1\r\n"
CHUNKED = b"0\r\n\r\n" + HIDDEN
_TE = b"Transfer-Encoding: chunked\r\n"


def _post(headers: bytes, body: bytes, line: bytes = LINE) -> bytes:
    return line + b"Host: x\r\n" + headers + b"\r\n" + body


def _cl(value: bytes) -> bytes:
    return b"Content-Length: " + value + b"\r\n"


def every_case() -> Iterator[tuple[str, bytes]]:
    """Yield each case's name and the bytes to send in one piece."""
    short, whole = str(len(CHUNKED)).encode(), str(LENGTH).encode()
    yield "length then chunked", _post(_cl(short) + _TE, CHUNKED)
    yield "chunked then length", _post(_TE + _cl(short), CHUNKED)
    yield "length of the first chunk, chunked", _post(_cl(b"4") + _TE, CHUNKED)
    for other in (
        b"identity, chunked",
        b"chunked, identity",
        b"chunked, chunked",
        b"gzip, chunked",
    ):
        yield (
            f"coding {other!r}",
            _post(b"Transfer-Encoding: " + other + b"\r\n" + _cl(short), CHUNKED),
        )
    for odd in (b"xchunked", b"chunked\x00", b"\x0bchunked", b"chunked;q=1", b'"chunked"', b"cow"):
        yield f"coding {odd!r}", _post(b"Transfer-Encoding: " + odd + b"\r\n" + _cl(short), CHUNKED)
    yield "coding twice", _post(_TE + b"Transfer-Encoding: identity\r\n" + _cl(short), CHUNKED)
    yield "blank before colon", _post(b"Transfer-Encoding : chunked\r\n" + _cl(short), CHUNKED)
    yield "tab before colon", _post(b"Transfer-Encoding\t: chunked\r\n" + _cl(short), CHUNKED)
    yield "folded coding", _post(b"Transfer-Encoding:\r\n chunked\r\n" + _cl(short), CHUNKED)
    yield "folded length", _post(b"Content-Length:\r\n 0\r\n", HIDDEN)
    yield "blank line start", _post(b" Transfer-Encoding: chunked\r\n" + _cl(short), CHUNKED)
    yield "coding behind a bare CR", _post(b"X: y\rTransfer-Encoding: chunked\r\n", CHUNKED)
    yield "coding behind a bare LF", _post(b"X: y\nTransfer-Encoding: chunked\r\n", CHUNKED)
    yield "two lengths, zero last", _post(_cl(whole) + _cl(b"0"), HIDDEN)
    yield "two lengths, zero first", _post(_cl(b"0") + _cl(whole), HIDDEN)
    yield "length list", _post(_cl(b"0, " + whole), HIDDEN)
    for odd in (b"+0", b"-1", b"0x0", b"0;", b"0 0", b"", b"\xb2", b"1e1", b"9" * 30):
        yield f"length {odd!r}", _post(_cl(odd), HIDDEN)
    for size in (b"0x0", b"-0", b"+0", b" 0 0", b"F" * 20, b"g"):
        yield f"chunk size {size!r}", _post(_TE, size + b"\r\n\r\n" + HIDDEN)
    yield "chunk without its end", _post(_TE, b"3\r\nabcdef\r\n" + CHUNKED)
    yield "chunk ext with LF", _post(_TE, b"2;\nxx\r\nab\r\n" + CHUNKED)
    yield "bare LF chunk", _post(_TE, b"0\n\n" + HIDDEN)
    yield "trailer with length", _post(_TE, b"0\r\nContent-Length: 0\r\n\r\n" + HIDDEN)
    yield (
        "coding in HTTP/1.0",
        _post(_TE + _cl(short), CHUNKED, LINE.replace(b"HTTP/1.1", b"HTTP/1.0")),
    )
    yield "NUL in a header", _post(b"X: \x00\r\n" + _cl(b"0"), HIDDEN)
    yield (
        "upgrade to h2c",
        _post(
            b"Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n",
            HIDDEN,
        ),
    )
