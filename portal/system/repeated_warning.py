"""Logs a warning at most once a minute, even if every request causes it."""

import logging
import threading
import time
from collections.abc import Callable

INTERVAL_S = 60.0


class RepeatedWarning:
    """Logs a warning unless the same text was logged within INTERVAL_S."""

    def __init__(self, log: logging.Logger, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._logged_at: dict[str, float] = {}

    def __call__(self, text: str) -> None:
        now = self._clock()
        with self._lock:
            if now - self._logged_at.get(text, -INTERVAL_S) < INTERVAL_S:
                return
            self._logged_at[text] = now
        self._log.warning("%s", text)
