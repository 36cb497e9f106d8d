"""A bounded, byte-counted process memory of opened envelopes, the least recently used leave first.

It answers within a second of a confirmed read, and in place of a backend that is down. What is
asked for is confirmed together, beside the requests, so that none of them waits for it.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from portal.gateway.envelope import Envelope

BELIEVED_S = 1.0
_OVERHEAD = 600  # bytes that an envelope, its key and its slot take beside the body


@dataclass(frozen=True, slots=True)
class Kept:
    """An envelope, when the backend was last seen to hold it, in which era of the backend
    (None: the backend never took it), and the seal it was seen under."""

    envelope: Envelope
    confirmed_at: float
    era: str | None
    seal: bytes


class Memory:
    """``clock`` is the monotonic one that confirmations are measured by."""

    def __init__(self, capacity_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, Kept] = OrderedDict()
        self._asked: set[str] = set()
        self.size_bytes = 0

    def keep(self, envelope: Envelope, era: str | None, seal: bytes = b"") -> None:
        kept = Kept(envelope, self._clock(), era, seal)
        with self._lock:
            self._drop(envelope.key)
            self._entries[envelope.key] = kept
            self.size_bytes += _size(envelope)
            while self.size_bytes > self._capacity and self._entries:
                self._drop(next(iter(self._entries)))

    def recent(self, key: str) -> Envelope | None:
        """What was put or confirmed within the last second."""
        kept = self._entries.get(key)
        if kept is None or self._clock() - kept.confirmed_at > BELIEVED_S:
            return None
        self._asked.add(key)
        return kept.envelope

    def asked(self) -> tuple[list[str], float]:
        """The keys that ``recent`` answered since the last time, and the time now."""
        asked, self._asked = self._asked, set()
        return list(asked), self._clock()

    def confirm(self, seals: Mapping[str, bytes], era: str, at: float) -> None:
        """The backend held these at that time: whatever is kept under another seal is as old as
        it was."""
        with self._lock:
            for key, seal in seals.items():
                kept = self._entries.get(key)
                if kept is not None and kept.seal == seal and kept.confirmed_at < at:
                    self._entries[key] = Kept(kept.envelope, at, era, seal)

    def any(self, key: str) -> Kept | None:
        """Whatever is held, however long ago it was confirmed."""
        with self._lock:
            kept = self._entries.get(key)
            if kept is not None:
                self._entries.move_to_end(key)
            return kept

    def forget(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def sweep(self, now: float) -> None:
        """Drop what is past its retention; ``now`` in epoch seconds."""
        with self._lock:
            past = [key for key, kept in self._entries.items() if kept.envelope.delete_at <= now]
            for key in past:
                self._drop(key)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.size_bytes = 0

    def _drop(self, key: str) -> None:
        kept = self._entries.pop(key, None)
        if kept is not None:
            self.size_bytes -= _size(kept.envelope)


def _size(envelope: Envelope) -> int:
    return len(envelope.body) + _OVERHEAD
