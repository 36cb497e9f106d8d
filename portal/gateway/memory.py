"""A process-local LRU cache of verified envelopes, bounded in bytes.

Entries are served within CONFIRMED_FOR_S (1 s) of a confirmed read, and in place of a backend that
is down. Confirmation runs in the background, so that no request waits for it. While the backend's
version does not change, all entries are confirmed together, otherwise only those requested since.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from portal.gateway.envelope import Envelope

# Identifies a backend's contents at one instant. Two versions are equal only if nothing was written
# between them.
Version = tuple[int, int]
CONFIRMED_FOR_S: Final = 1.0
_OVERHEAD = 600  # bytes of an envelope, its key and its slot besides the body


class CachedEntry(msgspec.Struct, frozen=True):
    """An envelope with its confirmation by the backend.

    ``confirmed_at`` is when the backend was last known to hold the envelope. ``generation`` is the
    backend's generation at that time, None if the backend never accepted the envelope.
    ``signature`` is the envelope's signature in the backend. As long as the backend's version is
    still ``version``, the backend holds the envelope.
    """

    envelope: Envelope
    confirmed_at: float
    generation: str | None
    signature: bytes
    version: Version | None


class LocalCache:
    """The cache. ``clock`` is the monotonic clock that dates confirmations."""

    def __init__(self, capacity_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, CachedEntry] = OrderedDict()
        self._requested: set[str] = set()
        # The backend's last known version and the time it was read. One tuple, because both are
        # read without the lock.
        self._last_seen: tuple[Version | None, float] = (None, -math.inf)
        self.size_bytes = 0

    @property
    def version(self) -> Version | None:
        """Return the backend's last known version.

        Read it before the backend's entry that is then put with it: a write between the two reads
        is then detected.
        """
        return self._last_seen[0]

    def put(
        self,
        envelope: Envelope,
        generation: str | None,
        signature: bytes = b"",
        version: Version | None = None,
    ) -> None:
        entry = CachedEntry(envelope, self._clock(), generation, signature, version)
        with self._lock:
            self._drop(envelope.key)
            self._entries[envelope.key] = entry
            self.size_bytes += _size(envelope)
            while self.size_bytes > self._capacity and self._entries:
                self._drop(next(iter(self._entries)))

    def recent(self, key: str) -> Envelope | None:
        """Return the envelope if it was put or confirmed within the last second."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        oldest = self._clock() - CONFIRMED_FOR_S
        if entry.confirmed_at < oldest:
            version, seen_at = self._last_seen
            if version is None or entry.version != version or seen_at < oldest:
                return None
        self._requested.add(key)
        return entry.envelope

    def now(self) -> float:
        """Return the time to pass to ``confirm``; call it before reading the backend."""
        return self._clock()

    def take_unconfirmed(self, version: Version | None) -> list[str]:
        """Return and reset the keys that ``recent`` served and that need confirming.

        Keys that the backend's unchanged version confirms, and keys no longer cached, are left out.
        """
        requested, self._requested = self._requested, set()
        unconfirmed = []
        with self._lock:
            for key in list(requested):  # a copy: another thread may still add to the set
                entry = self._entries.get(key)
                if entry is None:
                    continue
                self._entries.move_to_end(key)
                if version is None or entry.version != version:
                    unconfirmed.append(key)
        return unconfirmed

    def confirm(
        self,
        signatures: Mapping[str, bytes],
        generation: str,
        at: float,
        version: Version | None = None,
    ) -> None:
        """Confirm the entries whose signatures match those in the backend.

        ``version`` is the backend's version at time ``at``. Other entries keep their last
        confirmation, which expires.
        """
        with self._lock:
            for key, signature in signatures.items():
                entry = self._entries.get(key)
                if entry is not None and entry.signature == signature and entry.confirmed_at < at:
                    self._entries[key] = CachedEntry(
                        entry.envelope, at, generation, signature, version
                    )
            self._last_seen = (version, at)

    def get_stale(self, key: str) -> CachedEntry | None:
        """Return the entry regardless of when it was confirmed."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def evict(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def evict_matching(self, matches: Callable[[str], bool]) -> None:
        """Evict the entries whose keys satisfy the predicate."""
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                self._drop(key)

    def sweep(self, now: float) -> None:
        """Drop entries past retention; ``now`` in epoch seconds."""
        with self._lock:
            past = [key for key, entry in self._entries.items() if entry.envelope.delete_at <= now]
            for key in past:
                self._drop(key)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.size_bytes = 0

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size_bytes -= _size(entry.envelope)


def _size(envelope: Envelope) -> int:
    return len(envelope.body) + _OVERHEAD
