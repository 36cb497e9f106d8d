"""Upstreams that number their answers.

The number tells a test which vehicle, credential, upstream and time an answer belongs to.
"""

import gzip
import itertools
import json
import math
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tests import factories
from tests.fakes import Fault, FaultUpstream, extra_bytes, faults, odd_bodies
from tests.fakes.answers import LISTS, Operation, operation_of, subject_of
from tests.fakes.wire import After, Call, Wire

Outcome = Literal["good", "rejected", "absent", "refused", "busy", "failed"]
Body = Callable[[Call], bytes]
# Digits only, because pages may change the case of letters.
MARK = re.compile(rb"90909(\d{7})09")
Key = tuple[str, str, str]  # method, path, canonical body


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of upstream answer, and how the portal should classify it.

    With ``cuts``, the fake may drop a request without counting it. The portal then sends the
    request again, so its ledger may have more rows than the fake has calls.
    """

    name: str
    outcome: Outcome
    fault: Callable[[Body], Fault]
    empty: bool = False
    cuts: bool = False
    operations: tuple[Operation, ...] = ("decode", "renainf", "renajud", "report")


def _plain(body: Body) -> Fault:
    return faults.answer("good", body)


def _gzipped(body: Body) -> Fault:
    coding = [("Content-Encoding", "gzip")]
    return faults.answer("gzip", lambda call: gzip.compress(body(call)), headers=coding)


def _failed(fault: Fault, *operations: Operation) -> Kind:
    kind = Kind(fault.name, "failed", lambda body: fault)
    return Kind(kind.name, "failed", kind.fault, operations=operations or kind.operations)


def _status(code: int, outcome: Outcome, retry_after: str | None = None) -> Kind:
    fault = faults.status(code, retry_after=retry_after)
    return Kind(fault.name, outcome, lambda body: fault)


_EMPTY_WITH_MESSAGE = factories.encode(
    {"status": "SUCCESS", "result": [], "message": "Base estadual indisponível."}
)
GOOD = Kind("good", "good", _plain)
EMPTY = Kind("empty", "good", _plain, empty=True, operations=LISTS)
DEAD = _failed(faults.html_error(503))
SLOW = Kind("slow", "good", lambda body: faults.slow_first_byte(0.3, _plain(body)))
GOOD_KINDS = (
    GOOD,
    EMPTY,
    SLOW,
    Kind("gzip", "good", _gzipped),
    Kind("closed after", "good", extra_bytes.closed_after, cuts=True),
    Kind("interim", "good", lambda body: extra_bytes.interim_with_answer(body=body)),
    Kind("interim late", "good", lambda body: extra_bytes.interim_then_late_answer(body=body)),
    Kind("trailing", "good", lambda body: extra_bytes.trailing_bytes(body=body)),
    Kind("unasked", "good", lambda body: extra_bytes.unasked_answer(unasked=body, body=body)),
)
HARMLESS_REFUSALS = (
    _status(400, "rejected"),
    _status(404, "absent"),
    _status(401, "refused"),
    _status(403, "refused"),
)
BAD_KINDS = (
    _status(429, "busy", retry_after="1"),
    _failed(faults.status(402)),
    _failed(faults.status(500)),
    _failed(faults.html_error(400)),
    _failed(faults.html_error(404)),
    _failed(faults.html_error(503)),
    _failed(faults.closed_before_a_byte()),
    _failed(faults.reset_before_a_byte()),
    _failed(extra_bytes.started_then_reset()),
    _failed(faults.reset_mid_body()),
    _failed(faults.short_length()),
    _failed(faults.hang()),
    _failed(odd_bodies.truncated_json()),
    _failed(odd_bodies.message_in_200()),
    _failed(odd_bodies.nan()),
    _failed(faults.answer("empty with a message", _EMPTY_WITH_MESSAGE), *LISTS),
    _failed(odd_bodies.other_plate(), "decode", "renajud"),
)
KINDS = {kind.name: kind for kind in (*GOOD_KINDS, *HARMLESS_REFUSALS, *BAD_KINDS)}


@dataclass(eq=False)
class Answer:
    """One counted call and its answer. Times are in epoch seconds.

    Only a good answer has a ``body``. At ``known_by``, the portal had received the answer. At
    ``stored_by``, a response had shown the answer to be stored. ``purged_at`` is the end of a purge
    of its vehicle. ``has_ended`` means that the upstream has finished its response.
    """

    upstream: "NumberedUpstream"
    call: Call
    operation: Operation
    subject: str
    kind: Kind
    received_at: float
    env: str = ""
    sent_at: float = 0.0
    known_by: float | None = None
    body: bytes | None = None
    needle: bytes = b""
    empty: bool = False
    stored_by: float = math.inf
    purged_at: float | None = None
    made_of: tuple[bytes, ...] = ()
    has_ended: bool = False

    @property
    def key(self) -> Key:
        body = json.dumps(json.loads(self.call.body), sort_keys=True) if self.call.body else ""
        return self.call.method, self.call.path, body

    @property
    def credential(self) -> str:
        return self.call.header("authorization") or ""

    @property
    def outcome(self) -> Outcome:
        return self.kind.outcome

    def note_stored(self, at: float) -> None:
        self.stored_by = min(self.stored_by, at)

    def forget_stored(self) -> None:
        """Note that the answer may be stored no longer."""
        self.stored_by = math.inf

    def __str__(self) -> str:
        what = f"{self.operation} {self.call.path.rpartition('/')[2]} ({self.kind.name})"
        return f"answer {self.needle!r} of {self.upstream.name} to {what} at {self.sent_at:.2f}"


@dataclass(eq=False)
class NumberedUpstream:
    """An upstream with numbered answers.

    Each ``armed`` kind answers the next call that suits it. ``standing`` answers all other calls,
    except those for the ``dead`` vehicles, which all fail.
    While ``gate`` is cleared, no call is answered.
    """

    name: str
    numbers: "itertools.count[int]"
    fake: FaultUpstream = field(default_factory=FaultUpstream)
    standing: Kind = GOOD
    armed: deque[Kind] = field(default_factory=deque)
    dead: set[str] = field(default_factory=set)
    answers: list[Answer] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    cut: bool = False  # calls may have been cut off without being counted
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.gate.set()
        self.fake.default(Fault("numbered", self._play))

    def _play(self, wire: Wire, call: Call) -> After:
        operation = operation_of(call)
        assert operation is not None, f"{call.method} {call.path} is no path of the contract"
        with self._lock:
            subject = subject_of(call)
            kind = DEAD if subject in self.dead else self._next_kind(operation)
            answer = Answer(self, call, operation, subject, kind, time.time())
            self.answers.append(answer)
        self.cut |= kind.cuts
        # An unrequested second answer is not recorded, because it belongs to no call.
        sent = iter([answer])
        try:
            while not self.gate.is_set():
                wire.pause(0.01)
            fault = kind.fault(lambda call: self._numbered(next(sent, None), answer))
            return fault.play(wire, call)
        finally:
            answer.has_ended = True

    def _next_kind(self, operation: Operation) -> Kind:
        for kind in [*self.armed, self.standing]:
            if operation in kind.operations:
                if kind in self.armed:
                    self.armed.remove(kind)
                return kind
        return GOOD

    def _numbered(self, answer: Answer | None, asked: Answer) -> bytes:
        number = next(self.numbers)
        needle = f"90909{number:07}09".encode()
        match asked.operation:
            case "decode":
                body = factories.decode_body(asked.subject, descricao=f"A3 {needle.decode()}")
            case "renainf":
                place = factories.fine(localInfracao=f"BR-040 KM {needle.decode()}")
                body = factories.renainf_body(*([] if asked.kind.empty else [place]))
            case "renajud":
                court = factories.restriction(orgaoJudiciario=f"{needle.decode()} VARA CIVEL")
                body = factories.renajud_body(*([] if asked.kind.empty else [court]))
            case "report":
                body = factories.report_body(summary=f"Resumo {needle.decode()}.")
        if asked.kind.empty:
            # An empty list can carry a number only in the white space after it.
            needle = b"\n\n" + f"{number:024b}".translate({48: " ", 49: "\t"}).encode() + b"\n"
            body += needle
        if answer is not None:
            answer.needle, answer.empty, answer.sent_at = needle, asked.kind.empty, time.time()
            answer.made_of = tuple(each[0] for each in MARK.finditer(asked.call.body))
            answer.body = body
        return body
