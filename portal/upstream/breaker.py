"""The circuit breaker of one base address of the upstream, and the breaker's state machine.

``Breaker`` is for a portal whose callers share one upstream credential. If each caller has its own
upstream credential, the portal uses ``PayerBreaker`` (module ``payer_breaker``) instead.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from portal.system.shared_counters import SharedCounters
from portal.upstream.errors import CircuitOpen, LocalFailure, Unfit, UpstreamError
from portal.upstream.protocol import Account, Attempt, Resource, Response, Upstream

State = Literal["closed", "open", "half-open"]

FAILURES_TO_OPEN = 5
COOLDOWN_S = 5.0
LONGEST_PAUSE_S = 60.0
DEFAULT_PAUSE_S = 1.0

# Indexes of one circuit's counters, relative to ``Circuit._first``. Times in the counters are in
# seconds of the monotonic clock, which all processes of a machine share.
_PROBE_FROM, _PAUSED_UNTIL, _PROBING_UNTIL, _FIRST_FAILURE = 0, 1, 2, 3
COUNTERS = _FIRST_FAILURE + FAILURES_TO_OPEN


class Circuit:
    """The state machine of a circuit breaker, stored in shared counters.

    A circuit uses COUNTERS consecutive counters, starting at index ``first``. An open circuit
    refuses all calls for COOLDOWN_S (the cool-down). After the cool-down, the circuit is half-open:
    it admits one call, the probe, and refuses other calls until the probe ends. An answer to the
    probe closes the circuit.

    The circuit opens after failures from FAILURES_TO_OPEN different sources without an answer in
    between. A source is the hash of a vehicle, or of a payer (an upstream credential). Lock the
    counters before you call a method that writes. The method ``end_probe`` needs no lock, because
    it writes a single counter. Every argument ``now`` is a value that ``clock`` returned.

    If a probe has no result after ``longest_call_s`` seconds, the circuit admits another probe,
    because the process that sent the first probe may have been killed.
    """

    __slots__ = ("_clock", "_counters", "_failures", "_first", "_longest_call_s")

    def __init__(
        self,
        counters: SharedCounters,
        clock: Callable[[], float],
        longest_call_s: float,
        first: int = 0,
    ) -> None:
        self._counters = counters
        self._clock = clock
        self._longest_call_s = longest_call_s
        self._first = first
        self._failures = range(first + _FIRST_FAILURE, first + COUNTERS)

    # Reading

    @property
    def state(self) -> State:
        now = self._clock()
        if not self.is_open(now):
            return "closed"
        return "half-open" if now >= self._probe_from or self.is_probing(now) else "open"

    @property
    def wait_s(self) -> float:
        """The seconds until the circuit may admit a call or a probe. 0 means now."""
        now = self._clock()
        paused_s = self._counters[self._first + _PAUSED_UNTIL] - now if self.is_paused(now) else 0.0
        cooling_s = self._probe_from - now if self.is_open(now) else 0.0
        return max(0.0, paused_s, cooling_s)

    def is_open(self, now: float) -> bool:
        # A restart of the machine sets the monotonic clock back. A stored time more than COOLDOWN_S
        # ahead of the clock is from before a restart, and is ignored.
        return self._probe_from != 0.0 and self._probe_from - now <= COOLDOWN_S

    def is_paused(self, now: float) -> bool:
        return 0 < self._counters[self._first + _PAUSED_UNTIL] - now <= LONGEST_PAUSE_S

    def is_probing(self, now: float) -> bool:
        return 0 < self._counters[self._first + _PROBING_UNTIL] - now <= self._longest_call_s

    @property
    def has_failures(self) -> bool:
        return self._counters[self._failures[0]] != 0.0

    def refuse_while_paused(self, now: float) -> None:
        if self.is_paused(now):
            raise CircuitOpen(self._counters[self._first + _PAUSED_UNTIL] - now)

    def refuse_while_cooling(self, now: float) -> None:
        if self.is_open(now) and now < self._probe_from:
            raise CircuitOpen(self._probe_from - now)

    def refuse_while_open(self, now: float) -> None:
        """Raise CircuitOpen if the circuit is open or half-open.

        Do not call this method for a probe, because a half-open circuit admits its probe.
        """
        if self.is_open(now):
            raise CircuitOpen(max(DEFAULT_PAUSE_S, self._probe_from - now))

    @property
    def _probe_from(self) -> float:
        return self._counters[self._first + _PROBE_FROM]

    # Methods that write. The caller must have locked the counters.

    def start_probe(self, now: float) -> None:
        """Register a probe. Raises CircuitOpen while another probe is in progress."""
        if self.is_probing(now):
            raise CircuitOpen(DEFAULT_PAUSE_S)
        self._counters[self._first + _PROBING_UNTIL] = now + self._longest_call_s

    def end_probe(self) -> None:
        self._counters[self._first + _PROBING_UNTIL] = 0.0

    def record_failure(
        self, source: float, now: float, probe: bool = False, extend: bool = True
    ) -> None:
        """Count a failure. Open the circuit if FAILURES_TO_OPEN sources have failed.

        A failed probe restarts the cool-down. While the circuit is open, calls that began before
        the circuit opened may still fail. If ``extend`` is true, each of these failures also
        restarts the cool-down.
        """
        was_open = self.is_open(now)
        self._count(source)
        if probe or (extend and was_open) or self._counters[self._failures[-1]] != 0.0:
            self.clear_failures()
            self._counters[self._first + _PROBE_FROM] = now + COOLDOWN_S

    def close(self) -> None:
        self._counters[self._first + _PROBE_FROM] = 0.0
        self.clear_failures()

    def clear_failures(self) -> None:
        for slot in self._failures:
            self._counters[slot] = 0.0

    def pause(self, pause_s: float, now: float) -> None:
        """Refuse calls for ``pause_s`` seconds, or until a current pause ends, if that is later."""
        until = now + pause_s
        current = self._counters[self._first + _PAUSED_UNTIL]
        is_longer = until < current <= now + LONGEST_PAUSE_S
        self._counters[self._first + _PAUSED_UNTIL] = current if is_longer else until

    def clear(self) -> None:
        for index in range(self._first, self._first + COUNTERS):
            self._counters[index] = 0.0

    def _count(self, source: float) -> None:
        counted = [self._counters[slot] for slot in self._failures]
        if source not in counted and 0.0 in counted:
            self._counters[self._failures[counted.index(0.0)]] = source


def with_pause(response: Response) -> Response:
    """Return a 429 with the pause that the portal makes, or any other response unchanged.

    The pause is as long as the response asks, at most LONGEST_PAUSE_S. It is DEFAULT_PAUSE_S if the
    response names no time.
    """
    if response.status != 429:
        return response
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
    """Refuses calls to an origin (base address) that fails or has asked for a pause.

    An origin asks for a pause by status 429.
    The circuit opens when lookups of FAILURES_TO_OPEN different vehicles have failed without an
    answered lookup in between. Repeated failures for one vehicle count once, because this vehicle's
    data may be the cause. After COOLDOWN_S the half-open circuit admits one call, the probe.

    Worker processes that share ``counters`` share the state of the circuit. The counters are never
    locked during an upstream call.
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
        self._circuit = Circuit(self._counters, clock, longest_call_s)

    @property
    def state(self) -> State:
        return self._circuit.state

    @property
    def wait_s(self) -> float:
        """The seconds until the breaker may admit a call. 0 means now."""
        return self._circuit.wait_s

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Send a request to the origin. Raises CircuitOpen at once if the breaker refuses it."""
        probe = self._admit()
        try:
            guarded = account if probe else RecheckingAccount(account, self._refuse_if_open)
            response = with_pause(self._origin.send(resource, guarded, deadline))
        except (CircuitOpen, LocalFailure):
            self._release_probe(probe)  # the origin did not cause the failure
            raise
        except Unfit:
            self._record_answer(Response(200, b"", self.name), probe)
            raise
        except UpstreamError:
            self._record_failure(resource.subject, probe)
            raise
        except BaseException:
            self._release_probe(probe)  # not the origin's failure, for example a daily limit
            raise
        self._record_answer(response, probe)
        return response

    def _admit(self) -> bool:
        """Admit a call or raise CircuitOpen. Return whether the admitted call is the probe."""
        now = self._clock()
        self._circuit.refuse_while_paused(now)
        if not self._circuit.is_open(now):
            return False
        with self._counters.locked():
            if not self._circuit.is_open(now):
                return False
            self._circuit.refuse_while_cooling(now)
            self._circuit.start_probe(now)
            return True

    def _refuse_if_open(self) -> None:
        self._circuit.refuse_while_open(self._clock())

    def _release_probe(self, probe: bool) -> None:
        if probe:
            self._circuit.end_probe()

    def _record_failure(self, subject: str, probe: bool) -> None:
        with self._counters.locked():
            self._circuit.record_failure(name_hash(subject), self._clock(), probe)
            self._release_probe(probe)

    def _record_answer(self, response: Response, probe: bool) -> None:
        pause_s = response.retry_after_s if response.status == 429 else None
        if not (probe or pause_s is not None or self._circuit.has_failures):
            return  # there is nothing to write, so no lock is needed
        with self._counters.locked():
            now = self._clock()
            # Only a probe's answer closes an open circuit. A late answer to a call that began
            # before the circuit opened does not close the circuit.
            if probe:
                self._circuit.close()
                self._release_probe(probe)
            elif not self._circuit.is_open(now):
                self._circuit.clear_failures()
            if pause_s is not None:
                self._circuit.pause(pause_s, now)


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
