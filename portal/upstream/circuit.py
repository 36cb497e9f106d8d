"""The state of one circuit in shared counters: closed, open, half-open or paused."""

import hashlib
from collections.abc import Callable
from typing import Literal

from portal.upstream.errors import CircuitOpen
from portal.upstream.shared_counters import SharedCounters

State = Literal["closed", "open", "half-open"]

FAILURES_TO_OPEN = 5
COOLDOWN_S = 5.0
LONGEST_PAUSE_S = 60.0
DEFAULT_PAUSE_S = 1.0

# The counters of one circuit. Times are monotonic seconds, which all processes of a machine share.
_PROBE_FROM, _PAUSED_UNTIL, _PROBING_UNTIL, _FIRST_FAILURE = 0, 1, 2, 3
COUNTERS = _FIRST_FAILURE + FAILURES_TO_OPEN


class Circuit:
    """A circuit breaker's state machine over shared counters.

    It uses COUNTERS of them, beginning with number ``first``.

    Failures are counted by distinct marks: FAILURES_TO_OPEN of them, with no answer between
    them, open the circuit. Reading needs no lock. Methods that write must be called with the
    counters locked, except ``end_probe``, which is a single write. ``now`` is the clock's time.

    A probe that has not reported its result after ``longest_call_s`` is given up, because its
    process may have been killed. The next probe may then be sent.
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
        """Seconds until a call may be sent again: the end of a pause, or the next probe."""
        now = self._clock()
        paused_s = self._counters[self._first + _PAUSED_UNTIL] - now if self.is_paused(now) else 0.0
        cooling_s = self._probe_from - now if self.is_open(now) else 0.0
        return max(0.0, paused_s, cooling_s)

    def is_open(self, now: float) -> bool:
        # A time further ahead than any cool-down was written before the machine's last boot.
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
        """Raise CircuitOpen while open or half-open, for a call that is not the probe."""
        if self.is_open(now):
            raise CircuitOpen(max(DEFAULT_PAUSE_S, self._probe_from - now))

    @property
    def _probe_from(self) -> float:
        return self._counters[self._first + _PROBE_FROM]

    # Writing, with the counters locked

    def start_probe(self, now: float) -> None:
        """Register a probe. Raises CircuitOpen while another probe is in flight."""
        if self.is_probing(now):
            raise CircuitOpen(DEFAULT_PAUSE_S)
        self._counters[self._first + _PROBING_UNTIL] = now + self._longest_call_s

    def end_probe(self) -> None:
        self._counters[self._first + _PROBING_UNTIL] = 0.0

    def record_failure(
        self, mark: float, now: float, probe: bool = False, extend: bool = True
    ) -> None:
        """Count a failure, and open the circuit if there are enough failures.

        A failed probe opens the circuit again. With ``extend``, so does the failure of a call that
        was sent before the circuit opened, because it shows that the origin still fails.
        """
        was_open = self.is_open(now)
        self._count(mark)
        if probe or (extend and was_open) or self._counters[self._failures[-1]] != 0.0:
            self.clear_failures()
            self._counters[self._first + _PROBE_FROM] = now + COOLDOWN_S

    def close(self) -> None:
        self._counters[self._first + _PROBE_FROM] = 0.0
        self.clear_failures()

    def clear_failures(self) -> None:
        for slot in self._failures:
            self._counters[slot] = 0.0

    def pause(self, retry_after_s: float | None, now: float) -> None:
        """Pause for the seconds of a 429's Retry-After, at most LONGEST_PAUSE_S.

        A pause in effect that ends later is kept.
        """
        pause_s = DEFAULT_PAUSE_S if retry_after_s is None else min(retry_after_s, LONGEST_PAUSE_S)
        until = now + pause_s
        current = self._counters[self._first + _PAUSED_UNTIL]
        is_longer = until < current <= now + LONGEST_PAUSE_S
        self._counters[self._first + _PAUSED_UNTIL] = current if is_longer else until

    def clear(self) -> None:
        for index in range(self._first, self._first + COUNTERS):
            self._counters[index] = 0.0

    def _count(self, mark: float) -> None:
        """Count a mark once, in the first free slot."""
        counted = [self._counters[slot] for slot in self._failures]
        if mark not in counted and 0.0 in counted:
            self._counters[self._failures[counted.index(0.0)]] = mark


def mark(name: str) -> float:
    """Return a hash of a name: a positive odd number of 52 bits, exact in a double."""
    digest = hashlib.sha256(name.encode()).digest()
    return float(int.from_bytes(digest[:8], "big") >> 12 | 1)
