"""Limits on concurrent reads of request bodies, in total and per sender.

A stalled body blocks the thread that reads it, and Granian 2.8 has no time-out for bodies
(``header_read_timeout`` ends with the headers; ``wsgi.input.read`` blocks). Without a limit,
a few hundred clients that send a byte a minute would block every thread of a worker.

Sign-in forms and reports have separate limiters: unauthenticated clients with half-sent forms
must not block reports. A limiter counts per process, so the limits apply to each worker.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from werkzeug.exceptions import ServiceUnavailable

MAX_FORMS: Final = 64
MAX_FORMS_PER_NETWORK: Final = 4  # a browser sends one form, in one packet
MAX_REPORTS: Final = 256
MAX_REPORTS_PER_SENDER: Final = MAX_REPORTS // 4  # a script may send this many in parallel
RETRY_AFTER_S: Final = 1


class UploadLimiter:
    """Allows ``total`` concurrent body reads, and ``per_sender`` by one sender."""

    def __init__(self, total: int, per_sender: int) -> None:
        self._total = total
        self._per_sender = per_sender
        self._reading: Counter[str] = Counter()  # by sender; senders at 0 are removed
        self._lock = threading.Lock()

    @contextmanager
    def reading(self, sender: str) -> Iterator[None]:
        """Hold a slot while one body is read; raises 503 immediately if none is free."""
        with self._lock:
            is_full = self._reading.total() >= self._total
            if is_full or self._reading[sender] >= self._per_sender:
                raise ServiceUnavailable(retry_after=RETRY_AFTER_S)
            self._reading[sender] += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading[sender] -= 1
                if not self._reading[sender]:
                    del self._reading[sender]
