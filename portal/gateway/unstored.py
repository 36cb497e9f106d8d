"""Answers that the backend did not take, until it takes them."""

import threading
from collections import OrderedDict
from typing import Final, NamedTuple

from portal.gateway.backend import Mark
from portal.gateway.envelope import Envelope

MOST_BYTES: Final = 16 * 1024 * 1024  # of bodies


class Unstored(NamedTuple):
    """What ``Store.write`` was given."""

    envelope: Envelope
    fence: int
    mark: Mark


class UnstoredQueue:
    """The newest of each key, the oldest first; beyond the room, the oldest is given up."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, Unstored] = OrderedDict()
        self._bytes = 0

    def put(self, envelope: Envelope, fence: int, mark: Mark) -> None:
        with self._lock:
            self._remove(envelope.key)
            self._waiting[envelope.key] = Unstored(envelope, fence, mark)
            self._bytes += len(envelope.body)
            while self._bytes > self._most_bytes:
                self._remove(next(iter(self._waiting)))

    def take(self, key: str) -> Unstored | None:
        with self._lock:
            return self._remove(key)

    def waiting(self) -> list[str]:
        with self._lock:
            return list(self._waiting)

    def _remove(self, key: str) -> Unstored | None:
        taken = self._waiting.pop(key, None)
        if taken is not None:
            self._bytes -= len(taken.envelope.body)
        return taken
