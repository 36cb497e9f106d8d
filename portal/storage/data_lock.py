"""Which portals use a data directory at the moment."""

import fcntl
import os
from pathlib import Path


class DataLock:
    """Held by a server for its life, beside any other server of the same directory.

    ``is_alone`` says whether no other server held it when this one was made. The kernel releases
    the lock of a killed process. Raises OSError where the directory cannot be used.
    """

    def __init__(self, data_dir: Path) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(data_dir / "portal.lock", flags, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.is_alone = True
        except OSError:  # held, or a file system without locks: then nothing is known
            self.is_alone = False

    def share(self) -> None:
        """Let other servers start: what needed to be alone is done."""
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def release(self) -> None:
        os.close(self._file)
