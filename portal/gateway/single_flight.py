"""Request coalescing: one leader a key asks, everybody else waits for what it brings.

Threads of a process wait on the leader's future; the leaders of several processes share a
lease, and all but its holder look into the store until the holder's answer is there. Nobody
who waits ever asks on its own while the leader lives.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from portal.gateway.lease import Leases
from portal.gateway.lookup import Failure

LOOK_EVERY_S = 0.025

T = TypeVar("T")


class _Gone(Exception):
    """The leader brought nothing that concerns its followers; one of them is to lead."""


class SingleFlight(Generic[T]):
    """Runs ``lead`` once a key at a time."""

    def __init__(self, leases: Leases) -> None:
        self._leases = leases
        self._flights: dict[str, Future[T]] = {}
        self._lock = threading.Lock()

    def run(
        self, key: str, lead: Callable[[int], T], look: Callable[[], T | None], deadline: float
    ) -> tuple[T, bool]:
        """What the leader brought, and whether that was us. ``lead`` is given its lease's fence.

        ``look`` returns what another process has brought meanwhile, or raises the Failure it
        met. Raises the leader's Failure, or Failure("too_slow") at ``deadline`` (monotonic
        seconds). A failure that is the leader's own is not shared: the next one leads.
        """
        while True:
            with self._lock:
                flight = self._flights.get(key)
                leading = flight is None
                if flight is None:
                    flight = self._flights[key] = Future()
            if leading:
                return self._lead(key, flight, lead, look, deadline)
            try:
                return flight.result(timeout=max(0.0, deadline - time.monotonic())), False
            except _Gone:
                continue
            except TimeoutError:
                raise Failure("too_slow") from None

    def _lead(
        self,
        key: str,
        flight: "Future[T]",
        lead: Callable[[int], T],
        look: Callable[[], T | None],
        deadline: float,
    ) -> tuple[T, bool]:
        outcome: BaseException = _Gone()
        try:
            value, led = self._take_turns(key, lead, look, deadline)
        except Failure as failure:
            if not failure.is_caller_specific:
                outcome = failure
            raise
        except Exception:
            # A fault of ours after the call may have been paid for: nobody repeats it in turn.
            outcome = Failure("bad_answer")
            raise
        else:
            flight.set_result(value)
            return value, led
        finally:
            with self._lock:
                del self._flights[key]
            if not flight.done():
                flight.set_exception(outcome)

    def _take_turns(
        self, key: str, lead: Callable[[int], T], look: Callable[[], T | None], deadline: float
    ) -> tuple[T, bool]:
        """Lead if no other process does; else look for its answer, one poller a process."""
        while True:
            with self._leases.hold(key) as fence:
                brought = look()  # also when held: the last holder may just have finished
                if brought is not None:
                    return brought, False
                in_time = time.monotonic() + LOOK_EVERY_S < deadline
                if fence is not None and in_time:
                    return lead(fence), True
            if not in_time:
                raise _WaitedTooLong
            time.sleep(LOOK_EVERY_S)


class _WaitedTooLong(Failure):
    """This waiter's own time is up: those who joined later may go on waiting."""

    def __init__(self) -> None:
        super().__init__("too_slow")

    @property
    def is_caller_specific(self) -> bool:
        return True
