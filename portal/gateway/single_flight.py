"""Request coalescing, in which one leader for each key calls the upstream.

In each process, the first thread that looks up a key is the leader. Other threads that look up the
key are followers, and wait for the leader's result. The leaders of several processes compete for a
lease. A leader without the lease polls the store until it finds the lease holder's answer.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from portal.gateway.lease import RETRY_AFTER_S, Leases
from portal.gateway.lookup import Failure

POLL_INTERVAL_S = 0.025

T = TypeVar("T")


class _LeaderFailed(Exception):
    """The leader has no result for its followers, so a follower must become the leader."""


class SingleFlight(Generic[T]):
    """Runs at most one upstream call at a time for each key.

    Each cache miss needs file descriptors for a lease and for a connection to the upstream. A
    process holds or requests at most ``limit`` leases at a time, which leaves descriptors for new
    clients and for the databases. Beyond the limit, ``run`` raises Failure("unreachable") at once,
    before a request is sent or charged.
    """

    def __init__(self, leases: Leases, limit: int) -> None:
        self._leases = leases
        self._slots = threading.BoundedSemaphore(limit)
        self._flights: dict[str, Future[T]] = {}  # needs no lock: ``setdefault`` is atomic

    def run(
        self,
        key: str,
        attempt: Callable[[int | None], T | None],
        deadline: float,
    ) -> tuple[T, bool]:
        """Return the leader's result, and whether the calling thread is the leader.

        Of the concurrent threads with the same ``key``, the first is the leader. The other threads
        are followers.

        ``attempt`` returns the result that another process has stored, or raises the Failure that
        another process has stored. Otherwise it calls the upstream if it receives the fence
        (fencing token) of the lease, or returns None if it receives None.

        Raises the leader's Failure, or Failure("too_slow") at ``deadline`` (monotonic seconds). If
        the failure concerns only the leader's own caller, the followers do not get the failure, and
        one of the followers becomes the leader.
        """
        while True:
            own: Future[T] = Future()
            flight = self._flights.setdefault(key, own)
            if flight is own:
                return self._lead(key, flight, attempt, deadline), True
            try:
                return flight.result(timeout=max(0.0, deadline - time.monotonic())), False
            except _LeaderFailed:
                continue
            except TimeoutError:
                raise Failure("too_slow") from None

    def _lead(
        self,
        key: str,
        flight: "Future[T]",
        attempt: Callable[[int | None], T | None],
        deadline: float,
    ) -> T:
        outcome: BaseException = _LeaderFailed()
        value: T | None = None
        try:
            value = self._acquire_or_poll(key, attempt, deadline)
        except Failure as failure:
            if not failure.is_caller_specific:
                outcome = failure
            raise
        except Exception:
            # After an internal error the call may have been charged, so the followers fail and do
            # not repeat the call.
            outcome = Failure("bad_answer")
            raise
        finally:
            del self._flights[key]
            if value is not None:
                flight.set_result(value)
            else:
                flight.set_exception(outcome)
        if value is None:
            raise Failure("too_slow")  # the followers may have later deadlines
        return value

    def _acquire_or_poll(
        self, key: str, attempt: Callable[[int | None], T | None], deadline: float
    ) -> T | None:
        """Call ``attempt`` until it has a result: with the lease, or while another holds it.

        Returns None at the deadline.
        """
        while True:
            if not self._slots.acquire(blocking=False):
                raise Failure("unreachable", RETRY_AFTER_S)
            try:
                with self._leases.hold(key) as fence:
                    in_time = time.monotonic() + POLL_INTERVAL_S < deadline
                    result = attempt(fence if in_time else None)
            finally:
                self._slots.release()
            if result is not None or not in_time:
                return result
            time.sleep(POLL_INTERVAL_S)
