"""The drain before a stop: proxies learn from ``/readyz`` to send no more requests.

The main process creates a file in the directory that it shares with its workers. A worker whose
file exists answers ``/readyz`` with 503 and everything else as before.
"""

from pathlib import Path


class Draining:
    """Whether the server of this process is about to stop; without a directory, never."""

    def __init__(self, shared: Path | None) -> None:
        self._file = shared / "draining" if shared else None

    def begin(self) -> bool:
        """Signal the drain to the workers; return False if they cannot be told."""
        if self._file is None:
            return False
        try:
            self._file.touch()
        except OSError:
            return False
        return True

    def has_begun(self) -> bool:
        return self._file is not None and self._file.exists()
