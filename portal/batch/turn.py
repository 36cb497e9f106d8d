"""A lock with which the batch threads of a process take turns to compute."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# A thread waits at most PATIENCE_S seconds for the turn, and then computes without it. The reason
# is that the thread with the turn may itself be waiting, for example for a database lock.
PATIENCE_S: Final = 0.05


class Turn:
    """A lock that a thread holds while it computes, and releases while it waits for the upstream.

    Without a Turn, batch threads compete for the interpreter's lock (GIL) and wake each other many
    times in each lookup. This competition increases a batch's processor time by a fifth, and delays
    answers from the cache (docs/decisions/0012). ``with turn.taken():`` blocks must not be nested.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, run the block and release the turn.

        After PATIENCE_S seconds, run the block without the turn.
        """
        self._thread.wants_turn = True
        self._take()
        try:
            yield
        finally:
            self._thread.wants_turn = False
            self._release()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Release the turn during a block, and wait for the turn again at the end.

        Outside a ``with turn.taken():`` block, this method has no effect.
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
