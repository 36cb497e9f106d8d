"""A process-local LRU cache of verified answers, with a limit in bytes.

An entry is confirmed when the process finds that the backend still stores the entry. An entry is
served for CONFIRMED_FOR_S (1 s) after its last confirmation. While the backend is down, entries are
served without confirmation. ``Store.tick`` confirms entries in the background, so that requests
need not wait for the backend. If nothing was written to the backend since an entry was read,
``tick`` confirms the entry without a query. For any other entry, ``tick`` queries the backend only
if the entry was requested since the last ``tick``.
"""

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from portal.gateway.envelope import Envelope

# A version identifies the contents of a backend at a moment. Versions of two moments are equal only
# if nothing was written between the moments.
Version = tuple[int, int]
CONFIRMED_FOR_S: Final = 1.0
_OVERHEAD = 600  # bytes that an entry takes in addition to its body


class CachedEntry(msgspec.Struct, frozen=True):
    """A stored answer, and when the process last found it in the backend.

    ``confirmed_at`` is in monotonic seconds. ``generation`` is the backend's generation name at
    ``confirmed_at``, or None if the backend never accepted the envelope. The backend changes this
    name with each purge (see BEGUN in backend.py). While the backend's version equals ``version``,
    the backend still stores the envelope.
    """

    envelope: Envelope
    confirmed_at: float
    generation: str | None
    signature: bytes
    version: Version | None


class LocalCache:
    """Maps store keys to entries. A full cache drops its least recently used entries."""

    def __init__(self, capacity_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._capacity = capacity_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, CachedEntry] = OrderedDict()
        self._requested: set[str] = set()
        # The backend's last known version, and the time when it was read (monotonic seconds). Both
        # are in one tuple, so that threads can read them together without a lock.
        self._last_seen: tuple[Version | None, float] = (None, -math.inf)
        self.size_bytes = 0

    @property
    def version(self) -> Version | None:
        """Return the backend's last known version.

        A caller that passes the version to ``put`` must read the version before the entry. If a
        write happens between the two reads, the entry gets the older version and is therefore
        checked again.
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
        """Return the envelope if it was cached or confirmed within the last second, or None."""
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
        """Return the time to pass to ``confirm``. Call ``now`` before you read the backend."""
        return self._clock()

    def take_unconfirmed(self, version: Version | None) -> list[str]:
        """Return the keys of entries that were requested since the last call of this method.

        The caller must read the signatures under these keys from the backend, and pass the
        signatures to ``confirm``. ``version`` is the backend's present version. Entries that were
        read at this version need no check, and are omitted.
        """
        requested, self._requested = self._requested, set()
        unconfirmed = []
        with self._lock:
            # Iterate over a copy, because another thread may still add keys to this set.
            for key in list(requested):
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
        """Confirm each entry that has the same signature in this cache and in ``signatures``.

        The caller must read ``signatures``, ``generation`` and ``version`` from the backend after
        the time ``at`` (see ``now``).
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
        """Return the entry under ``key``, even without recent confirmation, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def evict(self, key: str) -> None:
        with self._lock:
            self._drop(key)

    def evict_matching(self, matches: Callable[[str], bool]) -> None:
        with self._lock:
            for key in [key for key in self._entries if matches(key)]:
                self._drop(key)

    def sweep(self, now: float) -> None:
        """Remove the entries that expire by ``now`` (epoch seconds)."""
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
