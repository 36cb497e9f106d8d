"""The directory through which the worker processes of one server share numbers.

Its files are mapped into memory, and the system ends a process that writes into a mapped file for
which the disk has no room (SIGBUS). The directory is therefore in a memory file system if there
is one, never in the data directory, and every file is allocated before it is mapped.
"""

import contextlib
import fcntl
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

_PREFIX = "dossie-veicular-"
_UNLOCKED_PREFIX = "new-"  # added to the name until the directory is locked
_CREATION_GRACE_S = 60.0  # far longer than creating and locking a directory takes
_CHUNK = 1024 * 1024


def candidate_parents() -> Iterator[Path]:
    """Yield parents for a shared directory, the best first.

    /dev/shm is memory on Linux. The temporary directory is determined only after /dev/shm was
    refused, because a container whose root is read-only has no temporary directory.
    """
    yield Path("/dev/shm")  # noqa: S108 mkdtemp creates a private directory
    try:
        temporary = Path(tempfile.gettempdir())
    except FileNotFoundError:  # none is writable
        return
    yield temporary


class SharedDirectory:
    """An empty directory with ``room`` bytes for its files. ``remove`` deletes it.

    It is locked while this process or one forked from it lives. A server removes at its start the
    directories that are not locked, because killed servers left them, and leaves those of other
    running servers alone. Raises OSError if ``parent`` has less room.
    """

    def __init__(self, parent: Path, room: int) -> None:
        _remove_abandoned(parent)
        # It is locked before it gets its final name, so that no other server regards it as
        # abandoned.
        self.path = Path(tempfile.mkdtemp(prefix=f"{_UNLOCKED_PREFIX}{_PREFIX}", dir=parent))
        self._lock: int | None = None
        try:
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.path = self.path.rename(parent / self.path.name.removeprefix(_UNLOCKED_PREFIX))
            reserve(self.path / "room", room)
            (self.path / "room").unlink()
        except OSError:
            self.remove()
            raise

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def make_shared_directory(candidates: Iterable[Path], room: int) -> SharedDirectory | None:
    """Return a directory in the first parent that has the room, or None."""
    for parent in candidates:
        with contextlib.suppress(OSError):
            return SharedDirectory(parent, room)
    return None


def claim_worker_id(directory: Path) -> int:
    """Claim and return the lowest number that no living process of the directory holds.

    This process holds the number until it ends. The replacement of a killed worker takes over its
    number and the files of that number, so that the directory does not grow when workers die.
    """
    for number in itertools.count():
        file = os.open(directory / f"worker-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
        except OSError:
            os.close(file)
            raise
        else:
            return number  # the descriptor stays open, and the lock with it
    raise AssertionError("numbers do not end")


def reserve(path: Path, size: int) -> None:
    """Extend a file to at least ``size`` bytes, all of them allocated.

    Raises OSError if there is no room. Existing content is not changed.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fill(file, size)
    finally:
        os.close(file)


def fill(file: int, size: int) -> None:
    """Do the same as ``reserve`` for an open file that the caller has not locked."""
    fcntl.flock(file, fcntl.LOCK_EX)  # because two processes may extend it at once
    try:
        size_now = os.fstat(file).st_size
        while size_now < size:  # written, because not every file system supports fallocate
            size_now += os.pwrite(file, bytes(min(size - size_now, _CHUNK)), size_now)
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _remove_abandoned(parent: Path) -> None:
    for directory in (*parent.glob(f"{_PREFIX}*"), *parent.glob(f"{_UNLOCKED_PREFIX}{_PREFIX}*")):
        with contextlib.suppress(OSError):
            # A directory that is being created may not be locked yet. Its lock is not even tried
            # here, because this could make the creator's own attempt fail.
            age_s = time.time() - directory.lstat().st_mtime
            if directory.name.startswith(_UNLOCKED_PREFIX) and age_s < _CREATION_GRACE_S:
                continue
            lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_uid == os.getuid():
                    shutil.rmtree(directory, ignore_errors=True)
            finally:
                os.close(lock)
