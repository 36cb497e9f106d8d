"""Run a case against the portal's client ``Origin``; return the broken rules."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from portal.upstream.errors import Broken, Failing, NotSent, TimedOut, Unusable, UpstreamError
from portal.upstream.origin import Origin
from portal.upstream.protocol import Resource, Response
from portal.upstream.spares import Spares
from tests.hostile.streams.script import (
    LONG_DEADLINE_S,
    STATUSES_WITH_BODY,
    Case,
    Exchange,
    clean,
    record,
    serials_in,
)
from tests.hostile.streams.server import Playback, ScriptedServer

FREE = ("not_sent", "circuit_open", "stale_connection")
_CHARGES = {
    "maybe": (Broken, TimedOut),
    "charged": (Unusable,),
    "failing": (Failing,),
    "any": (UpstreamError,),
}
_LATE_S = 15.0
_LARGE = 8_000_000
_runs = itertools.count(1)
_spares = Spares(1, 10.0)  # of all cases, so that a case uses what the former one has opened


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule: ``kind`` names the rule, ``stream`` the class of the stream."""

    kind: str
    stream: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} [{self.stream}]: {self.detail}"


@dataclass
class Row:
    """The record of one send, as in the portal's ledger."""

    ends: list[tuple[str, int | None]] = field(default_factory=list)

    def finish(self, outcome: str, status: int | None = None) -> None:
        self.ends.append((outcome, status))


@dataclass
class Account:
    rows: list[Row] = field(default_factory=list)

    def begin(self, origin: str) -> Row:
        self.rows.append(Row())
        return self.rows[-1]

    @property
    def paid(self) -> int:
        return sum(not row.ends or row.ends[0][0] not in FREE for row in self.rows)

    @property
    def outcomes(self) -> list[str]:
        return ["+".join(outcome for outcome, _ in row.ends) or "open" for row in self.rows]


class Client(Protocol):
    """The client under test: an Origin, or another class with the same ``send``."""

    def send(self, resource: Resource, account: Account, deadline: float) -> Response: ...


def origin(url: str) -> Client:
    return Origin("primary", url, 10.0, LONG_DEADLINE_S, _spares)


def violations_of(
    case: Case, server: ScriptedServer, client: Callable[[str], Client] = origin
) -> list[Violation]:
    """Play the case with a new client and return the violations."""
    run = _Run(server, client(server.url))
    if len(case.callers) == 1:
        run.caller(case, 0)
    else:
        callers = [
            threading.Thread(target=run.caller, args=(case, number), daemon=True)
            for number in range(len(case.callers))
        ]
        for each in callers:
            each.start()
        for each in callers:
            each.join()
    return run.finish()


class _Run:
    """One case in progress: the client under test and all calls made so far."""

    def __init__(self, server: ScriptedServer, client: Client) -> None:
        self._server = server
        self._root = f"/{next(_runs)}"
        self._client = client
        self._calls: list[_Call] = []
        self._found: list[Violation] = []

    def caller(self, case: Case, number: int) -> None:
        try:
            if case.warm_up:
                self._clean(f"{number:03}000.00", "warm-up")
            for index, exchange in enumerate(case.callers[number]):
                self._call(exchange, exchange.script.name)
                self._clean(f"{number:03}{index:03}.99", f"after {exchange.script.name}")
        except Exception as error:
            self._found.append(Violation("harness", case.name, repr(error)))

    def _clean(self, serial: str, name: str) -> None:
        self._call(Exchange(serial, "GET", clean(serial)), name)

    def _call(self, exchange: Exchange, name: str) -> None:
        call = _Call(exchange, name)
        path = f"{self._root}/{exchange.serial}"
        self._calls.append(call)
        self._server.register(path, call.playback)
        call.make(self._client, path)
        self._found += call.violations()

    def finish(self) -> list[Violation]:
        """Check the accounts again, and return all violations.

        The server may have received the request of a timed-out call after the call ended.
        """
        for call in self._calls:
            call.playback.settle()
            late = call.money()
            self._found += [each for each in late if each not in self._found]
            self._server.forget(f"{self._root}/{call.exchange.serial}")
        if close := getattr(self._client, "close", None):
            close()
        return self._found


class _Call:
    """One call of the client under test, with its result and its ledger rows."""

    def __init__(self, exchange: Exchange, name: str) -> None:
        self.exchange = exchange
        self.name = name
        self.account = Account()
        self.playback = Playback(exchange.serial, exchange.script, lambda: len(self.account.rows))
        self._checked: list[bytes] = []
        self._response: Response | None = None
        self._error: Exception | None = None
        self._late_s = 0.0
        self._deadline = 0.0
        self._settled = True

    def make(self, client: Client, path: str) -> None:
        resource = Resource(
            method=self.exchange.method,
            path=path,
            subject=self.exchange.serial,
            credential="operator-token",
            body=self._body(),
            check=self._check,
        )
        self._deadline = time.monotonic() + self.exchange.script.deadline_s
        try:
            self._response = client.send(resource, self.account, self._deadline)
        except Exception as error:
            self._error = error
        self._late_s = time.monotonic() - self._deadline
        self._settled = self.exchange.script.hasty or self.playback.settle()

    def _check(self, response: Response) -> Response:
        self._checked.append(response.body)
        return response

    def _body(self) -> bytes | None:
        """Return the request body.

        For early answers, the body exceeds the socket buffers. The server then answers before the
        client has sent the whole body.
        """
        if self.exchange.method == "GET":
            return None
        return b'{"plate": "ABC1D23"}' + b" " * (_LARGE if self.exchange.script.early else 0)

    def violations(self) -> Iterator[Violation]:
        if self._response is not None:
            yield from self._answered(self._response)
        elif isinstance(self._error, UpstreamError):
            yield from self._failed(self._error)
        else:
            yield self._violation("foreign exception", repr(self._error))
        yield from self.money()
        if self._late_s > _LATE_S:
            yield self._violation("late", f"{self._late_s:.1f} s after the deadline")
        if not self._settled:
            yield self._violation("connection held", "open long after the call had ended")

    def _answered(self, response: Response) -> Iterator[Violation]:
        foreign = serials_in(response.body) - {self.exchange.serial}
        if foreign:
            yield self._violation("crossing", f"got the body of {sorted(foreign)}")
            return
        if self._is_of_repeated_request(response):
            return
        expected = self.exchange.script.expected
        own = expected.body in (None, response.body)
        if expected.status not in STATUSES_WITH_BODY:
            own = own or not response.body
        if response.status != expected.status or not own:
            yield self._violation("wrong answer", f"got {response.status} {response.body[:200]!r}")
        elif expected.kind == "error":
            yield self._violation("illegal answer accepted", f"got {response.status}")
        if response.status == 200 and self._checked[-1:] != [response.body]:
            yield self._violation("unchecked", f"{len(self._checked)} bodies were checked")

    def _is_of_repeated_request(self, response: Response) -> bool:
        """Whether the response answers a repeated request.

        ``money`` reports repetitions that the ledger's rules forbid.
        """
        repeated = self.exchange.script.mends and self.playback.received > 1
        return repeated and response.body == record(self.exchange.serial)

    def _failed(self, error: UpstreamError) -> Iterator[Violation]:
        script = self.exchange.script
        context = f"{type(error).__name__}: {error}"
        if script.expected.kind == "answer":
            # On a starved machine, the scripted upstream itself may be too late with its last byte.
            is_late = self.playback.last_sent_at > self._deadline
            if not (is_late and isinstance(error, TimedOut)):
                yield self._violation("answer lost", context)
        elif isinstance(error, NotSent):
            if self.playback.received:
                yield self._violation("free", f"{context}, but the request was received")
        elif not isinstance(error, _CHARGES[script.expected.charge]):
            yield self._violation("charge class", f"{context} is not {script.expected.charge!r}")
        elif isinstance(error, Failing) and error.status != script.expected.status:
            yield self._violation("charge class", f"{context} is not {script.expected.status}")

    def money(self) -> Iterator[Violation]:
        """Check the rows: opened before the send, closed once, a received call not free."""
        rows, playback = self.account.rows, self.playback
        context = f"received {playback.received} times, rows {self.account.outcomes}"
        if playback.unannounced:
            yield self._violation("not announced", context)
        if any(len(row.ends) != 1 for row in rows):
            yield self._violation("row not closed once", context)
        if self.account.paid < playback.received:
            yield self._violation("booked free", context)
        legal = self.exchange.script.expected.kind == "answer"
        if legal and self._response is not None and self.account.paid > playback.received:
            yield self._violation("booked too often", context)
        answered = [status for row in rows for outcome, status in row.ends if outcome == "answered"]
        if answered != ([self._response.status] if self._response else []):
            yield self._violation("outcome", f"{context}, {self._response or self._error!r}")
        silent = self.exchange.method == "GET" and not playback.bytes_sent
        if playback.received > (2 if silent else 1):
            yield self._violation("asked again", context)

    def _violation(self, kind: str, detail: str) -> Violation:
        return Violation(kind, self.name, detail)
