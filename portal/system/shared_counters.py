"""Shares numbers between worker processes in a file: states of breakers, counts of requests."""

import contextlib
import fcntl
import mmap
import os
import threading
from collections.abc import Iterator
from pathlib import Path

from portal.system.shared_directory import fill

COUNTER_BYTES = 8  # the size of a double


class SharedCounters:
    """``count`` doubles, initially zero, in the memory-mapped file ``path``: ``numbers``.

    Every process that maps the file shares the numbers. Without ``path`` they belong to one
    process. Reading one number needs no lock, because the processor reads its eight aligned bytes
    at once. Code that changes a number depending on its old value must use ``locked``. The kernel
    releases the lock of a process that dies. Raises OSError if the disk has no room for the file.
    """

    def __init__(self, count: int, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._file: int | None = None
        size = count * COUNTER_BYTES
        if path is None:
            self.numbers = memoryview(mmap.mmap(-1, size)).cast("d")
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Allocate every byte. ftruncate would leave a hole in the file, and on a full disk a write
        # into the hole would kill the process (SIGBUS).
        fill(self._file, size)
        self.numbers = memoryview(mmap.mmap(self._file, size)).cast("d")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the counters against other threads and other processes."""
        with self._lock:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                if self._file is not None:
                    fcntl.flock(self._file, fcntl.LOCK_UN)

    def __del__(self) -> None:
        if getattr(self, "_file", None) is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)  # type: ignore[arg-type]
