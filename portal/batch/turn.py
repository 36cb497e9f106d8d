"""Lets the threads of a batch compute one after another."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# A thread may wait for something other than the upstream, such as a lock of the database, without
# giving up its turn. The other threads then begin without one after this time.
PATIENCE_S: Final = 0.05


class Turn:
    """A lock that a thread releases while it waits for the upstream.

    Because of the interpreter's lock, only one thread of a process computes at a time. Threads that
    compete for that lock wake each other many times in a lookup. This takes a fifth more processor
    time, and delays the workers' hits (docs/decisions/0012-batches-in-the-database.md). A thread
    that has waited for PATIENCE_S goes on without the turn, so that no thread can block the others.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread = threading.local()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Wait for the turn, and keep it to the end of the block."""
        self._take()
        try:
            yield
        finally:
            self._give_up()

    @contextmanager
    def given_up(self) -> Iterator[None]:
        """Let other threads have the turn during the block, if the calling thread has it."""
        if not self._give_up():
            yield
            return
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        self._thread.has_turn = self._lock.acquire(timeout=PATIENCE_S)

    def _give_up(self) -> bool:
        has_turn = getattr(self._thread, "has_turn", False)
        if has_turn:
            self._thread.has_turn = False
            self._lock.release()
        return has_turn
