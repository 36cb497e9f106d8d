"""Creates a directory of files in which a server's processes share metrics and other numbers.

The files are mapped into memory. On a full disk, a write into a mapped file without allocated
blocks ends the process (SIGBUS). Every file is therefore allocated before it is mapped. The
directory is in a memory file system, if possible.
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
_UNLOCKED_PREFIX = "new-"  # precedes _PREFIX until the directory is locked
_CREATION_GRACE_S = 60.0  # a "new-" directory younger than this is not removed
_CHUNK = 1024 * 1024


def candidate_parents() -> Iterator[Path]:
    """Yield directories in which a shared directory can be created, the best first.

    On Linux /dev/shm is a memory file system.
    """
    yield Path("/dev/shm")  # noqa: S108 mkdtemp creates a private directory
    try:
        temporary = Path(tempfile.gettempdir())
    except FileNotFoundError:  # no directory is writable, as in a container with a read-only root
        return
    yield temporary


class SharedDirectory:
    """A new directory, in a file system with ``room`` free bytes for its files.

    The directory is locked while this process or a forked child lives. At startup, a server removes
    all unlocked shared directories, because they are remains of killed servers. Raises OSError if
    ``parent`` does not exist or has fewer than ``room`` free bytes.
    """

    def __init__(self, parent: Path, room: int) -> None:
        _remove_abandoned(parent)
        # Lock the directory before it gets its final name. Otherwise another server that starts at
        # this moment could remove the unlocked directory.
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
    """Create a directory in the first candidate with enough room, or return None."""
    for parent in candidates:
        with contextlib.suppress(OSError):
            return SharedDirectory(parent, room)
    return None


def claim_worker_id(directory: Path) -> int:
    """Claim the lowest number that no living process has claimed, and return it.

    The claim ends when this process ends. A worker that replaces a killed worker therefore gets the
    same number and uses the same files.
    """
    for number in itertools.count():
        file = os.open(directory / f"worker-{number}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return number  # the descriptor stays open, because closing it would release the lock
        except OSError as error:
            os.close(file)
            if not isinstance(error, BlockingIOError):
                raise
    raise AssertionError("numbers do not end")


def reserve(path: Path, size: int) -> None:
    """Extend a file to at least ``size`` bytes, and allocate the new bytes on the disk.

    Raises OSError if the disk is full.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fill(file, size)
    finally:
        os.close(file)


def fill(file: int, size: int) -> None:
    """Extend an open file to at least ``size`` bytes, and allocate the new bytes.

    The caller must not hold an flock(2) on ``file``, because this function releases that lock.
    """
    fcntl.flock(file, fcntl.LOCK_EX)  # another process may be extending the file
    try:
        size_now = os.fstat(file).st_size
        while size_now < size:  # write zeros, because not every file system supports fallocate
            size_now += os.pwrite(file, bytes(min(size - size_now, _CHUNK)), size_now)
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _remove_abandoned(parent: Path) -> None:
    for directory in (*parent.glob(f"{_PREFIX}*"), *parent.glob(f"{_UNLOCKED_PREFIX}{_PREFIX}*")):
        with contextlib.suppress(OSError):
            # Skip a new directory, because its creator may be about to lock it. If this process
            # held the lock at that moment, the creator could not lock the directory.
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
