"""Legal HTTP/1.1 responses in many spellings, each with the body a client must read."""

import gzip
import zlib
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from tests.hostile.streams.script import record

Framing = Literal["length", "chunked", "close", "none"]

STATUSES = (200,) * 16 + (400, 401, 404, 404, 429, 403, 402, 451, 500, 503, 599, 204, 206, 302, 304)
INTERIM = (100, 102, 103, 199)
BODILESS = (204, 304)
_REASONS = (b"OK", b"", b"Sem conte\xfado", b"Everything is as it was asked for", b"R" * 2000)
_FIELDS = (
    b"Server: nginx/1.25.3",
    b"Date: Sat, 22 Nov 2025 12:00:00 GMT",
    b"X-Empty:",
    b"X-Blank: \t ",
    b"x-lower:v",
    b"X-Tabs:\t\tvalue\t",
    b"X-Obs-Text: S\xe3o Paulo",
    b"X-Colons: a:b::c",
    b"X-Comma: a, b,,c",
    b"X_Under-Score.and~`^|!#$%&'*+: odd name",
    b"X-Long: " + b"v" * 3000,
    b"Set-Cookie: session=1; Path=/",
    b"Set-Cookie: other=2",
    b"Trailer: X-Checksum",
    b"Keep-Alive: timeout=5, max=100",
    b"Vary: *",
    b"Content-MD5: AAAA",
    b"X-Looks: HTTP/1.1 200 OK",
    b"Upgrade: h2c",
    b'Alt-Svc: h3=":443"',
    b"Retry-After: 3",
)
_FOLDED = b"X-Folded: first%s  second%s\tthird"


@dataclass
class Piece:
    data: bytes
    element: int = 0


@dataclass
class Draft:
    """A complete legal response in pieces, and the positions of its parts.

    Pieces added as ``optional`` can be removed without changing the meaning of the response.
    """

    serial: str
    status: int = 200
    body: bytes = b""
    framing: Framing = "length"
    pieces: list[Piece] = field(default_factory=list)
    final_at: int = 0  # number of pieces before the final status line
    head_ends: int = 0  # number of pieces up to the end of the headers
    whole_at: int = 0  # number of pieces after which a lenient client may accept the body
    _elements: int = 0

    def add(self, data: bytes, optional: bool = False) -> None:
        if optional:
            self._elements += 1
        self.pieces.append(Piece(data, self._elements if optional else 0))

    def size(self, pieces: int | None = None) -> int:
        return sum(len(piece.data) for piece in self.pieces[:pieces])

    @property
    def name(self) -> str:
        """The framing, and whether interim responses precede the final response."""
        return self.framing + (" after interim" if self.final_at else "")


def response(random: Random, serial: str, status: int | None = None, plain: bool = False) -> Draft:
    """Return a random legal response.

    With ``plain``, it is a 200 with a body and no content coding, for scripts that cut it off.
    """
    draft = Draft(serial, status or (200 if plain else random.choice(STATUSES)))
    eol = b"\r\n" if random.random() < 0.9 else b"\n"
    while random.random() < 0.3 and draft.size() < 4000:
        interim(random, draft, eol)
    headers = _body(random, draft, plain)
    version = b"HTTP/1.1"
    if draft.framing != "chunked" and random.random() < 0.1:
        version = b"HTTP/1.0"
        if random.random() < 0.5:
            headers.append((b"Connection: keep-alive", True))
    elif draft.framing == "close" or random.random() < 0.15:
        name = random.choice((b"Connection: close", b"connection: Close", b"CONNECTION:close"))
        headers.append((name, draft.framing == "close"))
    headers += [(each, True) for each in random.sample(_FIELDS, random.choice((0, 0, 1, 2, 4)))]
    if random.random() < 0.05:
        headers.append((_FOLDED % (eol, eol), True))
    random.shuffle(headers)
    if headers and headers[0][0].startswith(b"X-Folded"):
        headers.reverse()
    reason = b"OK" if random.random() < 0.8 else random.choice(_REASONS)
    body_pieces, draft.pieces = draft.pieces[draft.final_at :], draft.pieces[: draft.final_at]
    draft.add(b"%s %d %s%s" % (version, draft.status, reason, eol))
    for line, optional in headers:
        draft.add(line + eol, optional)
    draft.add(eol)
    draft.head_ends = len(draft.pieces)
    draft.whole_at += draft.head_ends
    draft.pieces += body_pieces
    return draft


def interim(random: Random, draft: Draft, eol: bytes = b"\r\n") -> None:
    """Add an interim response, which has no body (RFC 9110 §15.2)."""
    status = random.choice(INTERIM)
    fields = [b"Link: </a.css>; rel=preload", b"X-Interim:", b"Content-Length: 7"]
    lines = [b"HTTP/1.1 %d %s" % (status, random.choice((b"", b"Early Hints", b"Processing")))]
    lines += random.sample(fields[:2], random.randrange(3))
    if random.random() < 0.05:
        lines.append(fields[2])
    draft.add(eol.join([*lines, b"", b""]), optional=True)
    draft.final_at = len(draft.pieces)


def _body(random: Random, draft: Draft, plain: bool) -> list[tuple[bytes, bool]]:
    """Add the body; return pairs of a header line and whether the line is optional."""
    headers = [(b"Content-Type: application/json", True)]
    if draft.status in BODILESS:
        draft.framing = "none"
        return headers
    sizes = (0, 0, 0, 30, 200, 200, 1500) if plain else (0, 0, 30, 200, 1500, 9000, 70_000)
    draft.body = record(draft.serial, random.choice(sizes))
    if not plain and random.random() < 0.04:
        draft.body = b""
    sent = draft.body
    if not plain and random.random() < 0.2:
        sent, header = coded(random, draft)
        headers.append((header, False))
    draft.framing = random.choice(("length", "length", "length", "chunked", "chunked", "close"))
    match draft.framing:
        case "length":
            headers += [(line, False) for line in _length(random, draft, len(sent))]
            cut = random.randrange(len(sent) + 1)
            draft.add(sent[:cut])
            draft.add(sent[cut:])
            draft.whole_at = 2
        case "chunked":
            te = (b"Transfer-Encoding: chunked", b"transfer-encoding:Chunked")
            headers.append((random.choice(te), False))
            if random.random() < 0.12:
                wrong = random.choice((0, 1, len(sent), len(sent) + 100, 10**12))
                headers.append((b"Content-Length: %d" % wrong, True))
            chunks(random, draft, sent)
        case "close":
            draft.add(sent)
            draft.whole_at = 0
    return headers


def _length(random: Random, draft: Draft, size: int) -> list[bytes]:
    line = b"Content-Length: %d" % size
    chance = random.random()
    if chance < 0.05:
        return [line, line]
    if chance < 0.1:
        return [b"content-length:\t%07d  " % size]
    return [line]


def coded(random: Random, draft: Draft) -> tuple[bytes, bytes]:
    """Return the encoded body and its Content-Encoding header."""
    chance = random.random()
    if chance < 0.15:
        return draft.body, b"Content-Encoding: identity"
    name = random.choice((b"gzip", b"gzip", b"GZip", b"x-gzip"))
    header = b"Content-Encoding: " + name
    if chance < 0.4:
        cut = random.randrange(len(draft.body) + 1)
        parts = (draft.body[:cut], draft.body[cut:])
        return b"".join(zipped(part) for part in parts), header
    return zipped(draft.body), header


def zipped(data: bytes) -> bytes:
    """Compress into one gzip member without a time stamp, so that equal cases have equal bytes."""
    return gzip.compress(data, 1, mtime=0)


def chunks(random: Random, draft: Draft, sent: bytes) -> None:
    """Add the body in the chunked coding (RFC 9112 §7.1), with extensions and trailers."""
    steps = (1, 7, 64, 1000, 10**6) if len(sent) < 500 else (999, 10**6)
    step = random.choice(steps)
    for at in range(0, len(sent), step):
        data = sent[at : at + step]
        draft.add(b"%s%s\r\n%s\r\n" % (_size(random, len(data)), _extension(random), data))
    draft.whole_at = len(draft.pieces) - draft.final_at
    draft.add(b"0" * random.choice((1, 1, 1, 3)) + _extension(random) + b"\r\n")
    if random.random() < 0.2:
        for line in random.sample((b"X-Checksum: 00", b"Content-Length: 3", b"X-Empty:"), 2):
            draft.add(line + b"\r\n", optional=True)
    draft.add(b"\r\n")


def _size(random: Random, size: int) -> bytes:
    text = random.choice((b"%x", b"%X")) % size
    return text if random.random() < 0.9 else b"000" + text


def _extension(random: Random) -> bytes:
    if random.random() < 0.85:
        return b""
    return random.choice((b";a", b";a=b", b';a="b;c"', b";a=b;c=d", b";" + b"x" * 150))


def deflated_wrongly(body: bytes, how: Literal["cut", "checksum", "noise", "raw"]) -> bytes:
    """Return bytes that cannot be decoded as gzip."""
    whole = zipped(body)
    match how:
        case "cut":
            return whole[: len(whole) // 2]
        case "checksum":
            return whole[:-8] + bytes(byte ^ 0xFF for byte in whole[-8:])
        case "noise":
            return body
        case "raw":
            return zlib.compress(body)
