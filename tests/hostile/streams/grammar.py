"""Random scripts from a grammar of HTTP/1.1 responses, with the expected result of each."""

import dataclasses
import itertools
import re
import sys
from collections.abc import Iterable, Mapping
from random import Random

from tests.hostile.streams import illegal
from tests.hostile.streams.responses import Draft, Piece, interim, response
from tests.hostile.streams.script import (
    LONG_DEADLINE_S,
    SHORT_DEADLINE_S,
    STATUSES_WITH_BODY,
    Case,
    Charge,
    End,
    Endless,
    Exchange,
    Expected,
    Kind,
    Method,
    Pause,
    Script,
    Send,
    Step,
    clean,
    record,
)

ILLEGAL: tuple[tuple[Charge, Mapping[str, illegal.Make]], ...] = (
    ("any", illegal.STATUS_LINES),
    ("charged", illegal.FRAMINGS),
)
# Linux delivers bytes that arrived before a reset; other systems may drop them.
RESET_DELIVERS = sys.platform == "linux"
_STRANGERS = 900  # serial prefix of records that belong to no request


def case(seed: str, number: int) -> Case:
    """Return the case of a seed and number, independent of all other cases."""
    random = Random(f"{seed}:{number}")
    callers = random.choices((1, 2, 4), (90, 6, 4))[0]
    length = 3 if callers == 1 else 2
    return Case(
        f"{seed}:{number}",
        tuple(
            tuple(_exchange(random, caller, index) for index in range(length))
            for caller in range(callers)
        ),
        warm_up=random.random() < 0.8,
    )


def _exchange(random: Random, caller: int, index: int) -> Exchange:
    serial = f"{caller:03}{index:03}.01"
    made = script(random, serial)
    method: Method = "POST" if made.early or random.random() < 0.15 else "GET"
    return Exchange(serial, method, made)


def script(random: Random, serial: str) -> Script:
    maker = random.choices(
        (legal, extended, cut, reset, broken, odd, undecodable, early, stalled, endless),
        (34, 20, 12, 12, 14, 9, 2, 1, 1, 0.3),
    )[0]
    made = maker(random, serial)
    return made if maker in (stalled, endless) else split(random, made)


def legal(random: Random, serial: str) -> Script:
    """A complete response without extra bytes.

    The server closes or keeps the connection, whatever the Connection header says.
    """
    draft = response(random, serial)
    end = random.choice((End.KEEP, End.KEEP, End.KEEP, End.CLOSE))
    if draft.framing == "close":
        end = End.CLOSE
    steps = steps_of(draft.pieces)
    hasty = bool(draft.final_at) and random.random() < 0.6
    if hasty:
        steps.insert(draft.final_at, Pause(random.choice((0.001, 0.001, 0.02))))
    elif end is End.CLOSE and random.random() < 0.5:
        steps.append(Pause(0.002, idle=True))
    return Script(f"legal {draft.name}", tuple(steps), end, expectation(draft), hasty=hasty)


def extended(random: Random, serial: str) -> Script:
    """A complete response and extra bytes, sent at once or while the connection is idle."""
    draft = response(random, serial)
    if draft.framing == "close":
        return legal(random, serial)
    name, extra = random.choice(list(extras(random).items()))
    steps = steps_of(draft.pieces)
    how = random.choice(("in one packet", "at once", "while idle"))
    if how == "in one packet":
        steps.append(Send(extra))
    elif how == "at once":
        steps += [Pause(0.0), Send(extra)]
    else:
        steps += [Pause(random.choice((0.001, 0.003)), idle=True), Send(extra)]
    end = random.choice((End.KEEP, End.KEEP, End.CLOSE, End.RESET if RESET_DELIVERS else End.CLOSE))
    if end is End.RESET:
        steps.append(Pause(0.002, idle=True))
    return Script(f"{name}: {how}", tuple(steps), end, expectation(draft))


def extras(random: Random) -> dict[str, bytes]:
    """Return extra bytes to send after a complete answer, such as another record."""
    stranger = f"{_STRANGERS:03}{random.randrange(1000):03}.77"
    other = clean(stranger).steps[0]
    assert isinstance(other, Send)
    body = record(stranger)
    half = random.randrange(1, len(other.data))
    return {
        "CRLF behind": b"\r\n",
        "empty lines behind": b"\n\r\n\r\n",
        "garbage behind": bytes(random.randrange(256) for _ in range(random.randrange(1, 40))),
        "body bytes behind": body,
        "response behind": other.data,
        "two responses behind": other.data * 2,
        "half a response behind": other.data[:half],
        "second half behind": other.data[half:],
        "interim behind": b"HTTP/1.1 103 Hints\r\n\r\n",
        "interim and response behind": b"HTTP/1.1 103 Hints\r\n\r\n" + other.data,
        "408 behind": b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
        "open response behind": b"HTTP/1.1 200 OK\r\n\r\n" + body,
        "last chunk behind": b"0\r\n\r\n",
    }


def cut(random: Random, serial: str) -> Script:
    """A response cut off by a close at a random byte."""
    draft = response(random, serial, plain=True)
    end = draft.size(draft.head_ends) if draft.framing == "close" else draft.size()
    return cut_at(draft, random.randrange(end), End.CLOSE, random.random() < 0.5)


def reset(random: Random, serial: str) -> Script:
    """A response cut off by a reset at a random byte."""
    draft = response(random, serial, plain=True)
    return cut_at(draft, random.randrange(draft.size()), End.RESET, random.random() < 0.5)


def stalled(random: Random, serial: str) -> Script:
    """A response that stops at a random byte. The rest follows too late or never."""
    draft = response(random, serial, plain=True)
    size = random.choice((0, random.randrange(draft.size())))
    made = cut_at(draft, size, End.HANG)
    if draft.framing == "close" or random.random() < 0.6:
        return made
    rest = joined(draft.pieces)[size:]
    steps = (*made.steps, Pause(SHORT_DEADLINE_S * 1.4), Send(rest))
    expected = Expected("either", draft.status, draft.body)
    return dataclasses.replace(
        made,
        name="answer after the deadline",
        steps=steps,
        end=End.KEEP,
        expected=expected,
        hasty=True,
    )


def cut_at(draft: Draft, size: int, end: End, mends: bool = False) -> Script:
    """The first ``size`` bytes of a response.

    A client that already has the whole body may return an answer.
    """
    final = draft.size(draft.final_at)
    charge: Charge = "any"
    if size == 0:
        charge = "maybe"
    elif size >= final + len(draft.pieces[draft.final_at].data) and _is_seen(end):
        charge = "charged"
    needed = draft.size(max(draft.head_ends, draft.whole_at)) - 4  # a tolerance for line ends
    expected = Expected("error" if size < needed else "either", draft.status, draft.body, charge)
    steps = steps_of(_first(draft.pieces, size))
    if end is not End.HANG:
        steps.append(Pause(0.001))
    where = "in the body" if size >= draft.size(draft.head_ends) else "in the head"
    if size == 0:
        where = "before a byte"
    elif size <= final:
        where = "in an interim response"
    verb = {End.CLOSE: "closed", End.RESET: "reset", End.HANG: "stalled"}[end]
    name = f"{verb} {where}: {draft.framing}"
    deadline_s = SHORT_DEADLINE_S if end is End.HANG else LONG_DEADLINE_S
    return Script(name, tuple(steps), end, expected, mends, deadline_s=deadline_s)


def joined(pieces: Iterable[Piece]) -> bytes:
    return b"".join(piece.data for piece in pieces)


def _is_seen(end: End) -> bool:
    """Whether the client receives all bytes and then the end of the connection."""
    return end is End.CLOSE or (end is End.RESET and RESET_DELIVERS)


def _first(pieces: Iterable[Piece], size: int) -> list[Piece]:
    first = []
    for piece in pieces:
        first.append(dataclasses.replace(piece, data=piece.data[:size]))
        size -= len(first[-1].data)
    return first


def broken(random: Random, serial: str) -> Script:
    """An invalid response from the tables in ILLEGAL."""
    charge, table = random.choice(ILLEGAL)
    name, make = random.choice(list(table.items()))
    end = random.choices((End.CLOSE, End.RESET, End.HANG), (80, 15, 5))[0]
    body = record(serial, random.choice((0, 0, 300)))
    return illegal_answer(name, _interims(random, serial), make(body), end, charge)


def illegal_answer(
    name: str, interims: Iterable[Step], sent: bytes, end: End, charge: Charge
) -> Script:
    if end is not End.CLOSE:
        charge = "any"  # the client may see the deadline or the reset first
    steps = (*interims, Send(sent), Pause(0.001))
    expected = Expected("error", charge=charge)
    deadline_s = SHORT_DEADLINE_S if end is End.HANG else LONG_DEADLINE_S
    return Script(f"illegal {name}", steps, end, expected, deadline_s=deadline_s)


def odd(random: Random, serial: str) -> Script:
    """A response from ``illegal.CHOICES``, which a client may accept or reject."""
    name, make = random.choice(list(illegal.CHOICES.items()))
    body = record(serial, random.choice((0, 300)))
    end = random.choices((End.CLOSE, End.KEEP), (85, 15))[0]
    return odd_answer(name, _interims(random, serial), make(body), body, end)


def odd_answer(name: str, interims: Iterable[Step], sent: bytes, body: bytes, end: End) -> Script:
    steps = (*interims, Send(sent), Pause(0.001))
    expected = Expected("either", 200, body)
    deadline_s = SHORT_DEADLINE_S if end is End.KEEP else LONG_DEADLINE_S
    return Script(f"odd {name}", steps, end, expected, deadline_s=deadline_s)


def _interims(random: Random, serial: str) -> list[Step]:
    draft = Draft(serial)
    while random.random() < 0.15:
        interim(random, draft)
    return steps_of(draft.pieces)


def early(random: Random, serial: str) -> Script:
    """A response sent before the request's body is read (RFC 9112 §9.5)."""
    draft = response(random, serial, plain=True)
    whole = random.random() < 0.5
    size = draft.size() if whole else random.randrange(draft.size())
    return early_at(draft, size, random.choice((End.CLOSE, End.RESET)))


def early_at(draft: Draft, size: int, end: End) -> Script:
    """The first ``size`` bytes of a response, sent before the request's body is read.

    The system may turn a close with unread data into a reset. For a body that ends with the
    connection, the expected result would depend on that, so the script always resets.
    """
    if draft.framing == "close":
        end = End.RESET
    made = cut_at(draft, size, end)
    expected = dataclasses.replace(made.expected, charge="any")
    return dataclasses.replace(made, name=f"early {made.name}", expected=expected, early=True)


def undecodable(random: Random, serial: str) -> Script:
    """An error status whose body cannot be decoded."""
    status = random.choice(illegal.ERROR_STATUSES)
    make = random.choice(illegal.UNDECODABLE)
    end = random.choice((End.KEEP, End.CLOSE))
    return undecodable_answer(status, _interims(random, serial), make(status, record(serial)), end)


def undecodable_answer(status: int, interims: Iterable[Step], sent: bytes, end: End) -> Script:
    """An error status whose body cannot be decoded.

    The status alone is an answer. If the client must also read the body, it may raise an error.
    """
    kind: Kind = "either" if status in STATUSES_WITH_BODY else "answer"
    steps = (*interims, Send(sent))
    return Script(f"undecodable: {status}", steps, end, Expected(kind, status, b""))


def endless(random: Random, serial: str) -> Script:
    name, (head, again) = random.choice(list(illegal.ENDLESS.items()))
    return without_end(name, head, again)


def without_end(name: str, head: bytes, again: bytes) -> Script:
    steps = (Send(head), Endless(again)) if head else (Endless(again),)
    expected = Expected("error")
    if name == "trailers":
        expected = Expected("either", 200, b"a")  # the body is complete before the trailers
    return Script(f"endless: {name}", steps, End.CLOSE, expected, deadline_s=SHORT_DEADLINE_S)


def expectation(draft: Draft) -> Expected:
    """Return the expected result of a complete legal response."""
    if draft.status == 200 or 400 <= draft.status < 500:
        return Expected("answer", draft.status, draft.body)
    charge: Charge = "failing" if draft.status >= 500 else "charged"
    return Expected("error", draft.status, charge=charge)


def steps_of(pieces: Iterable[Piece]) -> list[Step]:
    """Return one Send for each piece, so that optional elements can be removed."""
    return [Send(piece.data, piece.element) for piece in pieces if piece.data]


def split(random: Random, whole: Script) -> Script:
    """Return the script with the same bytes in other packets."""
    steps = list(whole.steps)
    size = sum(len(step.data) for step in steps if isinstance(step, Send))
    pause = Pause(random.choice((0.001, 0.001, 0.001, 0.0)))
    how = random.choices(("whole", "some", "every byte", "lines"), (45, 40, 8, 7))[0]
    if how == "some" and size > 1:
        places = {random.randrange(1, size) for _ in range(random.choice((1, 1, 2, 4)))}
        return whole.with_steps(split_at(steps, places, pause))
    if how == "every byte":
        return whole.with_steps(split_at(steps, set(range(min(size, 400))), Pause(0.0)))
    if how == "lines":
        return whole.with_steps(split_at(steps, line_ends(steps), Pause(0.0)))
    return whole


def split_at(steps: Iterable[Step], places: Iterable[int], pause: Pause) -> list[Step]:
    """Return the steps with a pause before each byte whose index is in ``places``."""
    made: list[Step] = []
    begin = 0
    for step in steps:
        if not isinstance(step, Send):
            made.append(step)
            continue
        end = begin + len(step.data)
        cuts = [place - begin for place in sorted(places) if begin <= place < end]
        for first, last in itertools.pairwise([0, *cuts, len(step.data)]):
            if first in cuts:
                made.append(pause)
            made.append(Send(step.data[first:last], step.element))
        begin = end
    return made


def line_ends(steps: Iterable[Step]) -> set[int]:
    data = b"".join(step.data for step in steps if isinstance(step, Send))
    return {match.start() for match in re.finditer(rb"[\r\n]", data[:3000])}
