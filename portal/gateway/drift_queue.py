"""Compares answers with the contract's fields after the answers were served."""

from collections import deque
from typing import Final

from portal.gateway.lookup import Observer
from portal.gateway.operations import Name
from portal.gateway.strict_json import parse
from portal.vehicle import unexpected, unexpected_members

MOST_WAITING: Final = 16  # bodies, each of at most 2 MiB


class DriftQueue:
    """A queue of answers that ``flush`` compares on the scheduler's thread.

    Comparing a long answer takes milliseconds, which the response must not wait for.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        # No lock, because append and popleft are atomic.
        self._waiting: deque[tuple[Name, bytes]] = deque()

    def add(self, operation: Name, body: bytes) -> None:
        """Queue a valid answer; if the queue is full, compare the oldest one at once."""
        self._waiting.append((operation, body))
        if len(self._waiting) > MOST_WAITING:
            self._compare_next()

    def flush(self) -> None:
        """Compare the queued answers. The scheduler calls this."""
        while self._waiting:
            self._compare_next()

    def _compare_next(self) -> None:
        try:
            operation, body = self._waiting.popleft()
        except IndexError:  # another thread took the last one
            return
        document = parse(body)
        if fields := unexpected(operation, document["result"]) | unexpected_members(document):
            self._observer.drifted(operation, fields)
