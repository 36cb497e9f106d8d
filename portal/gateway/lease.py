"""Leases: mutual exclusion of upstream calls for a key between local processes.

A lease is released when its holder dies, because the kernel drops the lock of a dead process.
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
    """``hold`` yields a fence number to the one holder of a key, None to all others.

    A fence is the time in microseconds since 1970. Redis makes it higher than the last fence, even
    if its clock was set back. The store rejects a value whose fence is older than that of the
    stored value.
    """

    def hold(self, key: str) -> contextlib.AbstractContextManager[int | None]: ...

    def forget(self, tag: str) -> None:
        """Remove what a tag's released leases left behind; held leases stay."""
        ...


def fence_now() -> int:
    return time.time_ns() // 1000


class FileLeases:
    """Leases by flock on one file for each key.

    If the directory cannot be written or its file system has no locks, every process gets the
    lease: coalescing degrades to one call for each process, and no lookup is rejected. If the
    process has no descriptor or memory left, ``hold`` raises Failure("unreachable"), because
    otherwise each of many concurrent lookups would get the lease and incur a charge.
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
                # Unlink while still locked. A process that opened the file before then detects
                # that it is no longer at the path.
                if should_unlink:
                    with contextlib.suppress(OSError):
                        path.unlink()
        finally:
            os.close(file)

    def forget(self, tag: str) -> None:
        """Remove the files of a tag's leases that no process holds.

        A killed process leaves its file behind: the kernel dropped the lock, but the file name
        contains the tag.
        """
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
        except FileNotFoundError:  # the first lease, or the directory was removed
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            return os.open(path, flags, 0o600)


def _try_acquire(file: int, path: Path) -> tuple[bool, bool]:
    """Return (is_leader, should_unlink) for this process and lease file."""
    try:
        held = _lock(file, path)
        return held, held
    except OSError as error:
        log.warning("cannot lock a lease file: %s", errno.errorcode.get(error.errno or 0, "?"))
        # If the file system has no locks, this process must unlink the file, because no other
        # would. If the system is out of locks for the moment (ENOLCK), it must not, because another
        # process may hold this file's lock.
        return True, error.errno in _LOCKS_UNSUPPORTED


_LOCKS_UNSUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def _lock(file: int, path: Path) -> bool:
    """Try to lock an open file; return whether it is locked and still the file at ``path``.

    A lock on a file that was just removed does not count.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False
