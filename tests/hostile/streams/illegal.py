"""Tables of invalid responses, and of responses that RFC 9112 lets a client reject.

Each entry returns the complete bytes of one response for a given body.
"""

from collections.abc import Callable, Mapping

from tests.hostile.streams.responses import deflated_wrongly, zipped

Make = Callable[[bytes], bytes]

_TYPE = b"Content-Type: application/json\r\n"
_OK = b"HTTP/1.1 200 OK\r\n"
_TE = b"Transfer-Encoding: chunked\r\n"


def _length(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n" % len(body)


def _with_status_line(line: bytes) -> Make:
    return lambda body: line + b"\r\n" + _TYPE + _length(body) + b"\r\n" + body


def _with_fields(*fields: bytes) -> Make:
    """Add fields before a correct Content-Length."""
    lines = b"".join(field + b"\r\n" for field in fields)
    return lambda body: _OK + _TYPE + lines + _length(body) + b"\r\n" + body


def _with_length(value: bytes) -> Make:
    """Set Content-Length. ``%d`` in the value stands for the correct length."""
    return lambda body: (
        _OK + b"Content-Length: " + value.replace(b"%d", b"%d" % len(body)) + b"\r\n\r\n" + body
    )


def _with_chunk(line: bytes, behind: bytes = b"\r\n") -> Make:
    """Set the size line of the first chunk. ``%x`` stands for the correct size."""
    return lambda body: (
        _OK + _TE + b"\r\n" + line.replace(b"%x", b"%x" % len(body)) + body + behind + b"0\r\n\r\n"
    )


def _chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def _with_coding(*lines: bytes) -> Make:
    """Send chunked data under other Transfer-Encoding lines."""
    head = _OK + b"".join(line + b"\r\n" for line in lines) + b"\r\n"
    return lambda body: head + _chunked(body)


# These bytes contain no valid final status line.
STATUS_LINES: Mapping[str, Make] = {
    **{
        f"status line: {line[:40]!r}": _with_status_line(line)
        for line in (
            b"HTTP/1.1 99 Low",
            b"HTTP/1.1 1000 High",
            b"HTTP/1.1 20 Short",
            b"HTTP/1.1 0200 OK",
            b"HTTP/1.1 +200 OK",
            b"HTTP/1.1 -200 OK",
            b"HTTP/1.1 2_0 OK",
            b"HTTP/1.1 20_0 OK",
            b"HTTP/1.1 abc OK",
            b"HTTP/1.1 200OK",
            b"HTTP/1.1 2 00 OK",
            b"HTTP/1.1 \xb2\xb0\xb0 OK",
            b"HTTP/1.1 20\x00 OK",
            b"HTTP/1.1",
            b"HTTP 200 OK",
            b"HTTP/x.1 200 OK",
            b"HTTP/11 200 OK",
            b"HTTQ/1.1 200 OK",
            b"ICY 200 OK",
            b"200 OK",
            b"GET / HTTP/1.1",
            b"220 mail.example ESMTP ready",
            b"SSH-2.0-OpenSSH_9.6",
            b"\x00",
            b"HTTP/1.1 101 Switching Protocols",
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade",
        )
    },
    "interim: without a colon": lambda body: b"HTTP/1.1 103 Hints\r\nLink\r\n\r\n" + body,
    "interim: and garbage": lambda body: b"HTTP/1.1 103 Hints\r\n\r\n" + body,
    "other protocol: HTTP/0.9": lambda body: body,
    "other protocol: HTTP/2 preface": lambda body: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + body,
    "other protocol: HTTP/2 settings": lambda body: bytes(4) + b"\x04" + bytes(4) + body,
    "other protocol: TLS alert": lambda body: b"\x15\x03\x01\x00\x02\x02\x46",
    "other protocol: HTML page": lambda body: b"<html><body>Bad gateway</body></html>\r\n",
    "other protocol: zero bytes": lambda body: bytes(64),
    "status line: without an end": lambda body: b"HTTP/1.1 200 " + b"A" * 300_000,
}

# These responses have a final status line, but a header is invalid, or the end or the coding of the
# body is undefined.
FRAMINGS: Mapping[str, Make] = {
    **{
        f"length: {value!r}": _with_length(value)
        for value in (
            b"abc",
            b"-%d",
            b"+%d",
            b"0x10",
            b"%d_0",
            b"%de0",
            b"%d.0",
            b"",
            b" ",
            b"%d %d",
            b"%d;",
            b"%d, 3",
            b"3, %d",
            b"%d\xb2",
            b"9" * 40,
            b"%d\r\nContent-Length: 3",
            b"3\r\nContent-Length: %d",
        )
    },
    **{
        f"chunk size: {line!r}": _with_chunk(line)
        for line in (
            b"-%x\r\n",
            b"+%x\r\n",
            b"0x%x\r\n",
            b"%x_0\r\n",
            b"\r\n",
            b";a=b\r\n",
            b"g\r\n",
            b"FFFFFFFFFFFFFFFFF%x\r\n",
            b"%x %x\r\n",
            b"%x\x00\r\n",
            b"%xh\r\n",
            b"\xb2\r\n",
            b"%x,\r\n",
            b"fffff\r\n",
        )
    },
    "chunk size: below its data": _with_chunk(b"%x\r\n", b"more\r\n"),
    "chunk size: above its data": _with_chunk(b"%x0\r\n"),
    "chunk size: 1": _with_chunk(b"1\r\n"),
    "chunk size: no last chunk": lambda body: _OK + _TE + b"\r\n" + _chunked(body)[:-5],
    "header: without a colon": _with_fields(b"NoColonHere"),
    "header: without a name": _with_fields(b": value"),
    "header: name with NUL": _with_fields(b"X\x00Y: v"),
    "header: name with a space": _with_fields(b"X Y: v"),
    "header: second status line": _with_fields(b"HTTP/1.1 200 OK"),
    "content coding: gzip cut": lambda body: _gzip(deflated_wrongly(body, "cut")),
    "content coding: gzip checksum": lambda body: _gzip(deflated_wrongly(body, "checksum")),
}

# A client may accept or reject these responses. If it accepts one, it must read exactly the body.
CHOICES: Mapping[str, Make] = {
    **{
        f"status line: {line!r}": _with_status_line(line)
        for line in (
            b"HTTP/1.1 200",
            b"HTTP/1.1  200 OK",
            b"HTTP/1.1\t200 OK",
            b"HTTP/1.2 200 OK",
            b"HTTP/2.0 200 OK",
            b"HTTP/3 200 OK",
            b"http/1.1 200 OK",
            b" HTTP/1.1 200 OK",
            b"\r\nHTTP/1.1 200 OK",
            b"\n\nHTTP/1.1 200 OK",
            b"HTTP/1.1 200 O\x00K",
            b"HTTP/1.1 200 O\rK",
            b"HTTP/1.1 103 Hints\r\n\r\n\r\nHTTP/1.1 200 OK",
            b"HTTP/1.0 103 Hints\r\n\r\nHTTP/1.1 200 OK",
            b"HTTP/1.1 103 Hints\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK",
            b"HTTP/1.1 103 Hints\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK",
        )
    },
    **{
        f"header: {line[:30]!r}": _with_fields(line)
        for line in (
            b"X-NUL: a\x00b",
            b"X-Control: a\x01b\x7f",
            b"X-CR: a\rb",
            b"X-Escape: \x1b[31m",
            b"X-Name\xe9: v",
            b"X-Space : v",
            b"X-Huge: " + b"v" * 200_000,
        )
    },
    "header: 5,000 of them": _with_fields(*(b"X-%d: v" % number for number in range(5000))),
    "header: 150 of them": _with_fields(*(b"X-%d: v" % number for number in range(150))),
    "header: first one indented": lambda body: _OK + b" X: v\r\n" + _length(body) + b"\r\n" + body,
    "length: space before its colon": lambda body: (
        _OK + b"Content-Length : %d\r\n\r\n" % len(body) + body
    ),
    "length: folded": _with_length(b"\r\n %d"),
    "length: list": _with_length(b"%d, %d"),
    "length: 30 zeros": _with_length(b"0" * 30 + b"%d"),
    **{
        f"transfer coding: {lines!r}": _with_coding(*lines)
        for lines in (
            (b"Transfer-Encoding : chunked",),
            (b"Transfer-Encoding:\r\n chunked",),
            (b"Transfer-Encoding: identity, chunked",),
            (b"Transfer-Encoding: chunked, chunked",),
            (b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
            (b"Transfer-Encoding: chunked", b"Transfer-Encoding: identity"),
            (b"Transfer-Encoding: chunked;q=1",),
            (b"Transfer-Encoding: ,chunked,",),
            (b"Transfer-Encoding: \x0bchunked",),
            (b"Transfer-Encoding: chunked", b"Content-Length: 3", b"Content-Length: 4"),
            (b"Transfer-Encoding: chunked", b"Content-Length: -1"),
        )
    },
    "transfer coding: in HTTP/1.0": lambda body: (
        b"HTTP/1.0 200 OK\r\n" + _TE + b"\r\n" + _chunked(body)
    ),
    "transfer coding: gzip, chunked": lambda body: (
        _OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + _chunked(zipped(body))
    ),
    "transfer coding: xchunked": _with_fields(b"Transfer-Encoding: xchunked"),
    "transfer coding: identity": _with_fields(b"Transfer-Encoding: identity"),
    "transfer coding: empty": _with_fields(b"Transfer-Encoding:"),
    **{
        f"chunk line: {line[:20]!r}": _with_chunk(line, behind)
        for line, behind in (
            (b"%x\n", b"\n"),
            (b"%x \r\n", b"\r\n"),
            (b" %x\r\n", b"\r\n"),
            (b"%x ; a = b\r\n", b"\r\n"),
            (b"%x;a\x00b\r\n", b"\r\n"),
            (b"%x;a\nb\r\n", b"\r\n"),
            (b"%x;a\rb\r\n", b"\r\n"),
            (b"%x;" + b"e" * 70_000 + b"\r\n", b"\r\n"),
            (b"0" * 40 + b"%x\r\n", b"\r\n"),
        )
    },
    "chunk line: trailer without a colon": lambda body: (
        _OK + _TE + b"\r\n" + _chunked(body)[:-2] + b"NoColon\r\n\r\n"
    ),
    "content coding: bytes behind gzip": lambda body: _gzip(zipped(body) + b"\0\0\0"),
    "content coding: gzip, gzip": lambda body: _coded(b"gzip, gzip", zipped(zipped(body))),
    "content coding: gzip in two lines": lambda body: _coded(
        b"gzip\r\nContent-Encoding: gzip", zipped(zipped(body))
    ),
}


def _coded(name: bytes, sent: bytes, status: int = 200) -> bytes:
    line = b"HTTP/1.1 %d X\r\nContent-Encoding: %s\r\n" % (status, name)
    return line + _length(sent) + b"\r\n" + sent


def _gzip(sent: bytes) -> bytes:
    return _coded(b"gzip", sent)


ERROR_STATUSES = (400, 401, 402, 403, 404, 429)
UNDECODABLE: tuple[Callable[[int, bytes], bytes], ...] = (
    lambda status, _: _coded(b"gzip", b"", status),
)

# Heads and bodies that never end. A size limit or the deadline must end the call.
ENDLESS: Mapping[str, tuple[bytes, bytes]] = {
    "interim responses": (b"", b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n"),
    "a header": (_OK + b"X-Drip: ", b"a"),
    "headers": (_OK, b"X-Drip: v\r\n"),
    "a status line": (b"HTTP/1.1 200 ", b"O"),
    "empty lines": (b"", b"\r\n"),
    "a body": (_OK + b"\r\n", b"a" * 65_536),
    "chunks": (_OK + _TE + b"\r\n", b"1\r\na\r\n"),
    "a chunk extension": (_OK + _TE + b"\r\n5;", b"x"),
    "trailers": (_OK + _TE + b"\r\n1\r\na\r\n0\r\n", b"X: v\r\n"),
    "a chunk size": (_OK + _TE + b"\r\n", b"0"),
}
