"""Tells whether the file at a path is still the same file."""

import os
from pathlib import Path


def file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of the file at a path, or None if it cannot be read."""
    try:
        found = os.stat(path)  # noqa: PTH116 runs on every read, twice as fast as Path.stat
    except OSError:
        return None
    return found.st_dev, found.st_ino
