"""Circuit breaker around one origin: closed, open, half-open with a single probe."""

import threading
from collections.abc import Callable
from typing import Literal

from portal.upstream.errors import CircuitOpen, UpstreamError
from portal.upstream.messages import Account, Resource, Response, Upstream

State = Literal["closed", "open", "half-open"]

FAILURES_TO_OPEN = 5
COOLDOWN_S = 5.0
LONGEST_PAUSE_S = 60.0
DEFAULT_PAUSE_S = 1.0


class Breaker:
    """Stops asking an origin that fails, and one that asked for a pause with 429.

    It opens when the last failures, with no answer between them, came from FAILURES_TO_OPEN
    different vehicles: one poisoned record asked again and again says nothing about the rest.
    The lock guards the state alone, never a call.
    """

    def __init__(self, origin: Upstream, name: str, clock: Callable[[], float]) -> None:
        self.name = name
        self._origin = origin
        self._clock = clock
        self._lock = threading.Lock()
        self._failing_subjects: set[str] = set()
        self._closed_until_probe: float | None = None  # when open: the second a probe may go
        self._probing = False
        self._paused_until = 0.0

    @property
    def state(self) -> State:
        with self._lock:
            if self._closed_until_probe is None:
                return "closed"
            probe_due = self._clock() >= self._closed_until_probe
            return "half-open" if probe_due or self._probing else "open"

    def send(self, resource: Resource, account: Account, deadline: float) -> Response:
        """Ask the origin, or raise CircuitOpen at once."""
        probe = self._enter()
        try:
            response = self._origin.send(resource, account, deadline)
        except UpstreamError:
            self._failed(resource.subject, probe)
            raise
        except BaseException:
            self._leave(probe)  # refused by the account: says nothing about the origin
            raise
        self._answered(response, probe)
        return response

    def _enter(self) -> bool:
        with self._lock:
            now = self._clock()
            if now < self._paused_until:
                raise CircuitOpen(self._paused_until - now)
            if self._closed_until_probe is None:
                return False
            if now < self._closed_until_probe:
                raise CircuitOpen(self._closed_until_probe - now)
            if self._probing:
                raise CircuitOpen(DEFAULT_PAUSE_S)
            self._probing = True
            return True

    def _leave(self, probe: bool) -> None:
        with self._lock:
            if probe:
                self._probing = False

    def _failed(self, subject: str, probe: bool) -> None:
        with self._lock:
            self._failing_subjects.add(subject)
            if probe:
                self._probing = False
            if probe or len(self._failing_subjects) >= FAILURES_TO_OPEN:
                self._failing_subjects.clear()
                self._closed_until_probe = self._clock() + COOLDOWN_S

    def _answered(self, response: Response, probe: bool) -> None:
        with self._lock:
            self._failing_subjects.clear()
            # A call that left before the circuit opened must not close it: only the probe does.
            if probe:
                self._probing = False
                self._closed_until_probe = None
            if response.status == 429:
                wished = response.retry_after_s
                pause = DEFAULT_PAUSE_S if wished is None else min(wished, LONGEST_PAUSE_S)
                self._paused_until = max(self._paused_until, self._clock() + pause)
