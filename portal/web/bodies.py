"""Request bodies are read by few threads at a time: a slow one holds the thread that waits for it.

The server sets no limit to how slowly a body may come, so without this some hundred senders of a
byte a minute would hold every thread, and nobody would be answered.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from werkzeug.exceptions import ServiceUnavailable

MOST_AT_ONCE: Final = 64
RETRY_AFTER_S: Final = 1


class BodyGate:
    """Lets ``most`` bodies be read at once in this process; the next one is told to come back."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._places = threading.BoundedSemaphore(most)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Around reading one body; raises 503 at once where every place is taken."""
        if not self._places.acquire(blocking=False):
            raise ServiceUnavailable(retry_after=RETRY_AFTER_S)
        try:
            yield
        finally:
            self._places.release()
