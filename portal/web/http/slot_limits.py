"""Limits on what a worker does at a time that holds a thread for as long as the client likes.

A stalled body blocks the thread that reads the body, and a client that does not read blocks the
thread that sends a long response, because the server, Granian 2.8, has a time-out for neither.
Without a limit, a few hundred clients would block every thread of a worker.

The forms of pages and the JSON bodies of the API have separate limiters, so that unauthenticated
clients with half-sent forms do not block the API. Bodies that ``RefusedBodies`` discards have a
third limiter, and the responses of ``streams`` a fourth. Each worker has its own limiters. The sum
of the limits is less than the number of the worker's threads, so that some threads remain for other
requests.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
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
MAX_STREAMS: Final = 8  # responses in parts: archives, and tables in a temporary file
MAX_STREAMS_PER_SENDER: Final = 1
RETRY_AFTER_S: Final = 1


class SlotLimits(NamedTuple):
    """For each kind of body or response, the limits in total and per sender.

    ``forms`` is for the forms of pages, ``json_bodies`` for the JSON bodies of the API, ``refused``
    for the bodies of refused requests, and ``streams`` for long responses.
    """

    forms: tuple[int, int]
    json_bodies: tuple[int, int]
    refused: tuple[int, int]
    streams: tuple[int, int]

    @classmethod
    def of(cls, threads: int) -> Self:
        """Return the limits of a process that has ``threads`` (at least four) request threads."""
        forms = min(MAX_FORMS, max(1, threads // 8))
        json_bodies = min(MAX_JSON_BODIES, threads // 2 - 1)
        # With four threads none is left to read the body of a refused request, which is optional.
        refused = min(MAX_REFUSED, max(min(1, threads - 4), threads // 32))
        return cls(
            (forms, min(MAX_FORMS_PER_NETWORK, max(1, forms // 2))),
            (json_bodies, min(MAX_JSON_BODIES_PER_SENDER, max(1, json_bodies // 2))),
            (refused, min(MAX_REFUSED_PER_NETWORK, max(1, refused // 2))),
            (min(MAX_STREAMS, max(1, threads // 32)), MAX_STREAMS_PER_SENDER),
        )


class SlotLimiter:
    """Gives out ``total`` slots at a time, at most ``per_sender`` of them to one sender.

    ``refusal`` returns the exception for a sender that gets none.
    """

    def __init__(
        self,
        total: int,
        per_sender: int,
        refusal: Callable[[], Exception] = lambda: ServiceUnavailable(retry_after=RETRY_AFTER_S),
    ) -> None:
        self._total = total
        self._per_sender = per_sender
        self._refusal = refusal
        # The number of slots by sender. A sender is removed when its last slot is released.
        self._taken: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def slot(self, sender: str) -> Iterator[None]:
        """Hold a slot. Raises the limiter's refusal if no slot is free."""
        with self._lock:
            is_full = self._taken.total() >= self._total
            if is_full or self._taken[sender] >= self._per_sender:
                raise self._refusal()
            self._taken[sender] += 1
        try:
            yield
        finally:
            with self._lock:
                self._taken[sender] -= 1
                if not self._taken[sender]:
                    del self._taken[sender]
