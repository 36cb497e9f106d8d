"""The directory through which the worker processes of one server share numbers.

What lives there is mapped into memory, and the system ends a process that writes into a mapped
file for which the disk has no room (SIGBUS). So it lies in memory where there is any, never on
the data's disk, and every file takes its room before it is mapped.
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

_NAMED = "dossie-veicular-"
_UNDER_WAY = "new-"  # until it is locked
_MAKING_TAKES_S = 60.0  # far longer than from making one to locking it
_CHUNK = 1024 * 1024


def candidate_parents() -> Iterator[Path]:
    """Where such a directory may lie, the best first; /dev/shm is memory on Linux.

    The next is looked for only when the one before refused: a container whose root is read-only
    has no temporary directory, and needs none.
    """
    yield Path("/dev/shm")  # noqa: S108 mkdtemp makes it ours
    try:
        temporary = Path(tempfile.gettempdir())
    except FileNotFoundError:  # none is writable
        return
    yield temporary


class SharedDirectory:
    """An empty directory with ``room`` bytes for its files, gone with ``remove``.

    Raises OSError where the home has no such room. It is locked while this process or one
    forked from it lives: so the next start knows what a killed one has left, and removes it,
    and portals beside each other never meet.
    """

    def __init__(self, home: Path, room: int) -> None:
        _remove_what_nobody_holds(home)
        # Locked before it has the name by which it would be found and taken for a left one.
        self.path = Path(tempfile.mkdtemp(prefix=f"{_UNDER_WAY}{_NAMED}", dir=home))
        self._lock: int | None = None
        try:
            self._lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.path = self.path.rename(home / self.path.name.removeprefix(_UNDER_WAY))
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
    """A directory in the first home that has the room; None where none has."""
    for home in candidates:
        with contextlib.suppress(OSError):
            return SharedDirectory(home, room)
    return None


def claim_worker_id(directory: Path) -> int:
    """The lowest number that no living process of the directory holds.

    It is this process's until it ends: whoever replaces a killed one takes its number over, and
    with it the files of that number, so however many die the room does not grow.
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
    """Let a file have at least ``size`` bytes, all of them really there, or raise OSError.

    What it holds already is not touched.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fill(file, size)
    finally:
        os.close(file)


def fill(file: int, size: int) -> None:
    """``reserve`` for a file that is open; it must not be locked by the caller."""
    fcntl.flock(file, fcntl.LOCK_EX)  # two processes may find it short at once
    try:
        held = os.fstat(file).st_size
        while held < size:  # written, not fallocated: that is nowhere near everywhere
            held += os.pwrite(file, bytes(min(size - held, _CHUNK)), held)
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _remove_what_nobody_holds(home: Path) -> None:
    for left in (*home.glob(f"{_NAMED}*"), *home.glob(f"{_UNDER_WAY}{_NAMED}*")):
        with contextlib.suppress(OSError):
            # One that is being made has no lock yet, and its maker must get it: not even tried.
            age_s = time.time() - left.lstat().st_mtime
            if left.name.startswith(_UNDER_WAY) and age_s < _MAKING_TAKES_S:
                continue
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_uid == os.getuid():
                    shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)
