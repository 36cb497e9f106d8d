"""Clocks that a test advances."""

import threading
import time
from datetime import UTC, date, datetime


class Clock:
    """A clock in epoch seconds. Tests use it in place of ``time.time`` or ``time.monotonic``."""

    def __init__(self, start: float = 1_793_188_800.0) -> None:  # 2026-10-28 12:00 UTC
        self._now = start
        self._turn = threading.Lock()

    def now(self) -> float:
        with self._turn:
            return self._now

    __call__ = now

    def today(self) -> date:
        """Return the day in UTC."""
        return datetime.fromtimestamp(self.now(), UTC).date()

    def advance(self, seconds: float) -> None:
        if seconds < 0:
            raise ValueError("time does not run backwards")
        with self._turn:
            self._now += seconds


class RunningClock:
    """The system's time, and what a test has added."""

    def __init__(self) -> None:
        self._added_s = 0.0

    def __call__(self) -> float:
        return time.time() + self._added_s

    def advance(self, seconds: float) -> None:
        self._added_s += seconds
