"""The state of one circuit in shared counters: closed, open, half-open or paused."""

import hashlib
from collections.abc import Callable, Collection
from typing import Literal

from portal.upstream.errors import CircuitOpen
from portal.upstream.shared_counters import SharedCounters

State = Literal["closed", "open", "half-open"]

FAILURES_TO_OPEN = 5
COOLDOWN_S = 5.0
LONGEST_PAUSE_S = 60.0
DEFAULT_PAUSE_S = 1.0

# What each cell holds. Times are monotonic seconds, which all processes of a machine share.
# A failure's mark is negative while its call has not failed but only waits.
_PROBE_FROM, _PAUSED_UNTIL, _PROBING_UNTIL, _FIRST_FAILURE = 0, 1, 2, 3
COUNTERS = _FIRST_FAILURE + FAILURES_TO_OPEN


class Circuit:
    """A circuit whose state is in the CELLS cells from ``first`` on.

    Failures are counted by distinct marks: FAILURES_TO_OPEN of them, with no answer between
    them, open it. Reading needs no lock. Methods that write must be called with the cells
    locked; ``now`` is the clock's time, read under that lock.

    ``longest_call_s``: a probe whose process was killed never reports back. After this time the
    next probe may go.
    """

    __slots__ = ("_cells", "_clock", "_failures", "_first", "_longest_call_s")

    def __init__(
        self,
        cells: SharedCounters,
        clock: Callable[[], float],
        longest_call_s: float,
        first: int = 0,
    ) -> None:
        self._cells = cells
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

    def is_open(self, now: float) -> bool:
        # A time further ahead than any cool-down was left by an earlier boot of the machine.
        return self._probe_from != 0.0 and self._probe_from - now <= COOLDOWN_S

    def is_paused(self, now: float) -> bool:
        return 0 < self._cells[self._first + _PAUSED_UNTIL] - now <= LONGEST_PAUSE_S

    def is_probing(self, now: float) -> bool:
        return 0 < self._cells[self._first + _PROBING_UNTIL] - now <= self._longest_call_s

    @property
    def has_failures(self) -> bool:
        return self._cells[self._failures[0]] != 0.0

    @property
    def rests_on_waiting(self) -> bool:
        """Whether too few calls have failed so far: some of those counted only wait."""
        return any(self._cells[slot] < 0 for slot in self._failures)

    def refuse_while_paused(self, now: float) -> None:
        if self.is_paused(now):
            raise CircuitOpen(self._cells[self._first + _PAUSED_UNTIL] - now)

    def refuse_while_cooling(self, now: float) -> None:
        if self.is_open(now) and now < self._probe_from:
            raise CircuitOpen(self._probe_from - now)

    def refuse_while_open(self, now: float) -> None:
        """Also once it is half-open: for a call that is not the probe."""
        if self.is_open(now):
            raise CircuitOpen(max(DEFAULT_PAUSE_S, self._probe_from - now))

    @property
    def _probe_from(self) -> float:
        return self._cells[self._first + _PROBE_FROM]

    # Writing, with the cells locked

    def start_probe(self, now: float) -> None:
        """Raises CircuitOpen while another probe is under way."""
        if self.is_probing(now):
            raise CircuitOpen(DEFAULT_PAUSE_S)
        self._cells[self._first + _PROBING_UNTIL] = now + self._longest_call_s

    def end_probe(self) -> None:
        self._cells[self._first + _PROBING_UNTIL] = 0.0

    def fail(
        self,
        mark: float,
        now: float,
        probe: bool = False,
        extend: bool = True,
        waiting: Collection[float] = (),
    ) -> None:
        """Count a failure. A failed probe opens the circuit again, and with ``extend`` the failure
        of a call from before it opened, since the origin failed until now.

        ``waiting`` are the marks of calls that have waited as long as this one, which timed out.
        """
        was_open = self.is_open(now)
        self._count(mark)
        if not was_open:  # an open circuit learns nothing from calls that wait
            for each in waiting:
                self._count(-each)
        if probe or (extend and was_open) or self._cells[self._failures[-1]] != 0.0:
            if probe or not self.rests_on_waiting:
                self.forget_failures()
            self._cells[self._first + _PROBE_FROM] = now + COOLDOWN_S

    def close(self) -> None:
        self._cells[self._first + _PROBE_FROM] = 0.0
        self.forget_failures()

    def forget_failures(self) -> None:
        for slot in self._failures:
            self._cells[slot] = 0.0

    def pause(self, retry_after_s: float | None, now: float) -> None:
        """Pause for what a 429 asked for, at most LONGEST_PAUSE_S; a longer pause stands."""
        pause_s = DEFAULT_PAUSE_S if retry_after_s is None else min(retry_after_s, LONGEST_PAUSE_S)
        until = now + pause_s
        held = self._cells[self._first + _PAUSED_UNTIL]
        longer = until < held <= now + LONGEST_PAUSE_S
        self._cells[self._first + _PAUSED_UNTIL] = held if longer else until

    def clear(self) -> None:
        for cell in range(self._first, self._first + COUNTERS):
            self._cells[cell] = 0.0

    def _count(self, mark: float) -> None:
        """Count a mark once. A failure replaces a waiting call's mark: its own, else another's."""
        counted = [self._cells[slot] for slot in self._failures]
        if mark in counted or (mark < 0 and -mark in counted):
            return
        places = [-mark, 0.0] if mark > 0 else [0.0]
        places += [each for each in counted if mark > 0 > each]
        for place in places:
            if place in counted:
                self._cells[self._failures[counted.index(place)]] = mark
                return


def mark(name: str) -> float:
    """A number other than 0 that tells names apart: 52 bits fit a double exactly."""
    digest = hashlib.sha256(name.encode()).digest()
    return float(int.from_bytes(digest[:8], "big") >> 12 | 1)
