"""Queues answers that the backend could not store, until the store can write them."""

import threading
from collections import OrderedDict
from typing import Final, NamedTuple

from portal.gateway.backend import PurgeState
from portal.gateway.envelope import Envelope

MAX_BYTES: Final = 16 * 1024 * 1024  # largest total size of the queued bodies


class Unstored(NamedTuple):
    """The arguments of a failed call to ``Store.write``."""

    envelope: Envelope
    fence: int
    purge_state: PurgeState


class UnstoredQueue:
    """Queues, for each key, the newest answer that the backend could not store.

    If the bodies exceed MAX_BYTES in total, the oldest answers are discarded.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, Unstored] = OrderedDict()
        self._bytes = 0

    def put(self, envelope: Envelope, fence: int, purge_state: PurgeState) -> None:
        with self._lock:
            self._remove(envelope.key)
            self._waiting[envelope.key] = Unstored(envelope, fence, purge_state)
            self._bytes += len(envelope.body)
            while self._bytes > MAX_BYTES:
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
