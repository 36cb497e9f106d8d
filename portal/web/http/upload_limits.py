"""Limits on the size of request bodies and on concurrent reads of bodies.

A stalled body blocks the thread that reads the body, because the server, Granian 2.8, has no
time-out for bodies. Without a limit, a few hundred clients that send one byte a minute would block
every thread of a worker.

The forms of pages and the JSON bodies of the API have separate limiters, so that unauthenticated
clients with half-sent forms do not block the API. Bodies that ``RefusedBodies`` discards have a
third limiter. Each worker has its own limiters. The sum of the limits is less than the number of
the worker's threads, so that some threads remain for requests without a body.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, Self

from werkzeug.exceptions import ServiceUnavailable

BODY_CAP: Final = 256 * 1024  # bytes of a request's body
MAX_FORMS: Final = 64
MAX_FORMS_PER_NETWORK: Final = 4  # several people may share a network
MAX_JSON_BODIES: Final = 256
MAX_JSON_BODIES_PER_SENDER: Final = MAX_JSON_BODIES // 4  # a script may send bodies in parallel
MAX_REFUSED: Final = 8  # bodies that are read only to be discarded
MAX_REFUSED_PER_NETWORK: Final = 4
RETRY_AFTER_S: Final = 1


class UploadLimits(NamedTuple):
    """For each kind of body, the limits of concurrent reads in total and per sender.

    ``forms`` is for the forms of pages, ``json_bodies`` for the JSON bodies of the API, and
    ``refused`` for the bodies of refused requests.
    """

    forms: tuple[int, int]
    json_bodies: tuple[int, int]
    refused: tuple[int, int]

    @classmethod
    def of(cls, threads: int) -> Self:
        """Return the limits of a process that has ``threads`` (at least four) request threads."""
        forms = min(MAX_FORMS, max(1, threads // 8))
        json_bodies = min(MAX_JSON_BODIES, threads // 2 - 1)
        refused = min(MAX_REFUSED, max(1, threads // 32))
        return cls(
            (forms, min(MAX_FORMS_PER_NETWORK, max(1, forms // 2))),
            (json_bodies, min(MAX_JSON_BODIES_PER_SENDER, max(1, json_bodies // 2))),
            (refused, min(MAX_REFUSED_PER_NETWORK, max(1, refused // 2))),
        )


class UploadLimiter:
    """Allows ``total`` concurrent body reads, at most ``per_sender`` of them by one sender."""

    def __init__(self, total: int, per_sender: int) -> None:
        self._total = total
        self._per_sender = per_sender
        # The number of reads in progress, by sender. A sender is removed when its last read ends.
        self._reading: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def reading(self, sender: str) -> Iterator[None]:
        """Reserve a slot while one body is read. Raises ServiceUnavailable if no slot is free."""
        with self._lock:
            is_full = self._reading.total() >= self._total
            if is_full or self._reading[sender] >= self._per_sender:
                raise ServiceUnavailable(retry_after=RETRY_AFTER_S)
            self._reading[sender] += 1
        try:
            yield
        finally:
            with self._lock:
                self._reading[sender] -= 1
                if not self._reading[sender]:
                    del self._reading[sender]
