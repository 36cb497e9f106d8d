"""A few numbers that the worker processes of a machine share: a breaker's state lives in them."""

import contextlib
import fcntl
import mmap
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

from portal.system.shared_directory import fill

_DOUBLE = struct.Struct("=d")
CELL_BYTES = _DOUBLE.size


class SharedCounters:
    """``count`` doubles, all zero at first; with a path they are the same in every process.

    A single read needs no lock (eight aligned bytes); whoever reads and then writes takes
    ``locked``. The kernel frees the lock of a process that dies. Raises OSError where the file
    finds no room.
    """

    def __init__(self, count: int, path: Path | None = None) -> None:
        self._turn = threading.Lock()
        self._file: int | None = None
        size = count * _DOUBLE.size
        if path is None:
            self._bytes = mmap.mmap(-1, size)
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Not ftruncate: a hole that a full disk cannot fill would end the process at a write.
        fill(self._file, size)
        self._bytes = mmap.mmap(self._file, size)

    def __getitem__(self, index: int) -> float:
        return float(_DOUBLE.unpack_from(self._bytes, index * _DOUBLE.size)[0])

    def __setitem__(self, index: int, value: float) -> None:
        _DOUBLE.pack_into(self._bytes, index * _DOUBLE.size, value)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One thread of one process at a time."""
        with self._turn:
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
