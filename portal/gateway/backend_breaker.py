"""A fuse before a server that many requests need: once blown, nobody waits for it in vain."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PING_EVERY_S = 0.5

log = logging.getLogger(__name__)


class BreakerOpen(Exception):
    """The server was away a moment ago; it was not asked."""


class BackendBreaker:
    """Blows with the first failure of ``failures``; a thread of its own pings until all is well.

    So a dead Redis costs its time-out to those who met the death, not to everybody after them,
    and its return is noticed within a second or so without a request at stake.
    """

    def __init__(
        self,
        name: str,
        ping: Callable[[], object],
        failures: tuple[type[Exception], ...],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name = name
        self._ping = ping
        self._failures = failures
        self._sleep = sleep
        self._lock = threading.Lock()
        self.is_blown = False

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Around one use of the server; raises BreakerOpen instead of trying while it is away."""
        if self.is_blown:
            raise BreakerOpen(self._name)
        try:
            yield
        except self._failures as error:
            self._blow(error)
            raise

    def _blow(self, error: Exception) -> None:
        with self._lock:
            if self.is_blown:
                return
            self.is_blown = True
        log.warning("%s is away: %s", self._name, type(error).__name__)
        try:
            threading.Thread(target=self._mend, name="fuse", daemon=True).start()
        except RuntimeError:  # no thread to be had: without one nobody would notice its return
            self.is_blown = False

    def _mend(self) -> None:
        while self.is_blown:
            self._sleep(PING_EVERY_S)
            try:
                self._ping()
            except self._failures:
                continue
            except Exception as error:  # refused by a server that is there
                log.warning("%s answered: %s", self._name, type(error).__name__)
            self.is_blown = False
        log.warning("%s is back", self._name)
