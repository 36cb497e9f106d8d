"""A circuit breaker for one base address, when all callers use the same upstream credential."""

from collections.abc import Callable
from dataclasses import dataclass

from portal.upstream.circuit_state import COUNTERS, Circuit, State, name_hash
from portal.upstream.errors import CircuitOpen, LocalFailure, UpstreamError
from portal.upstream.protocol import Account, Attempt, Resource, Response, Upstream
from portal.upstream.shared_counters import SharedCounters


class Breaker:
    """Refuses calls to an origin that fails, or that asked for a pause with status 429.

    The circuit opens when lookups of FAILURES_TO_OPEN different vehicles have failed and no lookup
    was answered in between. Repeated failures for one vehicle count once, because that vehicle's
    data may be the cause. After COOLDOWN_S the circuit is half-open: it admits one call, the probe.

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
        """The seconds until a call may be sent, or 0 if it may be sent now."""
        return self._circuit.wait_s

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Send a request to the origin, or raise CircuitOpen at once."""
        probe = self._admit()
        try:
            guarded = account if probe else RecheckingAccount(account, self._refuse_if_open)
            response = self._origin.send(resource, guarded, deadline)
        except (CircuitOpen, LocalFailure):
            self._release_probe(probe)  # the origin did not cause the failure
            raise
        except UpstreamError:
            self._record_failure(resource.subject, probe)
            raise
        except BaseException:
            self._release_probe(probe)  # for example, a daily limit is reached
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
        pauses = response.status == 429
        if not (probe or pauses or self._circuit.has_failures):
            return  # there is nothing to write, so no lock is needed
        with self._counters.locked():
            now = self._clock()
            # Only a probe's answer closes an open circuit, not the late answer to an earlier call.
            if probe:
                self._circuit.close()
                self._release_probe(probe)
            elif not self._circuit.is_open(now):
                self._circuit.clear_failures()
            if pauses:
                self._circuit.pause(response.retry_after_s, now)


@dataclass(frozen=True, slots=True)
class RecheckingAccount:
    """Records a call with ``account``, and then checks the circuit again.

    Other calls may open the circuit while ``account`` writes to the database.
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
