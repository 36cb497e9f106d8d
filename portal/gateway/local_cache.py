"""A process-local LRU cache of verified answers, with a limit in bytes.

An entry is confirmed when the process finds that the backend still stores the entry. An entry is
served for CONFIRMED_FOR_S (1 s) after its last confirmation. While the backend is down, entries are
served without confirmation. ``Store.tick`` confirms in the background the entries that were
requested since the last ``tick``, so that requests need not wait for the backend.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from portal.gateway.envelope import Envelope

CONFIRMED_FOR_S: Final = 1.0
_OVERHEAD = 600  # bytes that an entry takes in addition to its body


class CachedEntry(msgspec.Struct, frozen=True):
    """A stored answer, and when the process last found it in the backend (monotonic seconds).

    ``signature`` is empty if the backend never accepted the answer.
    """

    envelope: Envelope
    signature: bytes
    confirmed_at: float


class LocalCache:
    """Maps store keys to entries. A full cache drops its least recently used entries.

    The cache accepts no answer that ``hides`` (see ``PurgeClock``) hides.
    """

    def __init__(
        self,
        capacity_bytes: int,
        hides: Callable[[str, int], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._capacity = capacity_bytes
        self._hides = hides
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, CachedEntry] = OrderedDict()
        self._requested: set[str] = set()
        self.size_bytes = 0

    def put(self, envelope: Envelope, signature: bytes = b"") -> None:
        entry = CachedEntry(envelope, signature, self._clock())
        with self._lock:
            self._drop(envelope.key)
            # Ask within the lock. A purge that becomes known later is followed by ``sweep``.
            if self._hides(envelope.key, envelope.purge_no):
                return
            self._entries[envelope.key] = entry
            self.size_bytes += _size(envelope)
            while self.size_bytes > self._capacity and self._entries:
                self._drop(next(iter(self._entries)))

    def recent(self, key: str) -> Envelope | None:
        """Return the envelope if it was cached or confirmed within the last second, or None."""
        entry = self._entries.get(key)
        if entry is None or entry.confirmed_at < self._clock() - CONFIRMED_FOR_S:
            return None
        self._requested.add(key)
        return entry.envelope

    def take_requested(self) -> tuple[list[str], float]:
        """Return the keys of entries that were requested since the last call of this method.

        Also returns the time to pass to ``confirm``.
        """
        at = self._clock()
        requested, self._requested = self._requested, set()
        with self._lock:
            # Iterate over a copy, because another thread may still add keys to this set.
            kept = [key for key in list(requested) if key in self._entries]
            for key in kept:
                self._entries.move_to_end(key)
        return kept, at

    def confirm(self, signatures: Mapping[str, bytes], at: float) -> None:
        """Confirm each entry that has the same signature in this cache and in ``signatures``.

        The caller must read ``signatures`` from the backend after the time ``at``.
        """
        with self._lock:
            for key, signature in signatures.items():
                entry = self._entries.get(key)
                if entry is not None and entry.signature == signature and entry.confirmed_at < at:
                    self._entries[key] = CachedEntry(entry.envelope, signature, at)

    def get_stale(self, *keys: str) -> dict[str, Envelope]:
        """Return the envelopes under ``keys``, even those without recent confirmation."""
        envelopes = {}
        with self._lock:
            for key in keys:
                if entry := self._entries.get(key):
                    envelopes[key] = entry.envelope
                    self._entries.move_to_end(key)
        return envelopes

    def listed(self) -> list[str]:
        with self._lock:
            return list(self._entries)

    def evict(self, key: str) -> Envelope | None:
        with self._lock:
            return self._drop(key)

    def sweep(self, now: float) -> None:
        """Remove hidden entries, and those that expire by ``now`` (epoch seconds)."""
        with self._lock:
            for key, entry in list(self._entries.items()):
                if entry.envelope.delete_at <= now or self._hides(key, entry.envelope.purge_no):
                    self._drop(key)

    def _drop(self, key: str) -> Envelope | None:
        entry = self._entries.pop(key, None)
        if entry is None:
            return None
        self.size_bytes -= _size(entry.envelope)
        return entry.envelope


def _size(envelope: Envelope) -> int:
    return len(envelope.body) + _OVERHEAD
