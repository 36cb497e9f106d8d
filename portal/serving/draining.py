"""Announces a stop in ``/readyz``, so that proxies send no more requests.

The main process creates a file in the directory that it shares with its workers. While the file
exists, the workers answer ``/readyz`` with 503 and all other requests as before.
"""

from pathlib import Path


class Draining:
    """Announces that the server is about to stop. Does nothing without a shared directory."""

    def __init__(self, shared: Path | None) -> None:
        self._file = shared / "draining" if shared else None

    def begin(self) -> bool:
        """Announce the stop to the workers. Return False if the file cannot be created."""
        if self._file is None:
            return False
        try:
            self._file.touch()
        except OSError:
            return False
        return True

    def has_begun(self) -> bool:
        return self._file is not None and self._file.exists()
