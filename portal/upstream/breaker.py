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
    """Stops calls to an origin that fails, or that asked for a pause with 429.

    The circuit opens when the last failures, with no answer between them, came from
    FAILURES_TO_OPEN different vehicles. Repeated failures of one vehicle count once, because one
    faulty record says nothing about the others. A LocalFailure is not counted.

    After a time-out, the calls that have been in flight about as long count as provisional
    failures. An answer to one of them shows that the origin is only slow, and withdraws the
    provisional failures.

    Worker processes that share ``counters`` open, pause and probe together. The lock guards the
    state only and is never held during a call.

    ``longest_call_s``: a probe whose process was killed never reports back. After this time the
    next probe may go.
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
        self._longest_call_s = longest_call_s
        self._lock = threading.Lock()
        self._call_numbers = itertools.count()
        self._in_flight: dict[int, tuple[float, str]] = {}  # start time and subject of each call
        self._provisional: set[int] = set()  # calls in flight that count as provisional failures
        self._last_answer_at = -math.inf

    @property
    def state(self) -> State:
        return self._circuit.state

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Send the resource to the origin, or raise CircuitOpen at once."""
        probe = self._admit()
        started = self._clock()
        with self._lock:
            number = next(self._call_numbers)
            self._in_flight[number] = (started, resource.subject)
        try:
            guarded = account if probe else RecheckingAccount(account, self._refuse_if_open)
            response = self._origin.send(resource, guarded, deadline)
        except (CircuitOpen, LocalFailure):
            self._release_probe(probe)  # no information about the origin
            raise
        except UpstreamError as error:
            # The lock is held throughout, so that an answer to one of the provisional failures
            # is processed after they were counted.
            with self._lock:
                slow = isinstance(error, TimedOut)
                waiting = self._mark_provisional(started) if slow else set()
                self._record_failure(resource.subject, waiting, probe)
            raise
        except BaseException:
            self._release_probe(probe)  # refused by the account: no information about the origin
            raise
        finally:
            with self._lock:
                was_provisional = number in self._provisional
                self._provisional.discard(number)
                del self._in_flight[number]
        self._record_answer(response, probe, was_provisional)
        return response

    def _mark_provisional(self, started: float) -> set[str]:
        """Mark calls as provisional failures after a time-out; return their subjects.

        ``started`` is when the call that timed out was sent. The marked calls have been in flight
        for at least half as long. They count at once, so that an outage is detected with the first
        time-out.

        The set is empty where the origin answered any call later than a quarter of the time-out
        after ``started``. Earlier answers are no evidence against an outage, because the first
        call to time out was sent before the last answers of an origin that stops answering.
        """
        took_s = self._clock() - started
        if self._last_answer_at > started + took_s / 4:
            return set()
        half_way = started + took_s / 2
        waiting = {each: call for each, call in self._in_flight.items() if call[0] <= half_way}
        self._provisional.update(waiting)
        return {subject for _, subject in waiting.values()}

    def _admit(self) -> bool:
        """Return whether the call is the probe. Raises CircuitOpen."""
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

    def _record_failure(self, subject: str, waiting: set[str], probe: bool) -> None:
        with self._counters.locked():
            marks = [mark(each) for each in waiting]
            self._circuit.record_failure(mark(subject), self._clock(), probe, waiting=marks)
            self._release_probe(probe)

    def _record_answer(self, response: Response, probe: bool, was_provisional: bool) -> None:
        self._last_answer_at = self._clock()
        pauses = response.status == 429
        if not (probe or pauses or self._circuit.has_failures):
            return  # the usual case takes no lock
        with self._counters.locked():
            now = self._clock()
            is_open = self._circuit.is_open(now)
            # Only the probe closes an open circuit, not a call that was sent before it opened.
            # Exception: an answer to a provisional failure withdraws the provisional failures,
            # unless enough calls have really failed or a probe is in flight.
            withdraws = was_provisional and is_open and not self._circuit.is_probing(now)
            withdraws = withdraws and self._circuit.has_provisional_failures
            if probe or withdraws:
                self._circuit.close()
                self._release_probe(probe)
            elif not is_open:
                self._circuit.clear_failures()
            if pauses:
                self._circuit.pause(response.retry_after_s, now)


@dataclass(frozen=True, slots=True)
class RecheckingAccount:
    """An account that checks the circuit again after its ledger row is written.

    Writing the row takes time, in which other calls may open the circuit.
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
