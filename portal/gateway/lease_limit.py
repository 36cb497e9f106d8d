"""Limits the concurrent cache misses of a process."""

import contextlib
import threading
from collections.abc import Iterator

from portal.gateway.lease import RETRY_AFTER_S, Leases
from portal.gateway.lookup import Failure


class LimitedLeases:
    """Limits how many leases one process may hold or request at a time.

    Each cache miss needs file descriptors for a lease and for a connection to the upstream. The
    limit leaves descriptors for new clients and for the databases. Beyond the limit, ``hold``
    raises Failure("unreachable") at once, before a request is sent or charged.
    """

    def __init__(self, leases: Leases, limit: int) -> None:
        self._leases = leases
        self._slots = threading.BoundedSemaphore(limit)

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[int | None]:
        if not self._slots.acquire(blocking=False):
            raise Failure("unreachable", RETRY_AFTER_S)
        try:
            with self._leases.hold(key) as fence:
                yield fence
        finally:
            self._slots.release()

    def forget(self, tag: str) -> None:
        self._leases.forget(tag)
