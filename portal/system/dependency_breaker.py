"""A circuit breaker for calls to Redis and to the database."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from portal.system.error_kind import error_kind

PING_EVERY_S = 0.5

log = logging.getLogger(__name__)


class BreakerOpen(Exception):
    """The call was rejected because the breaker is open."""


class DependencyBreaker:
    """A circuit breaker that opens at the first error whose class is in ``failures``.

    While the breaker is open, new calls fail at once and do not wait for their time-out. A thread
    calls ``ping`` every PING_EVERY_S seconds. The first response from the server (Redis or the
    database) closes the breaker.

    At most ``max_calls`` calls run at a time, and further calls wait. Without this limit, hundreds
    of threads could connect at once after a start. Some calls would then time out and open the
    breaker, although the server is up.
    """

    def __init__(
        self,
        name: str,
        ping: Callable[[], object],
        failures: tuple[type[Exception], ...],
        sleep: Callable[[float], None] = time.sleep,
        max_calls: int | None = None,
    ) -> None:
        self._name = name
        self._ping = ping
        self._failures = failures
        self._sleep = sleep
        self._slots = threading.Semaphore(max_calls) if max_calls else nullcontext()
        self._lock = threading.Lock()
        self.is_open = False
        self._is_stopped = False

    def stop(self) -> None:
        """Ping no more. The server's client may then be closed.

        An open breaker stays open, because without pings nothing tells that the server is back.
        """
        self._is_stopped = True

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Open the breaker if the ``with`` block raises one of ``failures``.

        Raises BreakerOpen while the breaker is open.
        """
        self._require_closed()
        with self._slots:
            self._require_closed()
            try:
                yield
            except self._failures as error:
                self._trip(error)
                raise

    def _require_closed(self) -> None:
        if self.is_open:
            raise BreakerOpen(self._name)

    def _trip(self, error: Exception) -> None:
        with self._lock:
            if self.is_open:
                return
            self.is_open = True
        log.warning("%s is unavailable: %s", self._name, error_kind(error))
        try:
            threading.Thread(target=self._ping_until_up, name="breaker", daemon=True).start()
        # If the ping thread cannot be started, close the breaker at once, because no other code
        # would close the breaker later.
        except RuntimeError:
            self.is_open = False

    def _ping_until_up(self) -> None:
        while self.is_open:
            self._sleep(PING_EVERY_S)
            if self._is_stopped:
                return
            try:
                self._ping()
            except self._failures:
                continue
            except Exception as error:  # the error is a response, so the server is up
                log.warning("%s responded with an error: %s", self._name, type(error).__name__)
            self.is_open = False
        log.warning("%s is back", self._name)
