"""The children that render and read PDFs, forked from an interpreter that has their libraries.

Their imports take most of a second of processor time for each file that is read, and for each
portal that renders one.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from portal.pdf import child
from tests.fakes.preloaded import PreloadedProcess

_executed = child._launch


def install() -> None:
    """Fork the children of this process from now on."""
    child._launch = _forked  # type: ignore[assignment]


@contextmanager
def executed() -> Iterator[None]:
    """Execute the children as new programs, as the portal does."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(child, "_launch", _executed)
        yield


def _forked(program: str, descriptor: int) -> PreloadedProcess:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")
    }
    with Path(os.devnull).open("wb") as nothing:
        return PreloadedProcess(
            ["-c", program], environment, nothing, nothing, kind="pdf", inherited=[descriptor]
        )
