"""A folder of one test run: what one of its processes makes for all, such as PDFs."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

_NAME = "TESTS_RUN_FOLDER"  # inherited by the processes of xdist, and by the programs of the tests


def make() -> Callable[[], None]:
    """Make the folder unless a process above has made it. Return what removes it."""
    if _NAME in os.environ:
        return lambda: None
    folder = tempfile.TemporaryDirectory(prefix="tests-", ignore_cleanup_errors=True)
    os.environ[_NAME] = folder.name
    return folder.cleanup


def path() -> Path | None:
    """Return the folder, or None outside of a test run."""
    name = os.environ.get(_NAME)
    return None if name is None else Path(name)
