"""Circuit breaker around one origin: closed, open, half-open with a single probe."""

from collections.abc import Callable
from dataclasses import dataclass

from portal.upstream.circuit import COUNTERS, Circuit, State, mark
from portal.upstream.errors import CircuitOpen, LocalFailure, UpstreamError
from portal.upstream.protocol import Account, Attempt, Resource, Response, Upstream
from portal.upstream.shared_counters import SharedCounters


class Breaker:
    """Stops calls to an origin that fails, or that asked for a pause with 429.

    The circuit opens when the last failures, with no answer between them, came from
    FAILURES_TO_OPEN different vehicles. Repeated failures of one vehicle count once, because one
    faulty record says nothing about the others. A LocalFailure is not counted.

    Worker processes that share ``counters`` open, pause and probe together. The counters' lock is
    never held during a call.

    A probe that has not reported its result after ``longest_call_s`` is given up, because its
    process may have been killed. The next probe may then be sent.
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
        """Seconds until a call may be sent again, 0 unless it is open or paused."""
        return self._circuit.wait_s

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Send the resource to the origin, or raise CircuitOpen at once."""
        probe = self._admit()
        try:
            guarded = account if probe else RecheckingAccount(account, self._refuse_if_open)
            response = self._origin.send(resource, guarded, deadline)
        except (CircuitOpen, LocalFailure):
            self._release_probe(probe)  # this says nothing about the origin
            raise
        except UpstreamError:
            self._record_failure(resource.subject, probe)
            raise
        except BaseException:
            self._release_probe(probe)  # the account refused: this says nothing about the origin
            raise
        self._record_answer(response, probe)
        return response

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

    def _record_failure(self, subject: str, probe: bool) -> None:
        with self._counters.locked():
            self._circuit.record_failure(mark(subject), self._clock(), probe)
            self._release_probe(probe)

    def _record_answer(self, response: Response, probe: bool) -> None:
        pauses = response.status == 429
        if not (probe or pauses or self._circuit.has_failures):
            return  # the usual case takes no lock
        with self._counters.locked():
            now = self._clock()
            # Only the probe closes an open circuit, not a call that was sent before it opened.
            if probe:
                self._circuit.close()
                self._release_probe(probe)
            elif not self._circuit.is_open(now):
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
