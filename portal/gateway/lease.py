"""Leases, with which one process at a time calls the upstream for a key.

File leases work between the processes of one machine. If the holder of a file lease dies, the
kernel releases the holder's file lock and thus the lease.
"""

import contextlib
import errno
import fcntl
import logging
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from portal.gateway.lookup import Failure

log = logging.getLogger(__name__)

RETRY_AFTER_S = 1.0
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class Leases(Protocol):
    """Lets one process at a time hold the lease of a store key.

    ``hold`` yields a fence to the process that gets the lease, and None to any other process. A
    fence is a fencing token: the time in microseconds since 1970 at which the process got the
    lease. Each fence from Redis is higher than the previous fence, even if the clock was set back.
    The store rejects a value whose fence is lower than the fence of the stored value.
    """

    def hold(self, key: str) -> contextlib.AbstractContextManager[int | None]: ...

    def forget(self, tag: str) -> None:
        """Remove the files of a vehicle's leases, except leases that a process holds."""
        ...


def fence_now() -> int:
    return time.time_ns() // 1000


class FileLeases:
    """Leases by file locks (flock), with one file for each key.

    If the directory is not writable or its file system has no locks, every process gets the lease.
    Lookups still work, but several processes may call the upstream for the same key. If the process
    has no file descriptor or memory left, ``hold`` raises Failure("unreachable"). If ``hold``
    granted the lease to each of many equal concurrent lookups, all of them would be charged.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    @contextlib.contextmanager
    def hold(self, key: str) -> Iterator[int | None]:
        path = self._directory / key.replace(":", "-")
        try:
            file = self._open(path)
        except OSError as error:
            if error.errno in _EXHAUSTED:
                raise Failure("unreachable", RETRY_AFTER_S) from None
            log.warning("cannot open a lease file: %s", type(error).__name__)
            yield fence_now()
            return
        try:
            is_leader, should_unlink = _try_acquire(file, path)
            if not is_leader:
                yield None
                return
            try:
                yield fence_now()
            finally:
                # Remove the file before its lock is released. Otherwise, a process that has already
                # opened the file could get the lease. ``_try_acquire`` rejects a removed file.
                if should_unlink:
                    with contextlib.suppress(OSError):
                        path.unlink()
        finally:
            os.close(file)

    def forget(self, tag: str) -> None:
        self._remove_unheld(f"{tag}-*")

    def remove_released(self) -> None:
        """Remove the files of all leases that no process holds. Raises OSError."""
        self._remove_unheld("*")

    def _remove_unheld(self, pattern: str) -> None:
        for path in self._directory.glob(pattern):
            with contextlib.suppress(FileNotFoundError):
                file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                try:
                    _, should_unlink = _try_acquire(file, path)
                    if should_unlink:
                        path.unlink()
                finally:
                    os.close(file)

    def _open(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:  # the directory does not exist yet, or was removed
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            return os.open(path, flags, 0o600)


_LOCKS_UNSUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def _try_acquire(file: int, path: Path) -> tuple[bool, bool]:
    """Return whether this process has the lease, and whether it must remove the file.

    A lock on a removed file is useless, because other processes open a new file at ``path``.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_held = os.fstat(file).st_ino == path.stat().st_ino
        return is_held, is_held
    except (BlockingIOError, FileNotFoundError):
        return False, False
    except OSError as error:
        log.warning("cannot lock a lease file: %s", errno.errorcode.get(error.errno or 0, "?"))
        # If the file system has no locks, no other process depends on the file, so this process
        # removes the file. If the system has run out of locks (ENOLCK), another process may have
        # locked the file, so the file must stay.
        return True, error.errno in _LOCKS_UNSUPPORTED
