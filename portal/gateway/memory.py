"""A bounded, byte-counted process memory of opened envelopes, the least recently used leave first.

It answers within a second of a confirmed read, and in place of a backend that is down. What is
held is confirmed together, beside the requests, so that none of them waits for it: all of it as
long as nobody writes to the backend, otherwise what is asked for.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping

import msgspec

from portal.gateway.envelope import Envelope

# A backend's contents at one instant; two are equal only where nothing was written between them.
Version = tuple[int, int]
BELIEVED_S = 1.0
_OVERHEAD = 600  # bytes that an envelope, its key and its slot take beside the body


class Kept(msgspec.Struct, frozen=True):
    """An envelope, when the backend was last seen to hold it, in which era of the backend
    (None: the backend never took it), the seal it was seen under, and a version of the backend
    since which it is there."""

    envelope: Envelope
    confirmed_at: float
    era: str | None
    seal: bytes
    version: Version | None


class LocalCache:
    """``clock`` is the monotonic one that confirmations are measured by."""

    def __init__(self, capacity_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, Kept] = OrderedDict()
        self._asked: set[str] = set()
        # The backend's version when it was last seen, and when that was: together, as they are
        # read without the lock.
        self._seen: tuple[Version | None, float] = (None, -math.inf)
        self.size_bytes = 0

    @property
    def version(self) -> Version | None:
        """The backend's, as last seen; to be asked for before whatever is kept under it is read."""
        return self._seen[0]

    def put(
        self,
        envelope: Envelope,
        era: str | None,
        seal: bytes = b"",
        version: Version | None = None,
    ) -> None:
        kept = Kept(envelope, self._clock(), era, seal, version)
        with self._lock:
            self._drop(envelope.key)
            self._entries[envelope.key] = kept
            self.size_bytes += _size(envelope)
            while self.size_bytes > self._capacity and self._entries:
                self._drop(next(iter(self._entries)))

    def recent(self, key: str) -> Envelope | None:
        """What was put or confirmed within the last second."""
        kept = self._entries.get(key)
        if kept is None:
            return None
        oldest = self._clock() - BELIEVED_S
        if kept.confirmed_at < oldest:
            version, seen_at = self._seen
            if version is None or kept.version != version or seen_at < oldest:
                return None
        self._asked.add(key)
        return kept.envelope

    def now(self) -> float:
        """For ``confirm``: to be asked for before the backend is."""
        return self._clock()

    def asked(self, version: Version | None) -> list[str]:
        """The keys that ``recent`` answered since the last time, but for those that the backend's
        version alone confirms and those no longer held."""
        asked, self._asked = self._asked, set()
        unconfirmed = []
        with self._lock:
            for key in list(asked):  # somebody may just have got hold of the set
                kept = self._entries.get(key)
                if kept is None:
                    continue
                self._entries.move_to_end(key)
                if version is None or kept.version != version:
                    unconfirmed.append(key)
        return unconfirmed

    def confirm(
        self, seals: Mapping[str, bytes], era: str, at: float, version: Version | None = None
    ) -> None:
        """The backend was of this version at that time, and held these since: whatever is kept
        under another seal is as old as it was."""
        with self._lock:
            for key, seal in seals.items():
                kept = self._entries.get(key)
                if kept is not None and kept.seal == seal and kept.confirmed_at < at:
                    self._entries[key] = Kept(kept.envelope, at, era, seal, version)
            self._seen = (version, at)

    def get_stale(self, key: str) -> Kept | None:
        """Whatever is held, however long ago it was confirmed."""
        with self._lock:
            kept = self._entries.get(key)
            if kept is not None:
                self._entries.move_to_end(key)
            return kept

    def evict(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def forget_those(self, is_gone: Callable[[str], bool]) -> None:
        """Drop the entries whose keys the function picks."""
        with self._lock:
            for key in [key for key in self._entries if is_gone(key)]:
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
