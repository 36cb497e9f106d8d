"""A breaker for pass-through mode, in which each caller brings a credential of its own."""

from collections.abc import Callable
from enum import Enum

from portal.upstream.breaker import SecondLook
from portal.upstream.circuit import COUNTERS, Circuit, State, mark
from portal.upstream.errors import CircuitOpen, LocalFailure, NotSent, UpstreamError
from portal.upstream.protocol import Account, Resource, Response, Upstream
from portal.upstream.shared_counters import CELL_BYTES, SharedCounters

PROVEN_S = 3600.0

# The table has SETS sets of WAYS slots; a payer's mark names its set. A slot holds the payer's
# mark (0: free), when it last changed, until when the payer is proven, and the payer's circuit.
SETS, WAYS = 128, 8
_MARK, _CHANGED_AT, _PROVEN_UNTIL, _CIRCUIT = 0, 1, 2, 3
_SLOT = _CIRCUIT + COUNTERS
PAYER_COUNTERS = COUNTERS + SETS * WAYS * _SLOT
BYTES_PER_BREAKER = PAYER_COUNTERS * CELL_BYTES


class _Turn(Enum):
    """What a call is to the circuits."""

    USUAL = "usual"
    OWN_PROBE = "probe of its payer's circuit"
    PROBE = "probe of the shared circuit, and of its payer's"


class PayerBreaker:
    """Keeps the failures and pauses of one payer from stopping the others.

    Each payer (``Resource.payer``) has a circuit of its own for what a credential can influence:
    the pause that a 429 asks for, time-outs, 5xx, broken and unusable answers. The shared circuit
    opens after FAILURES_TO_OPEN different vehicles could not be sent (NotSent), or after such
    failures of FAILURES_TO_OPEN different proven payers. A payer is proven for PROVEN_S after a
    200, so strangers with many invented credentials never open the shared circuit.

    Once the shared circuit is half-open every payer may send a probe of its own, since a
    stranger's failing probe would keep it open for all.

    State is shared by the worker processes in ``cells``, as in Breaker. The table of payers is
    bounded. A new payer replaces the one of its set that changed longest ago, and an unproven one
    never replaces a proven one; a payer that finds no slot has no circuit. The usual case (all
    circuits closed, no failures, no pause) takes no lock.
    """

    def __init__(
        self,
        origin: Upstream,
        name: str,
        clock: Callable[[], float],
        cells: SharedCounters | None = None,
        longest_call_s: float = 20.0,
    ) -> None:
        self.name = name
        self._origin = origin
        self._clock = clock
        self._cells = SharedCounters(PAYER_COUNTERS) if cells is None else cells
        self._shared = Circuit(self._cells, clock, longest_call_s)
        self._payers = _Payers(self._cells, clock, longest_call_s)

    @property
    def state(self) -> State:
        """The shared circuit's."""
        return self._shared.state

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Ask the origin, or raise CircuitOpen at once."""
        payer, subject = mark(resource.payer or ""), mark(resource.subject)
        turn = self._enter(payer)
        try:
            asked = account
            if turn is _Turn.USUAL:
                asked = SecondLook(account, lambda: self._refuse_if_open(payer))
            response = self._origin.send(resource, asked, deadline)
        except (CircuitOpen, LocalFailure):
            self._leave(payer, turn)  # nothing was learnt about the origin
            raise
        except NotSent:
            self._not_sent(payer, subject, turn)
            raise
        except UpstreamError:
            self._failed(payer, subject, turn)
            raise
        except BaseException:
            self._leave(payer, turn)  # refused by the account
            raise
        self._answered(payer, response, turn)
        return response

    def _enter(self, payer: float) -> _Turn:
        now = self._clock()
        self._shared.refuse_while_cooling(now)
        own = self._payers.find(payer)
        if not self._shared.is_open(now) and (own is None or own.lets_pass(now)):
            return _Turn.USUAL
        # Under the lock, because the slot may have changed hands since it was found.
        with self._cells.locked():
            now = self._clock()
            self._shared.refuse_while_cooling(now)
            half_open = self._shared.is_open(now)
            own = self._payers.claim(payer, now) if half_open else self._payers.find(payer)
            if own is None or (not half_open and own.lets_pass(now)):
                return _Turn.PROBE if half_open else _Turn.USUAL
            own.circuit.refuse_while_paused(now)
            own.circuit.refuse_while_cooling(now)
            own.circuit.start_probe(now)
            return _Turn.PROBE if half_open else _Turn.OWN_PROBE

    def _refuse_if_open(self, payer: float) -> None:
        now = self._clock()
        self._shared.refuse_while_open(now)
        own = self._payers.find(payer)
        if own is None or own.lets_pass(now):
            return
        with self._cells.locked():
            own = self._payers.find(payer)
            if own is not None:
                own.circuit.refuse_while_paused(now)
                own.circuit.refuse_while_open(now)

    def _leave(self, payer: float, turn: _Turn) -> None:
        if turn is not _Turn.USUAL:
            with self._cells.locked():
                self._end_probe(payer, turn)

    def _end_probe(self, payer: float, turn: _Turn) -> None:
        own = self._payers.find(payer)
        if turn is not _Turn.USUAL and own is not None:
            own.circuit.end_probe()

    def _not_sent(self, payer: float, subject: float, turn: _Turn) -> None:
        """No credential can influence whether the origin can be reached."""
        with self._cells.locked():
            self._shared.fail(subject, self._clock(), probe=turn is _Turn.PROBE)
            self._end_probe(payer, turn)

    def _failed(self, payer: float, subject: float, turn: _Turn) -> None:
        with self._cells.locked():
            now = self._clock()
            own = self._payers.claim(payer, now)
            if own is None:
                return
            own.circuit.fail(subject, now, probe=turn is not _Turn.USUAL)
            own.circuit.end_probe()
            if own.is_proven(now):  # one payer never extends the others' cool-down
                self._shared.fail(payer, now, extend=False)

    def _answered(self, payer: float, response: Response, turn: _Turn) -> None:
        now = self._clock()
        good, pauses = response.status == 200, response.status == 429
        own = self._payers.find(payer)
        known = own.is_settled(now) if own is not None else not good
        if known and turn is _Turn.USUAL and not pauses and not self._shared.has_failures:
            return  # the usual case takes no lock
        with self._cells.locked():
            now = self._clock()
            if turn is _Turn.PROBE:
                self._shared.close()
            elif not self._shared.is_open(now):
                self._shared.forget_failures()
            own = (
                self._payers.claim(payer, now, good)
                if good or pauses
                else (self._payers.find(payer))
            )
            if own is None:
                return
            if turn is not _Turn.USUAL:
                own.circuit.close()
                own.circuit.end_probe()
            elif not own.circuit.is_open(now):
                own.circuit.forget_failures()
            if good:
                own.prove(now)
            if pauses:
                own.circuit.pause(response.retry_after_s, now)


class _Slot:
    """What is known of one payer."""

    __slots__ = ("_cells", "_first", "circuit")

    def __init__(
        self, cells: SharedCounters, first: int, clock: Callable[[], float], longest_call_s: float
    ) -> None:
        self._cells = cells
        self._first = first
        self.circuit = Circuit(cells, clock, longest_call_s, first + _CIRCUIT)

    @property
    def mark(self) -> float:
        return self._cells[self._first + _MARK]

    @property
    def changed_at(self) -> float:
        return self._cells[self._first + _CHANGED_AT]

    def lets_pass(self, now: float) -> bool:
        return not (self.circuit.is_open(now) or self.circuit.is_paused(now))

    def is_proven(self, now: float) -> bool:
        return 0 < self._cells[self._first + _PROVEN_UNTIL] - now <= PROVEN_S

    def is_settled(self, now: float) -> bool:
        """Whether an answer changes nothing here: proven for long enough, and no failures."""
        proven_s = self._cells[self._first + _PROVEN_UNTIL] - now
        return PROVEN_S / 2 < proven_s <= PROVEN_S and not self.circuit.has_failures

    def prove(self, now: float) -> None:
        self._cells[self._first + _PROVEN_UNTIL] = now + PROVEN_S

    def touch(self, now: float) -> None:
        self._cells[self._first + _CHANGED_AT] = now

    def take(self, payer: float) -> None:
        """Give the slot to a payer. The mark comes last: readers take no lock."""
        self._cells[self._first + _MARK] = 0.0
        self._cells[self._first + _PROVEN_UNTIL] = 0.0
        self.circuit.clear()
        self._cells[self._first + _MARK] = payer


class _Payers:
    """The table of payers: sets of slots, so that a search takes the same time however full."""

    def __init__(
        self, cells: SharedCounters, clock: Callable[[], float], longest_call_s: float
    ) -> None:
        self._slots = [
            _Slot(cells, first, clock, longest_call_s)
            for first in range(COUNTERS, PAYER_COUNTERS, _SLOT)
        ]

    def find(self, payer: float) -> _Slot | None:
        return next((slot for slot in self._set_of(payer) if slot.mark == payer), None)

    def claim(self, payer: float, now: float, proven: bool = False) -> _Slot | None:
        """The payer's slot, a new one if need be; None where all belong to proven payers and this
        one is not. To be called with the cells locked."""
        slot = self.find(payer)
        if slot is None:
            candidates = self._set_of(payer)
            if not proven:
                candidates = [each for each in candidates if not each.is_proven(now)]
            if not candidates:
                return None
            slot = min(
                candidates, key=lambda each: (each.is_proven(now), each.mark != 0, each.changed_at)
            )
            slot.take(payer)
        slot.touch(now)
        return slot

    def _set_of(self, payer: float) -> list[_Slot]:
        first = int(payer) // 2 % SETS * WAYS  # every mark is odd
        return self._slots[first : first + WAYS]
