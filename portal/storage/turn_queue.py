"""Lets threads wait for a turn, those with the earliest deadline first."""

import heapq
import itertools
import math
import threading
import time

from sqlalchemy.exc import TimeoutError as NoTurn


class TurnQueue:
    """Admits ``turns`` threads at a time. The waiting thread with the earliest deadline is next.

    A thread stops waiting at its deadline, or after ``stall_s`` seconds without a call of
    ``note_progress``.
    """

    def __init__(self, turns: int = 1, stall_s: float = math.inf) -> None:
        # The lock must be reentrant. While a thread holds the lock, the garbage collector may run
        # in the same thread and return a connection to its pool. The return calls ``release``,
        # which needs the lock again.
        self._lock = threading.RLock()
        self._free = turns
        self._stall_s = stall_s
        self._progress_at = -math.inf
        self._numbers = itertools.count()
        self._waiters: list[tuple[float, int, threading.Lock]] = []  # a heap

    @property
    def is_stalled(self) -> bool:
        return time.monotonic() - self._progress_at > self._stall_s

    def note_progress(self) -> None:
        """Let the waiting threads wait for another ``stall_s`` seconds."""
        self._progress_at = time.monotonic()

    def acquire(self, until: float) -> None:
        """Wait for a turn.

        Raises NoTurn at ``until`` (monotonic seconds), or if ``note_progress`` is not called for
        ``stall_s`` seconds.
        """
        with self._lock:
            if self._free:
                self._free -= 1
                return
            permit = threading.Lock()
            permit.acquire()
            waiter = (until, next(self._numbers), permit)
            heapq.heappush(self._waiters, waiter)
        since = time.monotonic()
        while (left_s := self._wait_s(since, until)) > 0:
            if permit.acquire(timeout=left_s):
                return
        with self._lock:
            if waiter in self._waiters:  # otherwise ``release`` has just admitted this thread
                self._waiters.remove(waiter)
                heapq.heapify(self._waiters)
                raise NoTurn("no turn became free in time")

    def release(self) -> None:
        """End a turn, and admit the next thread."""
        with self._lock:
            if self._waiters:
                heapq.heappop(self._waiters)[2].release()
            else:
                self._free += 1

    def _wait_s(self, since: float, until: float) -> float:
        stalls_at = max(since, self._progress_at) + self._stall_s
        return min(until, stalls_at) - time.monotonic()
