"""The circuit breaker of one base address of the upstream, and the breaker's state machine."""

import hashlib
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from portal.system.shared_counters import COUNTER_BYTES, SharedCounters
from portal.upstream.errors import CircuitOpen, LocalFailure, NotSent, Unfit, UpstreamError
from portal.upstream.protocol import Account, Attempt, Resource, Response, Upstream

State = Literal["closed", "open", "half-open"]

FAILURES_TO_OPEN = 5
COOLDOWN_S = 5.0
LONGEST_REST_S = 300.0
LONGEST_PAUSE_S = 60.0
DEFAULT_PAUSE_S = 1.0

# Indexes of one circuit's counters. Times in the counters are in seconds of the monotonic clock,
# which all processes of a machine share.
_PROBE_FROM, _PAUSED_UNTIL, _PROBING_UNTIL, _REST_S, _FIRST_FAILURE = 0, 1, 2, 3, 4
_CIRCUIT_COUNTERS = _FIRST_FAILURE + FAILURES_TO_OPEN
_NO_FAILURES = array("d", [0.0] * FAILURES_TO_OPEN)
_CLOSED = array("d", [0.0] * _CIRCUIT_COUNTERS)

# The counters of a breaker are those of the address's circuit, then SETS sets of WAYS slots for the
# circuits of payers. A payer's hash selects the set. A slot stores the payer's hash (0 in a free
# slot), the time of the slot's last change, and the counters of the payer's circuit.
SETS, WAYS = 128, 8
_CHANGED_AT, _CIRCUIT = 1, 2
_SLOT = _CIRCUIT + _CIRCUIT_COUNTERS
COUNTERS = _CIRCUIT_COUNTERS + SETS * WAYS * _SLOT
BYTES_PER_BREAKER = COUNTERS * COUNTER_BYTES


class Circuit:
    """The state machine of a circuit breaker, stored in shared counters.

    ``numbers`` are the circuit's counters. An open circuit refuses all calls for COOLDOWN_S (the
    cool-down). After the cool-down, the circuit is half-open: it admits one call, the probe, and
    refuses other calls until the probe ends. An answer to the probe closes the circuit.

    A probe may be charged, and makes its caller wait. While another base address can be asked, the
    circuit therefore admits a probe only after the rest, which begins with the cool-down. The rest
    is as long as the cool-down at first, and doubles with each failed probe up to LONGEST_REST_S.

    The circuit opens after failed lookups of FAILURES_TO_OPEN different vehicles without an answer
    in between. Lock the counters before you call a method that writes. The method ``end_probe``
    needs no lock, because it writes a single counter. Every argument ``now`` is a value that
    ``clock`` returned.

    If a probe has no result after ``longest_call_s`` seconds, the circuit admits another probe,
    because the process that sent the first probe may have been killed.
    """

    __slots__ = ("_clock", "_failures", "_longest_call_s", "_numbers")

    def __init__(
        self, numbers: "memoryview[float]", clock: Callable[[], float], longest_call_s: float
    ) -> None:
        self._numbers = numbers
        self._failures = numbers[_FIRST_FAILURE:]
        self._clock = clock
        self._longest_call_s = longest_call_s

    # Reading

    @property
    def state(self) -> State:
        now = self._clock()
        if not self.is_open(now):
            return "closed"
        is_half_open = self.rest_s(now) <= 0 or self.is_probing(now)
        return "half-open" if is_half_open else "open"

    def wait_s(self, now: float) -> float:
        """Return the seconds until the circuit may admit a call or a probe. 0 means now."""
        paused_s = self._numbers[_PAUSED_UNTIL] - now if self.is_paused(now) else 0.0
        cooling_s = self._numbers[_PROBE_FROM] - now if self.is_open(now) else 0.0
        return max(0.0, paused_s, cooling_s)

    def rest_s(self, now: float) -> float:
        """Return the seconds until the rest ends. 0 or less means that it has ended."""
        if not self.is_open(now):
            return 0.0
        longer_s = max(0.0, self._numbers[_REST_S] - COOLDOWN_S)
        return self._numbers[_PROBE_FROM] + longer_s - now

    def is_open(self, now: float) -> bool:
        # A restart of the machine sets the monotonic clock back. A stored time more than COOLDOWN_S
        # ahead of the clock is from before a restart, and is ignored.
        probe_from = self._numbers[_PROBE_FROM]
        return probe_from != 0.0 and probe_from - now <= COOLDOWN_S

    def is_paused(self, now: float) -> bool:
        return 0 < self._numbers[_PAUSED_UNTIL] - now <= LONGEST_PAUSE_S

    def is_probing(self, now: float) -> bool:
        return 0 < self._numbers[_PROBING_UNTIL] - now <= self._longest_call_s

    @property
    def has_failures(self) -> bool:
        return self._failures[0] != 0.0

    def blocks(self, now: float) -> bool:
        """Return whether the circuit is open, half-open or paused."""
        if not (self._numbers[_PROBE_FROM] or self._numbers[_PAUSED_UNTIL]):
            return False
        return self.is_open(now) or self.is_paused(now)

    def refuse_while_waiting(self, now: float) -> None:
        """Raise CircuitOpen during a pause or a cool-down."""
        if (wait_s := self.wait_s(now)) > 0:
            raise CircuitOpen(wait_s)

    def refuse_while_open(self, now: float) -> None:
        """Raise CircuitOpen if the circuit is paused, open or half-open.

        Do not call this method for a probe, because a half-open circuit admits its probe.
        """
        self.refuse_while_waiting(now)
        if self.is_open(now):
            raise CircuitOpen(DEFAULT_PAUSE_S)

    # Methods that write. The caller must have locked the counters.

    def start_probe(self, now: float) -> None:
        """Register a probe. Raises CircuitOpen while another probe is in progress."""
        if self.is_probing(now):
            raise CircuitOpen(DEFAULT_PAUSE_S)
        self._numbers[_PROBING_UNTIL] = now + self._longest_call_s

    def end_probe(self) -> None:
        self._numbers[_PROBING_UNTIL] = 0.0

    def record_failure(
        self, vehicle: float, now: float, *, probe: bool, lengthens_rest: bool
    ) -> None:
        """Count a failure. Open the circuit if lookups of FAILURES_TO_OPEN vehicles have failed.

        A failed probe restarts the cool-down and the rest. So does the failure of a call that began
        before the circuit opened. The rest is lengthened only once for probes at the same time,
        which several payers may send.
        """
        was_open = self.is_open(now)
        has_rested = self.rest_s(now) <= 0
        counted = list(self._failures)
        if vehicle not in counted and 0.0 in counted:
            self._failures[counted.index(0.0)] = vehicle
        if probe or was_open or self._failures[-1] != 0.0:
            self.clear_failures()
            if not was_open:
                self._numbers[_REST_S] = COOLDOWN_S
            elif probe and lengthens_rest and has_rested:
                self._numbers[_REST_S] = min(2 * self._numbers[_REST_S], LONGEST_REST_S)
            self._numbers[_PROBE_FROM] = now + COOLDOWN_S

    def close(self) -> None:
        self._numbers[_PROBE_FROM] = 0.0
        self.clear_failures()

    def clear_failures(self) -> None:
        self._failures[:] = _NO_FAILURES

    def pause(self, pause_s: float, now: float) -> None:
        """Refuse calls for ``pause_s`` seconds, or until a current pause ends, if that is later."""
        until = now + pause_s
        current = self._numbers[_PAUSED_UNTIL]
        is_longer = until < current <= now + LONGEST_PAUSE_S
        self._numbers[_PAUSED_UNTIL] = current if is_longer else until

    def clear(self) -> None:
        self._numbers[:] = _CLOSED


def with_pause(response: Response) -> Response:
    """Return a 429 with the pause that the portal makes.

    The pause is as long as the response asks, at most LONGEST_PAUSE_S. It is DEFAULT_PAUSE_S if the
    response names no time.
    """
    asked_s = response.retry_after_s
    pause_s = DEFAULT_PAUSE_S if asked_s is None else min(asked_s, LONGEST_PAUSE_S)
    return replace(response, retry_after_s=pause_s)


def name_hash(name: str) -> float:
    """Hash a name to a positive integer that a double represents exactly.

    The integer is odd, so that it is never 0. The value 0 marks an unused counter.
    """
    digest = hashlib.sha256(name.encode()).digest()
    return float(int.from_bytes(digest[:8], "big") >> 12 | 1)


class Breaker:
    """Refuses calls to an origin (base address) that fails or has asked for a pause by status 429.

    If all callers share one upstream credential (``Resource.payer`` is None), one circuit counts
    every failure. Otherwise each payer, a caller with its own upstream credential, has a circuit of
    its own for all that the credential may have caused: a 429, time-outs, 5xx statuses, and broken
    or unusable answers. One caller can therefore not stop another. All payers share the address's
    circuit, which then counts only calls that could not be sent. While this circuit is half-open,
    each payer may send a probe. A single probe for all could be the call of a payer whose lookups
    hang.

    A vehicle whose lookup was sent to another base address and failed there too may be the cause of
    both failures. Such a failure is not counted here, so that a few vehicles cannot open the
    circuits of all addresses.

    Worker processes that share ``counters`` share the state of all circuits. The counters are never
    locked during an upstream call. A payer gets a slot for its circuit at its first failure or
    pause, in place of the slot of its set that has been unchanged for longest. The former payer's
    circuit is then closed.
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
        self._counters = SharedCounters(COUNTERS) if counters is None else counters
        self._numbers = self._counters.numbers
        self._longest_call_s = longest_call_s
        self._circuit = self._circuit_at(0)

    @property
    def state(self) -> State:
        """The state of the address's circuit."""
        return self._circuit.state

    @property
    def wait_s(self) -> float:
        """The seconds until the address's circuit may admit a call. 0 means now."""
        now = self._clock()
        return max(self._circuit.wait_s(now), self._circuit.rest_s(now))

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Send a request to the origin. Raises CircuitOpen at once if the breaker refuses it."""
        payer = None if resource.payer is None else name_hash(resource.payer)
        probe = self._admit(payer, may_rest=resource.elsewhere == "untried")
        try:
            guarded = account if probe else RecheckingAccount(account, partial(self._refuse, payer))
            response = self._origin.send(resource, guarded, deadline)
        except Unfit:
            self._record_answer(payer, Response(200, b"", self.name), probe)
            raise
        except UpstreamError as error:
            self._record_failure(payer, resource, error, probe)
            raise
        except BaseException:
            self._release_probe(payer, probe)  # not the origin's failure, such as a daily limit
            raise
        if response.status == 429:
            response = with_pause(response)
        self._record_answer(payer, response, probe)
        return response

    def _admit(self, payer: float | None, *, may_rest: bool) -> bool:
        """Admit a call or raise CircuitOpen. Return whether the admitted call is a probe."""
        if not self._is_blocked(payer):
            return False
        with self._counters.locked():
            now = self._clock()
            self._circuit.refuse_while_waiting(now)
            own = self._claimed(payer, now)
            own.refuse_while_waiting(now)
            if not (self._circuit.is_open(now) or own.is_open(now)):
                return False
            rest_s = max(self._circuit.rest_s(now), own.rest_s(now))
            if may_rest and rest_s > 0:
                raise CircuitOpen(rest_s, is_resting=True)
            own.start_probe(now)
            return True

    def _refuse(self, payer: float | None) -> None:
        """Raise CircuitOpen unless the breaker admits a call that is no probe."""
        if not self._is_blocked(payer):
            return
        # Read again under the lock, because another payer may have taken this payer's slot.
        with self._counters.locked():
            for circuit in self._circuits(payer):
                circuit.refuse_while_open(self._clock())

    def _is_blocked(self, payer: float | None) -> bool:
        now = self._clock()
        if payer is None:
            return self._circuit.blocks(now)
        return any(circuit.blocks(now) for circuit in self._circuits(payer))

    def _release_probe(self, payer: float | None, probe: bool) -> None:
        if probe:
            with self._counters.locked():
                self._circuits(payer)[-1].end_probe()

    def _record_failure(
        self, payer: float | None, resource: Resource, error: UpstreamError, probe: bool
    ) -> None:
        if isinstance(error, CircuitOpen | LocalFailure):
            self._release_probe(payer, probe)  # the origin did not cause the failure
            return
        if resource.elsewhere == "failed" and not probe and not isinstance(error, NotSent):
            return
        with self._counters.locked():
            now = self._clock()
            if isinstance(error, NotSent):
                # No credential was read, so none is the cause.
                failed, own = self._circuit, self._circuits(payer)[-1]
            else:
                failed = own = self._claimed(payer, now)
            failed.record_failure(
                name_hash(resource.subject),
                now,
                probe=probe,
                lengthens_rest=resource.elsewhere == "untried",
            )
            if probe:
                own.end_probe()

    def _record_answer(self, payer: float | None, response: Response, probe: bool) -> None:
        pause_s = response.retry_after_s if response.status == 429 else None
        for circuit in self._circuits(payer):
            if probe or pause_s is not None or circuit.has_failures:
                break
        else:
            return  # there is nothing to write, so no lock is needed
        with self._counters.locked():
            now = self._clock()
            # Only a probe's answer closes an open circuit. A late answer to a call that began
            # before the circuit opened does not close the circuit.
            for circuit in self._circuits(payer):
                if probe:
                    circuit.close()
                    circuit.end_probe()
                elif not circuit.is_open(now):
                    circuit.clear_failures()
            if pause_s is not None:
                self._claimed(payer, now).pause(pause_s, now)

    def _circuits(self, payer: float | None) -> Sequence[Circuit]:
        """Return the address's circuit, and the payer's own circuit if the payer has one."""
        if payer is None:
            return [self._circuit]
        own = [first for named, first in self._set_of(payer) if named == payer]
        return [self._circuit, *(self._circuit_at(first + _CIRCUIT) for first in own)]

    def _claimed(self, payer: float | None, now: float) -> Circuit:
        """Return the payer's own circuit. A new payer gets a slot.

        Without a payer, the address's circuit is returned. The caller must have locked the
        counters.
        """
        if payer is None:
            return self._circuit
        slots = self._set_of(payer)
        # The payer's own slot, or else the one that has been unchanged for longest.
        named, first = min(
            slots, key=lambda slot: (slot[0] != payer, self._numbers[slot[1] + _CHANGED_AT])
        )
        circuit = self._circuit_at(first + _CIRCUIT)
        if named != payer:
            # Write the payer's hash last. Readers take no lock, and must not find the new payer's
            # hash in a slot that still has the former payer's values.
            self._numbers[first] = 0.0
            circuit.clear()
            self._numbers[first] = payer
        self._numbers[first + _CHANGED_AT] = now
        return circuit

    def _set_of(self, payer: float) -> Sequence[tuple[float, int]]:
        """Return the slots that a payer may have, each with its payer's hash and its index."""
        # ``name_hash`` returns only odd integers. Without the division by 2, all payers would be in
        # odd-numbered sets.
        first = _CIRCUIT_COUNTERS + int(payer) // 2 % SETS * WAYS * _SLOT
        return [(self._numbers[at], at) for at in range(first, first + WAYS * _SLOT, _SLOT)]

    def _circuit_at(self, first: int) -> Circuit:
        numbers = self._numbers[first : first + _CIRCUIT_COUNTERS]
        return Circuit(numbers, self._clock, self._longest_call_s)


@dataclass(frozen=True, slots=True)
class RecheckingAccount:
    """Records a call with ``account``, and then checks the circuit again.

    The second check is needed because the circuit may open while ``account`` writes to the
    database.
    """

    account: Account
    refuse_if_open: Callable[[], None]

    def begin(self, origin: str) -> Attempt:
        attempt = self.account.begin(origin)
        try:
            self.refuse_if_open()
        except CircuitOpen:
            attempt.finish(CircuitOpen.outcome)
            raise
        return attempt
