"""A circuit breaker for one base address, when each caller has its own upstream credential."""

from collections.abc import Callable
from enum import Enum

from portal.system.shared_counters import COUNTER_BYTES, SharedCounters
from portal.upstream.breaker import (
    COUNTERS,
    Circuit,
    RecheckingAccount,
    State,
    name_hash,
    with_pause,
)
from portal.upstream.errors import CircuitOpen, LocalFailure, NotSent, Unfit, UpstreamError
from portal.upstream.protocol import Account, Resource, Response, Upstream

PROVEN_S = 3600.0

# A payer is a caller with its own upstream credential. The table of payers has SETS sets of WAYS
# slots. A payer's hash selects the set. A payer is proven if its credential was accepted recently.
# A slot stores the payer's hash (0 in a free slot), the time of the slot's last change, the time
# until which the payer is proven, and the counters of the payer's circuit.
SETS, WAYS = 128, 8
_PAYER, _CHANGED_AT, _PROVEN_UNTIL, _CIRCUIT = 0, 1, 2, 3
_SLOT_SIZE = _CIRCUIT + COUNTERS
PAYER_COUNTERS = COUNTERS + SETS * WAYS * _SLOT_SIZE
BYTES_PER_BREAKER = PAYER_COUNTERS * COUNTER_BYTES


class _Role(Enum):
    """Whether a call is a probe, and which circuits the probe tests."""

    REGULAR = "usual"
    PAYER_PROBE = "probe of its payer's circuit"
    SHARED_PROBE = "probe of the shared circuit, and of its payer's"


class PayerBreaker:
    """Prevents failures and pauses of one payer from affecting other payers.

    A payer (``Resource.payer``) is a caller with an upstream credential. Each payer has its own
    circuit, which counts the failures that the credential may cause: time-outs, 5xx statuses, and
    broken or unusable answers. A 429 pauses only the payer's circuit.

    All payers also share one circuit, which opens after FAILURES_TO_OPEN failures. If calls cannot
    be sent (NotSent), the shared circuit counts one failure for each vehicle. If sent calls fail,
    the shared circuit counts one failure for each proven payer. An answer with status 200 makes its
    payer proven for PROVEN_S seconds. A client with invented credentials is never proven, so its
    failed calls do not open the shared circuit.

    While the shared circuit is half-open, every payer may send its own probe. If all payers had to
    share one probe, a payer whose calls fail could keep the circuit open for all.

    Worker processes share the state in ``counters``. The table of payers has a fixed size and is
    divided into sets of slots. The hash of a payer selects one of the sets. A new payer gets a free
    slot of this set. If the set is full, the new payer replaces an unproven payer. If all payers of
    the set are proven, only a proven new payer replaces one of them. Among several candidates, the
    payer whose slot was changed least recently is replaced. A payer without a slot has no circuit
    of its own. While the shared circuit and the payer's circuit have no failures or pauses, most
    calls take no lock.
    """

    def __init__(
        self,
        origin: Upstream,
        name: str,
        clock: Callable[[], float],
        counters: SharedCounters | None = None,
        longest_call_s: float = 20.0,
    ) -> None:
        self.name = name
        self._origin = origin
        self._clock = clock
        self._counters = SharedCounters(PAYER_COUNTERS) if counters is None else counters
        self._shared = Circuit(self._counters, clock, longest_call_s)
        self._payers = _Payers(self._counters, clock, longest_call_s)

    @property
    def state(self) -> State:
        """The state of the shared circuit."""
        return self._shared.state

    @property
    def wait_s(self) -> float:
        """The seconds until the shared circuit may admit a call. 0 means now."""
        return self._shared.wait_s

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Send a request to the origin. Raises CircuitOpen at once if the breaker refuses it."""
        payer, subject = name_hash(resource.payer or ""), name_hash(resource.subject)
        role = self._admit(payer)
        try:
            guarded = account
            if role is _Role.REGULAR:
                guarded = RecheckingAccount(account, lambda: self._refuse_if_open(payer))
            response = with_pause(self._origin.send(resource, guarded, deadline))
        except (CircuitOpen, LocalFailure):
            self._release_probe(payer, role)  # the origin did not cause the failure
            raise
        except NotSent:
            self._record_not_sent(payer, subject, role)
            raise
        except Unfit:
            self._record_answer(payer, Response(200, b"", self.name), role)
            raise
        except UpstreamError:
            self._record_failure(payer, subject, role)
            raise
        except BaseException:
            self._release_probe(payer, role)  # not the origin's failure, for example a daily limit
            raise
        self._record_answer(payer, response, role)
        return response

    def _admit(self, payer: float) -> _Role:
        now = self._clock()
        self._shared.refuse_while_cooling(now)
        slot = self._payers.find(payer)
        if not self._shared.is_open(now) and (slot is None or slot.allows_calls(now)):
            return _Role.REGULAR
        # Find the slot again under the lock, because another payer may have taken the slot.
        with self._counters.locked():
            now = self._clock()
            self._shared.refuse_while_cooling(now)
            half_open = self._shared.is_open(now)
            slot = self._payers.claim(payer, now) if half_open else self._payers.find(payer)
            if slot is None or (not half_open and slot.allows_calls(now)):
                return _Role.SHARED_PROBE if half_open else _Role.REGULAR
            slot.circuit.refuse_while_paused(now)
            slot.circuit.refuse_while_cooling(now)
            slot.circuit.start_probe(now)
            return _Role.SHARED_PROBE if half_open else _Role.PAYER_PROBE

    def _refuse_if_open(self, payer: float) -> None:
        now = self._clock()
        self._shared.refuse_while_open(now)
        slot = self._payers.find(payer)
        if slot is None or slot.allows_calls(now):
            return
        with self._counters.locked():
            slot = self._payers.find(payer)
            if slot is not None:
                slot.circuit.refuse_while_paused(now)
                slot.circuit.refuse_while_open(now)

    def _release_probe(self, payer: float, role: _Role) -> None:
        if role is not _Role.REGULAR:
            with self._counters.locked():
                self._end_probe(payer, role)

    def _end_probe(self, payer: float, role: _Role) -> None:
        slot = self._payers.find(payer)
        if role is not _Role.REGULAR and slot is not None:
            slot.circuit.end_probe()

    def _record_not_sent(self, payer: float, subject: float, role: _Role) -> None:
        """Count a NotSent in the shared circuit, and not in the payer's circuit.

        The upstream has not read the credential, so the credential cannot be the cause.
        """
        with self._counters.locked():
            self._shared.record_failure(subject, self._clock(), probe=role is _Role.SHARED_PROBE)
            self._end_probe(payer, role)

    def _record_failure(self, payer: float, subject: float, role: _Role) -> None:
        with self._counters.locked():
            now = self._clock()
            slot = self._payers.claim(payer, now)
            if slot is None:
                return
            slot.circuit.record_failure(subject, now, probe=role is not _Role.REGULAR)
            slot.circuit.end_probe()
            # With extend=False, one payer's failures cannot prolong the shared circuit's cool-down.
            if slot.is_proven(now):
                self._shared.record_failure(payer, now, extend=False)

    def _record_answer(self, payer: float, response: Response, role: _Role) -> None:
        now = self._clock()
        is_proof = response.status == 200
        pause_s = response.retry_after_s if response.status == 429 else None
        slot = self._payers.find(payer)
        is_settled = slot.is_settled(now) if slot is not None else not is_proof
        if (
            is_settled
            and role is _Role.REGULAR
            and pause_s is None
            and not self._shared.has_failures
        ):
            return  # there is nothing to write, so no lock is needed
        with self._counters.locked():
            now = self._clock()
            if role is _Role.SHARED_PROBE:
                self._shared.close()
            elif not self._shared.is_open(now):
                self._shared.clear_failures()
            slot = (
                self._payers.claim(payer, now, is_proof)
                if is_proof or pause_s is not None
                else (self._payers.find(payer))
            )
            if slot is None:
                return
            if role is not _Role.REGULAR:
                slot.circuit.close()
                slot.circuit.end_probe()
            elif not slot.circuit.is_open(now):
                slot.circuit.clear_failures()
            if is_proof:
                slot.prove(now)
            if pause_s is not None:
                slot.circuit.pause(pause_s, now)


class _Slot:
    __slots__ = ("_counters", "_first", "circuit")

    def __init__(
        self,
        counters: SharedCounters,
        first: int,
        clock: Callable[[], float],
        longest_call_s: float,
    ) -> None:
        self._counters = counters
        self._first = first
        self.circuit = Circuit(counters, clock, longest_call_s, first + _CIRCUIT)

    @property
    def payer(self) -> float:
        return self._counters[self._first + _PAYER]

    @property
    def changed_at(self) -> float:
        return self._counters[self._first + _CHANGED_AT]

    def allows_calls(self, now: float) -> bool:
        return not (self.circuit.is_open(now) or self.circuit.is_paused(now))

    def is_proven(self, now: float) -> bool:
        return 0 < self._counters[self._first + _PROVEN_UNTIL] - now <= PROVEN_S

    def is_settled(self, now: float) -> bool:
        """Return whether an answer other than 429 leaves this slot unchanged.

        The slot stays unchanged if the payer's circuit has no failures, and the payer stays proven
        for more than PROVEN_S / 2 seconds. In any other slot, an answer clears the failures, and a
        200 makes the payer proven for PROVEN_S seconds from now.
        """
        proven_s = self._counters[self._first + _PROVEN_UNTIL] - now
        return PROVEN_S / 2 < proven_s <= PROVEN_S and not self.circuit.has_failures

    def prove(self, now: float) -> None:
        self._counters[self._first + _PROVEN_UNTIL] = now + PROVEN_S

    def touch(self, now: float) -> None:
        self._counters[self._first + _CHANGED_AT] = now

    def assign(self, payer: float) -> None:
        # Write the payer's hash last. Readers take no lock, and must not find the new payer's hash
        # in a slot that still has the former payer's values.
        self._counters[self._first + _PAYER] = 0.0
        self._counters[self._first + _PROVEN_UNTIL] = 0.0
        self.circuit.clear()
        self._counters[self._first + _PAYER] = payer


class _Payers:
    """The table of payers. A search reads only one set of slots, and so takes constant time."""

    def __init__(
        self, counters: SharedCounters, clock: Callable[[], float], longest_call_s: float
    ) -> None:
        self._slots = [
            _Slot(counters, first, clock, longest_call_s)
            for first in range(COUNTERS, PAYER_COUNTERS, _SLOT_SIZE)
        ]

    def find(self, payer: float) -> _Slot | None:
        return next((slot for slot in self._set_of(payer) if slot.payer == payer), None)

    def claim(self, payer: float, now: float, proven: bool = False) -> _Slot | None:
        """Return the payer's slot. If the payer is new, first assign a slot to it.

        A new payer that is not ``proven`` gets no slot (None) if all slots of the set belong to
        proven payers. The caller must have locked the counters.
        """
        slot = self.find(payer)
        if slot is None:
            candidates = self._set_of(payer)
            if not proven:
                candidates = [each for each in candidates if not each.is_proven(now)]
            if not candidates:
                return None
            slot = min(
                candidates, key=lambda each: (each.is_proven(now), each.payer != 0, each.changed_at)
            )
            slot.assign(payer)
        slot.touch(now)
        return slot

    def _set_of(self, payer: float) -> list[_Slot]:
        # ``name_hash`` returns only odd integers. Without the division by 2, all payers would be in
        # odd-numbered sets.
        first = int(payer) // 2 % SETS * WAYS
        return self._slots[first : first + WAYS]
