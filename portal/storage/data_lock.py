"""A lock that shows whether another server uses the data directory."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path


class DataLock:
    """A server's lock on its data directory, held until the server ends.

    ``is_alone`` is true if no other server held the lock when this object was made. Before a call
    of ``share``, the object holds an exclusive lock if ``is_alone`` is true, or else no lock.
    The kernel releases a killed server's lock. Raises OSError if the directory cannot be used.
    """

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(data_dir / "portal.lock", flags, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.is_alone = True
        except OSError:  # another server holds the lock, or the file system has no locks
            self.is_alone = False

    def share(self) -> None:
        """Wait while another server has an exclusive lock. Then hold a shared lock."""
        with suppress(OSError):  # the file system has no locks
            fcntl.flock(self._file, fcntl.LOCK_SH)

    def release(self) -> None:
        os.close(self._file)
