"""Leases: who may ask the upstream for a key, over the processes of one machine.

A lease frees itself when its holder dies: the kernel drops the lock of a dead process.
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
    """``hold`` yields a fence number to the one holder of a key at a time, None to the others.

    Fences grow from one holder to the next, in microseconds since 1970 where a clock gives them:
    the store refuses a value written under an older fence than the one it holds.
    """

    def hold(self, key: str) -> contextlib.AbstractContextManager[int | None]: ...

    def forget(self, tag: str) -> None:
        """Remove what leases of a tag's keys left behind, but no lease that is held."""
        ...


def fence_now() -> int:
    return time.time_ns() // 1000


class FileLeases:
    """flock on a file a key.

    Where the directory cannot be written or its file system knows no locks, every process leads
    for itself: coalescing shrinks to one call a process, and no lookup is refused. Where the
    process has no descriptor or memory left, ``hold`` raises Failure("unreachable"): each of a
    crowd would lead, and pay.
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
            log.warning("no lease: %s", type(error).__name__)
            yield fence_now()
            return
        try:
            leads, removes = _leads(file, path)
            if not leads:
                yield None
                return
            try:
                yield fence_now()
            finally:
                # Removed while still locked: who opened it before sees the inode change.
                if removes:
                    with contextlib.suppress(OSError):
                        path.unlink()
        finally:
            os.close(file)

    def forget(self, tag: str) -> None:
        """A killed process leaves its file: the kernel dropped the lock, but the name tells the
        tag."""
        for path in self._directory.glob(f"{tag}-*"):
            with contextlib.suppress(FileNotFoundError):
                file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
                try:
                    if _lock(file, path):
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


def _leads(file: int, path: Path) -> tuple[bool, bool]:
    """Whether this process is to lead, and whether the file is its to remove."""
    try:
        held = _lock(file, path)
        return held, held
    except OSError as error:
        log.warning("no lock: %s", errno.errorcode.get(error.errno or 0, "?"))
        # Where nobody can ever lock it nobody else would remove it; a system that is out of
        # locks for the moment (ENOLCK) may have given this file's to another.
        return True, error.errno in _NO_LOCKS_HERE


_NO_LOCKS_HERE = frozenset({errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL})


def _lock(file: int, path: Path) -> bool:
    """Whether we hold the lock of the file that is at ``path`` now, not of one just removed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False
