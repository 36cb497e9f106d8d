"""Compares the upstream's answers with the fields that docs/contract.md lists."""

from collections import deque
from typing import Final

from portal.gateway.lookup import Observer
from portal.gateway.strict_json import parse
from portal.vehicle.drift import unexpected, unexpected_members
from portal.vehicle.operation_name import OperationName
from portal.vehicle.wire import has_too_many_values

MOST_WAITING: Final = 16  # largest number of queued bodies, each of at most 2 MiB


class DriftQueue:
    """A queue of answers that the scheduler's thread compares with docs/contract.md.

    The comparison of a long answer takes milliseconds. In a request's thread, the comparison would
    delay the response.
    """

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        # The deque needs no lock, because append and popleft are atomic.
        self._waiting: deque[tuple[OperationName, bytes]] = deque()

    def add(self, operation: OperationName, body: bytes) -> None:
        """Queue a valid answer. If the queue is full, compare its oldest answer at once."""
        self._waiting.append((operation, body))
        if len(self._waiting) > MOST_WAITING:
            self._compare_next()

    def flush(self) -> None:
        """Compare the queued answers."""
        while self._waiting:
            self._compare_next()

    def _compare_next(self) -> None:
        try:
            operation, body = self._waiting.popleft()
        except IndexError:  # another thread has taken the last answer
            return
        if has_too_many_values(body):  # parsing it would take seconds
            self._observer.drifted(operation, {"result"})
            return
        document = parse(body)
        if fields := unexpected(operation, document["result"]) | unexpected_members(document):
            self._observer.drifted(operation, fields)
