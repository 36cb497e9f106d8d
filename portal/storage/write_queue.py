"""A queue for the writers of a process, because SQLite allows only one writer at a time."""

import heapq
import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import TimeoutError as NoTurn


class WriteQueue:
    """Admits one writer at a time. The waiting writer with the earliest time limit is the next.

    Without the queue, each writer would poll for SQLite's lock with growing pauses. Among hundreds
    of writers, some would not get the lock in time. A write that records the end of an upstream
    call has a short time limit, so that it is admitted before the writes of many new lookups.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_taken = False
        self._numbers = itertools.count()
        self._waiters: list[tuple[float, int, threading.Lock]] = []  # a heap

    @contextmanager
    def turn(self, until: float) -> Iterator[None]:
        """Wait until the thread may write, or raise NoTurn at ``until`` (monotonic seconds)."""
        self._acquire(until)
        try:
            yield
        finally:
            self._release()

    def _acquire(self, until: float) -> None:
        with self._lock:
            if not self._is_taken:
                self._is_taken = True
                return
            permit = threading.Lock()
            permit.acquire()
            waiter = (until, next(self._numbers), permit)
            heapq.heappush(self._waiters, waiter)
        if permit.acquire(timeout=max(0.0, until - time.monotonic())):
            return
        with self._lock:
            if waiter in self._waiters:  # otherwise ``_release`` has just admitted it
                self._waiters.remove(waiter)
                heapq.heapify(self._waiters)
                raise NoTurn("the writers of this process took too long")

    def _release(self) -> None:
        with self._lock:
            if self._waiters:
                heapq.heappop(self._waiters)[2].release()
            else:
                self._is_taken = False
