"""Circuit breaker around one origin: closed, open, half-open with a single probe."""

import hashlib
import itertools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from portal.upstream.cells import Cells
from portal.upstream.errors import CircuitOpen, TimedOut, UpstreamError
from portal.upstream.messages import Account, Attempt, Resource, Response, Upstream

State = Literal["closed", "open", "half-open"]

FAILURES_TO_OPEN = 5
COOLDOWN_S = 5.0
LONGEST_PAUSE_S = 60.0
DEFAULT_PAUSE_S = 1.0

# What each cell holds. Times are monotonic seconds, which all processes of a machine share.
# A subject's mark is negative while its call has not failed but only waits (_waiting_as_long).
_PROBE_FROM, _PAUSED_UNTIL, _PROBING_UNTIL, _FIRST_SUBJECT = 0, 1, 2, 3
CELLS = _FIRST_SUBJECT + FAILURES_TO_OPEN
_SUBJECTS = range(_FIRST_SUBJECT, CELLS)


class Breaker:
    """Stops asking an origin that fails, and one that asked for a pause with 429.

    It opens when the last failures, with no answer between them, came from FAILURES_TO_OPEN
    different vehicles: one poisoned record asked again and again says nothing about the rest.
    Calls that wait as long as one that timed out count too, until one of them is answered: then
    the origin was slow, and what they told is taken back.
    With shared ``cells`` the worker processes open, pause and probe as one. The lock guards the
    state alone, never a call.

    ``longest_call_s``: a probe whose process was killed never reports back; after this the next
    one may go.
    """

    def __init__(
        self,
        origin: Upstream,
        name: str,
        clock: Callable[[], float],
        cells: Cells | None = None,
        longest_call_s: float = 20.0,
    ) -> None:
        self.name = name
        self._origin = origin
        self._clock = clock
        self._cells = Cells(CELLS) if cells is None else cells
        self._longest_call_s = longest_call_s
        self._turn = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[float, str]] = {}  # since when, for which subject
        self._counted: set[int] = set()  # which of them told of an outage by waiting
        self._answered_at = -math.inf

    @property
    def state(self) -> State:
        now = self._clock()
        if not self._is_open(now):
            return "closed"
        due = now >= self._cells[_PROBE_FROM]
        return "half-open" if due or now < self._cells[_PROBING_UNTIL] else "open"

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Ask the origin, or raise CircuitOpen at once."""
        probe = self._enter()
        started = self._clock()
        with self._turn:
            number = next(self._numbers)
            self._waiting[number] = (started, resource.subject)
        try:
            asked = account if probe else _SecondLook(account, self._refuse_if_open)
            response = self._origin.send(resource, asked, deadline)
        except CircuitOpen:
            raise
        except UpstreamError as error:
            with self._turn:  # throughout: an answer to one of those meanwhile comes after it
                slow = isinstance(error, TimedOut)
                waiting = self._waiting_as_long(started) if slow else set()
                self._failed(resource.subject, waiting, probe)
            raise
        except BaseException:
            self._leave(probe)  # refused by the account: says nothing about the origin
            raise
        finally:
            with self._turn:
                counted = number in self._counted
                self._counted.discard(number)
                del self._waiting[number]
        self._answered(response, probe, counted)
        return response

    def _waiting_as_long(self, started: float) -> set[str]:
        """Whose calls left about when one did that timed out, and have no answer either: they
        tell of the outage now, not one after the other.

        An answer that came soon after it left tells nothing against that: when an origin falls
        silent the first to time out left before its last answers did.
        """
        took_s = self._clock() - started
        if self._answered_at > started + took_s / 4:
            return set()
        half_way = started + took_s / 2
        counted = {each: call for each, call in self._waiting.items() if call[0] <= half_way}
        self._counted.update(counted)
        return {subject for _, subject in counted.values()}

    def _is_open(self, now: float) -> bool:
        # A time further ahead than any cool-down was left by an earlier boot of the machine.
        probe_from = self._cells[_PROBE_FROM]
        return probe_from != 0.0 and probe_from - now <= COOLDOWN_S

    def _enter(self) -> bool:
        now = self._clock()
        pause_left = self._cells[_PAUSED_UNTIL] - now
        if 0 < pause_left <= LONGEST_PAUSE_S:
            raise CircuitOpen(pause_left)
        if not self._is_open(now):
            return False
        with self._cells.locked():
            if not self._is_open(now):
                return False
            probe_from = self._cells[_PROBE_FROM]
            if now < probe_from:
                raise CircuitOpen(probe_from - now)
            if 0 < self._cells[_PROBING_UNTIL] - now <= self._longest_call_s:
                raise CircuitOpen(DEFAULT_PAUSE_S)
            self._cells[_PROBING_UNTIL] = now + self._longest_call_s
            return True

    def _refuse_if_open(self) -> None:
        now = self._clock()
        if self._is_open(now):
            raise CircuitOpen(max(DEFAULT_PAUSE_S, self._cells[_PROBE_FROM] - now))

    def _leave(self, probe: bool) -> None:
        if probe:
            self._cells[_PROBING_UNTIL] = 0.0

    def _failed(self, subject: str, waiting: set[str], probe: bool) -> None:
        with self._cells.locked():
            now = self._clock()
            was_open = self._is_open(now)
            self._count(_mark(subject))
            if not was_open:  # else nothing is left to be told by who only waits
                for each in waiting:
                    self._count(-_mark(each))
            # A call that left before it opened and fails only now: the origin failed until now.
            if probe or was_open or self._cells[_SUBJECTS[-1]] != 0.0:
                if probe or not self._rests_on_waiting():
                    self._forget_failures()
                self._cells[_PROBE_FROM] = now + COOLDOWN_S
            self._leave(probe)

    def _count(self, mark: float) -> None:
        """A failure takes the place of what was told by waiting: its own, else another's."""
        told = [self._cells[slot] for slot in _SUBJECTS]
        if mark in told or (mark < 0 and -mark in told):
            return
        places = [-mark, 0.0] if mark > 0 else [0.0]
        places += [each for each in told if mark > 0 > each]
        for place in places:
            if place in told:
                self._cells[_FIRST_SUBJECT + told.index(place)] = mark
                return

    def _rests_on_waiting(self) -> bool:
        """Whether too few have failed so far: some of those counted only wait."""
        return any(self._cells[slot] < 0 for slot in _SUBJECTS)

    def _answered(self, response: Response, probe: bool, counted: bool) -> None:
        self._answered_at = self._clock()
        pauses = response.status == 429
        if not (probe or pauses or self._cells[_FIRST_SUBJECT]):
            return  # the usual case takes no lock
        with self._cells.locked():
            now = self._clock()
            is_open = self._is_open(now)
            probing = 0 < self._cells[_PROBING_UNTIL] - now <= self._longest_call_s
            # A call that left before the circuit opened must not close it, for only the probe
            # does; but one whose waiting opened it takes back what it told, until a probe goes.
            taken_back = counted and is_open and not probing and self._rests_on_waiting()
            if probe or taken_back:
                self._cells[_PROBE_FROM] = 0.0
                self._leave(probe)
            if probe or taken_back or not is_open:
                self._forget_failures()
            if pauses:
                wished = response.retry_after_s
                pause = DEFAULT_PAUSE_S if wished is None else min(wished, LONGEST_PAUSE_S)
                until = self._clock() + pause
                held = self._cells[_PAUSED_UNTIL]
                longer = until < held <= self._clock() + LONGEST_PAUSE_S
                self._cells[_PAUSED_UNTIL] = held if longer else until

    def _forget_failures(self) -> None:
        for slot in _SUBJECTS:
            self._cells[slot] = 0.0


@dataclass(frozen=True, slots=True)
class _SecondLook:
    """An account that looks at the circuit once more after its row is written: writing takes a
    moment in which many calls may learn that the origin is down."""

    account: Account
    refuse_if_open: Callable[[], None]

    def announce(self, origin: str) -> Attempt:
        attempt = self.account.announce(origin)
        try:
            self.refuse_if_open()
        except CircuitOpen:
            attempt.ended(CircuitOpen.outcome)
            raise
        return attempt


def _mark(subject: str) -> float:
    """A number other than 0 that tells subjects apart: 52 bits fit a double exactly."""
    digest = hashlib.sha256(subject.encode()).digest()
    return float(int.from_bytes(digest[:8], "big") >> 12 | 1)
