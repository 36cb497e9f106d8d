"""Systematic cases: disturbances at every byte, and every entry in ``illegal``."""

import gzip
from collections.abc import Callable, Iterator, Mapping
from random import Random

from tests.hostile.streams import illegal
from tests.hostile.streams.grammar import (
    ILLEGAL,
    RESET_DELIVERS,
    cut_at,
    early_at,
    expectation,
    extras,
    illegal_answer,
    joined,
    odd_answer,
    split_at,
    steps_of,
    undecodable_answer,
    without_end,
)
from tests.hostile.streams.responses import INTERIM, Draft, Framing, zipped
from tests.hostile.streams.script import (
    Case,
    End,
    Exchange,
    Expected,
    Method,
    Pause,
    Script,
    Send,
    clean,
    record,
)

SERIAL = "000000.01"
_BODY_CAP = 2 * 1024 * 1024
_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"


def single(script: Script, warm_up: bool = True, method: Method = "GET") -> Case:
    return Case("table", ((Exchange(SERIAL, method, script),),), warm_up)


def draft(framing: Framing = "length", interim: bytes = b"", status: int = 200) -> Draft:
    """A response in its simplest spelling."""
    made = Draft(SERIAL, status, record(SERIAL), framing)
    if interim:
        made.add(interim, optional=True)
        made.final_at = 1
    made.add(b"HTTP/1.1 %d OK\r\n" % status)
    made.add(b"Content-Type: application/json\r\n", optional=True)
    body = made.body
    match framing:
        case "length":
            made.add(b"Content-Length: %d\r\n\r\n" % len(body))
            made.head_ends = len(made.pieces)
            made.add(body)
            made.whole_at = len(made.pieces)
        case "chunked":
            made.add(b"Transfer-Encoding: chunked\r\n\r\n")
            made.head_ends = len(made.pieces)
            made.add(b"%X;a=b\r\n%s\r\n" % (40, body[:40]))
            made.add(b"%x\r\n%s\r\n" % (len(body) - 40, body[40:]))
            made.whole_at = len(made.pieces)
            made.add(b"0\r\nX-Checksum: 00\r\n\r\n")
        case _:
            made.add(b"\r\n")
            made.head_ends = made.whole_at = len(made.pieces)
            made.add(body)
    return made


def splits_at_every_byte() -> Iterator[Case]:
    whole = draft("chunked", _HINTS)
    for place in range(1, whole.size()):
        steps = split_at(steps_of(whole.pieces), {place}, Pause(0.001))
        yield single(Script("split: chunked", tuple(steps), End.KEEP, expectation(whole)))
    every = split_at(steps_of(whole.pieces), range(whole.size()), Pause(0.0))
    yield single(Script("split: everywhere", tuple(every), End.KEEP, expectation(whole)))


def resets_after_every_byte() -> Iterator[Case]:
    """Resets at each byte.

    On a used connection, a reset before the first byte looks like the close of an idle connection.
    """
    whole = draft("length")
    for size in range(whole.size()):
        yield single(cut_at(whole, size, End.RESET, mends=True))
    for framing in ("length", "chunked", "close"):
        whole = draft(framing, _HINTS)
        for size in range(0, whole.size(), 7):
            yield single(cut_at(whole, size, End.RESET), warm_up=False)
        yield single(cut_at(whole, whole.size(whole.final_at), End.RESET, mends=True))
        post = cut_at(whole, whole.size(whole.head_ends), End.RESET, mends=True)
        yield single(post, method="POST")


def closes_after_every_byte() -> Iterator[Case]:
    whole = draft("chunked")
    for size in range(whole.size()):
        yield single(cut_at(whole, size, End.CLOSE, mends=True))
    for framing in ("length", "close"):
        whole = draft(framing, _HINTS)
        end = whole.size() if framing == "length" else whole.size(whole.head_ends)
        for size in range(0, end, 7):
            yield single(cut_at(whole, size, End.CLOSE), warm_up=False)


def interim_responses() -> Iterator[Case]:
    """Interim responses in one packet with the final response, or 2 or 30 ms earlier."""
    for framing in ("length", "chunked", "close"):
        for status in INTERIM:
            for lines in (b"", b"Link: </a>\r\n", b"Content-Length: 7\r\n", b"X: a\r\nY: b\r\n"):
                head = b"HTTP/1.1 %d Interim\r\n%s\r\n" % (status, lines)
                for interim in (head, head * 3, head.replace(b"\r\n", b"\n")):
                    yield from _interim(draft(framing, interim))
    for status in (404, 429, 503, 204, 302):
        yield from _interim(draft("length", _HINTS, status))


def _interim(whole: Draft) -> Iterator[Case]:
    end = End.CLOSE if whole.framing == "close" else End.KEEP
    steps = steps_of(whole.pieces)
    name, expected = f"interim: {whole.framing}", expectation(whole)
    yield single(Script(name, tuple(steps), end, expected))
    for seconds in (0.002, 0.03):
        late = (steps[0], Pause(seconds), *steps[1:])
        yield single(Script(name, late, end, expected, hasty=True))


def bytes_behind() -> Iterator[Case]:
    """Extra bytes after a complete answer, such as another answer.

    Only an empty line may also arrive after the next request, because a client can tell an empty
    line from an answer.
    """
    for framing in ("length", "chunked"):
        whole = draft(framing)
        steps, expected = steps_of(whole.pieces), expectation(whole)
        for end in (End.KEEP, End.CLOSE, End.RESET if RESET_DELIVERS else End.CLOSE):
            for name, extra in extras(Random(1)).items():
                for pauses in ((), (Pause(0.0),), (Pause(0.002, idle=True),)):
                    played = (*steps, *pauses, Send(extra), Pause(0.001, idle=True))
                    yield single(Script(name, played, end, expected))
    for seconds in (0.0, 0.001, 0.003, 0.01, 0.02):
        late = (*steps, Pause(seconds), Send(b"\r\n"))
        yield single(Script("CRLF behind: late", late, End.KEEP, expected, hasty=True))


def illegal_answers() -> Iterator[Case]:
    for charge, table in ILLEGAL:
        for name, make in table.items():
            for end in (End.CLOSE, End.RESET):
                yield single(illegal_answer(name, (), make(record(SERIAL)), end, charge))
            sent = make(record(SERIAL))
            hinted = illegal_answer(name, (Send(_HINTS),), sent, End.CLOSE, charge)
            yield single(hinted, warm_up=False)


def odd_answers() -> Iterator[Case]:
    for name, make in illegal.CHOICES.items():
        body = record(SERIAL)
        for end in (End.CLOSE, End.KEEP):
            yield single(odd_answer(name, (), make(body), body, end))


def undecodable_answers() -> Iterator[Case]:
    for status in illegal.ERROR_STATUSES:
        for make in illegal.UNDECODABLE:
            sent = make(status, record(SERIAL))
            yield single(undecodable_answer(status, (), sent, End.KEEP))


def endless_answers() -> Iterator[Case]:
    for name, (head, again) in illegal.ENDLESS.items():
        yield single(without_end(name, head, again))


def bodies() -> Iterator[Case]:
    """Legal bodies that a client could misread, and bodies above the size limit."""
    body = record(SERIAL)
    halves = zipped(body[:50]) + zipped(body[50:])
    gzipped = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
    whole = joined(draft("chunked").pieces).partition(b"\r\n\r\n")[2]
    sent: dict[str, bytes] = {
        "gzip": _sized(gzipped, zipped(body)),
        "two gzip members": _sized(gzipped, halves),
        "three gzip members, one empty": _sized(gzipped, zipped(b"") + halves),
        "gzip members in chunks": gzipped + b"Transfer-Encoding: chunked\r\n\r\n" + _by_7(halves),
        "equal lengths": _sized(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(body), body),
        "no reason": _sized(b"HTTP/1.1 200 \r\n", body),
    }
    for wrong in (0, 1, 3, len(body) - 1, len(body), len(whole), len(whole) + 100, 10**15):
        length = b"Content-Length: %d\r\n" % wrong
        sent[f"chunked with length {wrong}"] = chunked + length + b"\r\n" + whole
        sent[f"length {wrong} with chunks"] = chunked.replace(b"\r\n", b"\r\n" + length, 1) + (
            b"\r\n" + whole
        )
    for name, data in sent.items():
        for end in (End.KEEP, End.CLOSE):
            expected = Expected("answer", 200, body)
            yield single(Script(f"body: {name}", (Send(data),), end, expected))
    yield from _large_bodies()


def _large_bodies() -> Iterator[Case]:
    frames: Mapping[str, Callable[[bytes], bytes]] = {
        "length": lambda body: _sized(b"HTTP/1.1 200 OK\r\n", body),
        "close": lambda body: b"HTTP/1.1 200 OK\r\n\r\n" + body,
        "gzip": lambda body: _sized(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n", gzip.compress(body, 1)
        ),
    }
    own = record(SERIAL)
    for name, frame in frames.items():
        for size in (_BODY_CAP, _BODY_CAP + 1, 3 * _BODY_CAP):
            body = own + b" " * (size - len(own))
            expected = Expected("answer", 200, body)
            if size > _BODY_CAP:
                expected = Expected("error", charge="charged")
            yield single(Script(f"large body: {name}", (Send(frame(body)),), End.CLOSE, expected))


def _sized(head: bytes, body: bytes) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def _by_7(data: bytes) -> bytes:
    parts = [data[at : at + 7] for at in range(0, len(data), 7)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def early_answers() -> Iterator[Case]:
    for framing in ("length", "chunked", "close"):
        whole = draft(framing)
        for end in (End.CLOSE, End.RESET):
            for size in (*range(0, whole.size(), 7), whole.size()):
                yield single(early_at(whole, size, end), method="POST")


def callers_at_once() -> Iterator[Case]:
    """Four callers of one client: two get interim responses, two get clean answers."""
    for round_ in range(10):
        callers = []
        for caller in range(4):
            serial = f"{caller:03}000.01"
            body = record(serial)
            answer = clean(serial).steps[0]
            assert isinstance(answer, Send)
            hints = (Send(_HINTS), Pause(0.004 * (round_ % 3))) if caller < 2 else ()
            steps = (*hints, answer)
            script = Script("callers", steps, End.KEEP, Expected("answer", 200, body), hasty=True)
            callers.append((Exchange(serial, "GET", script),))
        yield Case("callers at once", tuple(callers))


TABLES: Mapping[str, Callable[[], Iterator[Case]]] = {
    each.__name__: each
    for each in (
        splits_at_every_byte,
        resets_after_every_byte,
        closes_after_every_byte,
        interim_responses,
        bytes_behind,
        illegal_answers,
        odd_answers,
        undecodable_answers,
        endless_answers,
        bodies,
        early_answers,
        callers_at_once,
    )
}
