"""Tells which answers were requested before a purge of their vehicle."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Final

from portal.gateway.backend import purge_bucket
from portal.gateway.envelope import Envelope

CURRENT_FOR_S: Final = 1.0


class PurgeClock:
    """This process's copy of the purge log, which numbers all purges.

    An answer contains the number of the last purge that was known before the answer was requested.
    The answer is hidden if its bucket has a later purge. A late write, a copy in memory, a restored
    snapshot and a restored backup are thus the same case.

    ``purges_after`` reads the purges after a number from the database, as a mapping of buckets to
    the numbers of their last purges. It returns None if the database cannot be read.
    """

    def __init__(
        self,
        purges_after: Callable[[int], Mapping[int, int] | None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._purges_after = purges_after
        self._clock = clock
        self._last: dict[int, int] = {}
        self._number = 0
        self._read_at = self._tried_at = -math.inf
        self._lock = threading.Lock()

    @property
    def number(self) -> int:
        """The number of the last purge that this process knows."""
        self._read_first()
        return self._number

    def hides(self, envelope: Envelope) -> bool:
        self._read_first()
        return self._last.get(purge_bucket(envelope.key), 0) > envelope.purge_no

    def since(self, number: int) -> dict[int, int]:
        """Return the known purges after ``number``, as a mapping of buckets to last numbers."""
        with self._lock:
            return {bucket: last for bucket, last in self._last.items() if last > number}

    def refresh(self) -> None:
        """Read the purges that the log has gained. Changes nothing if the log cannot be read."""
        at = self._tried_at = self._clock()
        purges = self._purges_after(self._number)
        if purges is None:
            return
        with self._lock:
            for bucket, number in purges.items():
                self._last[bucket] = max(number, self._last.get(bucket, 0))
                self._number = max(number, self._number)
            self._read_at = at

    def _read_first(self) -> None:
        """Read the log for the first time. A request may arrive before the first ``tick``."""
        if self._tried_at == -math.inf:
            self.refresh()

    def is_current(self) -> bool:
        """Return whether the log was read within the last second, if necessary by this call."""
        oldest = self._clock() - CURRENT_FOR_S
        if self._tried_at < oldest:
            self.refresh()
        return self._read_at >= oldest
