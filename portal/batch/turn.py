"""Lets the threads that run batches compute one after another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# After this many seconds, a waiting thread goes on without the turn. The thread that has the turn
# may wait for something else than the upstream, such as a lock of the database.
PATIENCE_S: Final = 0.05


class Turn:
    """A lock that a thread holds while it computes, and releases while it waits for the upstream.

    Because of the interpreter's lock, only one thread of a process computes at a time. Threads that
    compete for that lock wake each other many times in a lookup. Their competition takes a fifth
    more processor time, and delays the workers' hits (docs/decisions/0012). Blocks of ``taken``
    must not be nested.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, at most PATIENCE_S, and release it at the end of the block."""
        self._thread.wants_turn = True
        self._take()
        try:
            yield
        finally:
            self._thread.wants_turn = False
            self._release()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Within a block of ``taken``, release the turn, and wait for it again at the end.

        Elsewhere this has no effect.
        """
        if not getattr(self._thread, "wants_turn", False):
            yield
            return
        self._release()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        self._thread.has_turn = self._lock.acquire(timeout=PATIENCE_S)

    def _release(self) -> None:
        if self._thread.has_turn:
            self._thread.has_turn = False
            self._lock.release()
