"""Bounds how many request bodies are read at once, in all and for one sender.

A body that stalls holds the thread that reads it, and Granian 2.8 has no time limit for bodies
(``header_read_timeout`` ends with the headers; ``wsgi.input.read`` blocks). Without a bound some
hundred senders of a byte a minute would hold every thread of a worker.

Strangers and token holders have limiters of their own: half-sent sign-in forms must not stop
reports. A limiter counts in its process, so each worker has these places.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from werkzeug.exceptions import ServiceUnavailable

FORMS: Final = 64
FORMS_A_NETWORK: Final = 4  # a browser sends one form, in one packet
REPORTS: Final = 256
REPORTS_A_SENDER: Final = REPORTS // 4  # a script may send that many at once
RETRY_AFTER_S: Final = 1


class UploadLimiter:
    """Lets ``most`` bodies be read at once, ``most_of_one`` of them of one sender."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._reading: Counter[str] = Counter()  # by sender; it names no sender that reads none
        self._change = threading.Lock()

    @contextmanager
    def reading(self, sender: str) -> Iterator[None]:
        """Around reading one body; raises 503 at once where no place is free."""
        with self._change:
            is_full = self._reading.total() >= self._most
            if is_full or self._reading[sender] >= self._most_of_one:
                raise ServiceUnavailable(retry_after=RETRY_AFTER_S)
            self._reading[sender] += 1
        try:
            yield
        finally:
            with self._change:
                self._reading[sender] -= 1
                if not self._reading[sender]:
                    del self._reading[sender]
