"""A limit to the lookups that a process has under way at a time."""

import contextlib
import threading
from collections.abc import Iterator

from portal.gateway.lease import RETRY_AFTER_S, Leases
from portal.gateway.lookup import Failure


class LimitedLeases:
    """Leases of which a process holds or waits for ``most`` at a time.

    Each takes descriptors: its file, and the connection to the upstream. Beyond the limit
    ``hold`` raises Failure("unreachable") at once, before anything is opened, sent or paid, so
    that the listener and the databases always find a descriptor.
    """

    def __init__(self, leases: Leases, most: int) -> None:
        self._leases = leases
        self._places = threading.BoundedSemaphore(most)

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[int | None]:
        if not self._places.acquire(blocking=False):
            raise Failure("unreachable", RETRY_AFTER_S)
        try:
            with self._leases.hold(key) as fence:
                yield fence
        finally:
            self._places.release()

    def forget(self, tag: str) -> None:
        self._leases.forget(tag)
