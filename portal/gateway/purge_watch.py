"""Detects purges by other processes, and evicts purged entries from the local cache."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from portal.gateway.backend import PURGED, Backend, PurgeState, purge_bucket
from portal.gateway.local_cache import LocalCache
from portal.storage.purge_log import Purges

CHECK_EVERY_S: Final = 1.0  # seconds between checks of the purge log while the backend is down

log = logging.getLogger(__name__)


class PurgeWatch:
    """Removes entries of purged vehicles from the local cache and the backend.

    Each purge changes the backend's generation name. The caller must call ``note`` with every name
    that it reads. While the backend is down, the caller must call ``check`` instead, which reads
    the purge log in the database.

    ``purges_since`` reads the purge log. The purge log is also needed if another portal with the
    same database has a backend of its own (``follow``), and if the backend loses its contents or
    restarts from an old snapshot, because the backend's purge counters are then lost or old. The
    backend records the number of the last applied purge under a name that depends on the
    secret key. ``log_names`` has this name for each secret key, with the present key first.
    """

    def __init__(
        self,
        backend: Backend,
        memory: LocalCache,
        purges_since: Callable[[int | None], Purges | None],
        log_names: Sequence[str],
    ) -> None:
        self._backend = backend
        self._memory = memory
        self._purges_since = purges_since
        self._log_names = log_names
        self._generation: str | None = None
        self._last_purge: int | None = None
        self._checked_at = 0.0
        self._lock = threading.Lock()
        self._compare_at = 0.0  # time of the next call of ``compare`` (monotonic seconds)

    @property
    def generation(self) -> str | None:
        """The backend's last noted generation name, or None before the first contact."""
        return self._generation

    @property
    def last_purge(self) -> int | None:
        """The number of the last known purge, or None if the purge log was never read."""
        return self._last_purge

    @contextmanager
    def settled(self) -> Iterator[str | None]:
        """Yield the generation name. ``note`` and ``check`` wait until the ``with`` block ends."""
        with self._lock:
            yield self._generation

    def read_last_purge(self) -> int | None:
        """Return ``last_purge``. If it is None, read the purge log first."""
        if self._last_purge is None and (log_read := self._purges_since(None)) is not None:
            self._last_purge = log_read.latest
        return self._last_purge

    def is_current(self, purge_state: PurgeState) -> bool:
        """Return whether no purge was detected after ``purge_state`` was read."""
        return (
            self._generation == purge_state.generation
            and self._last_purge == purge_state.last_purge
        )

    def may_be_purged(self, key: str, since: int | None) -> bool | None:
        """Return whether a key's vehicle may have been purged after a given purge.

        ``since`` is the number of that purge in the purge log, or None if it is unknown.

        Returns None if the purge log is unavailable.
        """
        purges = self._purges_since(since)
        if purges is None:
            return None
        return purges.buckets is None or purge_bucket(key) in purges.buckets

    def note(self, generation: str) -> bool:
        """Record the backend's generation name. Evict purged entries if the name is new.

        A new name that begins with PURGED clears the local cache. Any other new name means that the
        backend has lost its contents. In this case, only entries of vehicles that were purged since
        the last check are evicted, or all entries if the purge log is unavailable.

        If this method returns True, the caller must discard the entries that it read together with
        the name, because some of these entries may have been deleted.
        """
        if generation == self._generation and time.monotonic() < self._compare_at:
            return False
        with self._lock:
            if generation != self._generation:
                self._compare_at = 0.0
            if time.monotonic() < self._compare_at:
                return True  # another thread made the comparison while this thread waited
            self.compare()
            if generation == self._generation:
                self._evict_newly_purged()
                return True
            last, since = self._generation, self._purges_since(self._last_purge)
            self._last_purge = since.latest if since is not None else None
            # Set the generation before the eviction. If another thread caches an entry during the
            # eviction, that thread sees the new generation and evicts the entry itself.
            self._generation = generation
            if last is None and not self._memory.size_bytes:
                return True  # this is the first contact with the backend
            if since is None or (last is not None and generation.startswith(PURGED)):
                self._memory.clear()
            else:
                self._evict_purged(since.buckets)
            return True

    def check(self) -> None:
        """While the backend is down, evict entries that were purged since the last check."""
        now = time.monotonic()
        if self._last_purge is None or now - self._checked_at < CHECK_EVERY_S:
            return
        with self._lock:
            self._checked_at = now
            self._evict_newly_purged()

    def follow(self) -> None:
        """Apply the purges that the log has gained to the backend and to the local cache.

        A purge by a portal with another backend and the same database changes only the log. Raises
        the backend's errors.
        """
        number = self._purged_to()
        known = number if self._last_purge is None else min(number, self._last_purge)
        # Read the database without the lock, because requests that read the backend need the lock.
        if (since := self._purges_since(known)) is None:
            return
        if number < since.latest:
            self.compare()
        with self._lock:
            if since.latest != self._last_purge:
                self._last_purge = since.latest
                self._evict_purged(since.buckets)

    def distrust(self) -> None:
        """Make the next call of ``note`` compare the backend with the purge log.

        ``Store`` calls this method after a fault of the backend, because the backend may come back
        with older contents.
        """
        self._compare_at = 0.0

    def compare(self) -> None:
        """Delete purged entries that have returned to the backend.

        Purged entries return, for example, if a Redis server is killed and restarts from a snapshot
        that is older than the purge. Raises the backend's errors.
        """
        number = self._purged_to()
        since = self._purges_since(number)
        if since is None:
            self._compare_at = time.monotonic() + CHECK_EVERY_S
            return
        # ``since.latest`` is the newest purge in this portal's database. ``number`` may be higher,
        # because a portal with a database of its own may share the backend and the secret key. In
        # this case, nothing is deleted.
        if number < since.latest:
            deleted = self._backend.delete_buckets(since.buckets)
            if deleted:
                log.warning("%d stored answers of purged vehicles were deleted", deleted)
            self._backend.set_purged_to(self._log_names[0], since.latest)
        self._compare_at = math.inf

    def _purged_to(self) -> int:
        """Return the number of the last purge that the backend has applied."""
        # Portals that sign with another secret key use another name for the same purge log. The
        # backend keeps a number for each name.
        return max(map(self._backend.purged_to, self._log_names))

    def _evict_newly_purged(self) -> None:
        since = self._purges_since(self._last_purge)
        if since is not None and since.latest != self._last_purge:
            self._last_purge = since.latest
            self._evict_purged(since.buckets)

    def _evict_purged(self, buckets: frozenset[int] | None) -> None:
        if buckets is None:
            self._memory.clear()
        elif buckets:
            self._memory.evict_matching(lambda key: purge_bucket(key) in buckets)
