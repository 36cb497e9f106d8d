"""Circuit breaker around one origin: closed, open, half-open with a single probe."""

import itertools
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass

from portal.upstream.circuit import COUNTERS, Circuit, State, mark
from portal.upstream.errors import CircuitOpen, LocalFailure, TimedOut, UpstreamError
from portal.upstream.protocol import Account, Attempt, Resource, Response, Upstream
from portal.upstream.shared_counters import SharedCounters


class Breaker:
    """Stops asking an origin that fails, and one that asked for a pause with 429.

    It opens when the last failures, with no answer between them, came from FAILURES_TO_OPEN
    different vehicles: one poisoned record asked again and again says nothing about the rest.
    Calls that wait as long as one that timed out count too, until one of them is answered: then
    the origin was slow, and what they told is taken back. A LocalFailure counts for nothing.
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
        cells: SharedCounters | None = None,
        longest_call_s: float = 20.0,
    ) -> None:
        self.name = name
        self._origin = origin
        self._clock = clock
        self._cells = SharedCounters(COUNTERS) if cells is None else cells
        self._circuit = Circuit(self._cells, clock, longest_call_s)
        self._longest_call_s = longest_call_s
        self._turn = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[float, str]] = {}  # since when, for which subject
        self._counted: set[int] = set()  # which of them told of an outage by waiting
        self._answered_at = -math.inf

    @property
    def state(self) -> State:
        return self._circuit.state

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Ask the origin, or raise CircuitOpen at once."""
        probe = self._enter()
        started = self._clock()
        with self._turn:
            number = next(self._numbers)
            self._waiting[number] = (started, resource.subject)
        try:
            asked = account if probe else SecondLook(account, self._refuse_if_open)
            response = self._origin.send(resource, asked, deadline)
        except (CircuitOpen, LocalFailure):
            self._leave(probe)  # nothing was learnt about the origin
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

    def _enter(self) -> bool:
        now = self._clock()
        self._circuit.refuse_while_paused(now)
        if not self._circuit.is_open(now):
            return False
        with self._cells.locked():
            if not self._circuit.is_open(now):
                return False
            self._circuit.refuse_while_cooling(now)
            self._circuit.start_probe(now)
            return True

    def _refuse_if_open(self) -> None:
        self._circuit.refuse_while_open(self._clock())

    def _leave(self, probe: bool) -> None:
        if probe:
            self._circuit.end_probe()

    def _failed(self, subject: str, waiting: set[str], probe: bool) -> None:
        with self._cells.locked():
            marks = [mark(each) for each in waiting]
            self._circuit.fail(mark(subject), self._clock(), probe, waiting=marks)
            self._leave(probe)

    def _answered(self, response: Response, probe: bool, counted: bool) -> None:
        self._answered_at = self._clock()
        pauses = response.status == 429
        if not (probe or pauses or self._circuit.has_failures):
            return  # the usual case takes no lock
        with self._cells.locked():
            now = self._clock()
            is_open = self._circuit.is_open(now)
            # A call that left before the circuit opened must not close it, for only the probe
            # does; but one whose waiting opened it takes back what it told, until a probe goes.
            taken_back = counted and is_open and not self._circuit.is_probing(now)
            taken_back = taken_back and self._circuit.rests_on_waiting
            if probe or taken_back:
                self._circuit.close()
                self._leave(probe)
            elif not is_open:
                self._circuit.forget_failures()
            if pauses:
                self._circuit.pause(response.retry_after_s, now)


@dataclass(frozen=True, slots=True)
class SecondLook:
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
