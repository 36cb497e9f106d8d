"""What a test opens by the way is closed when the test ends.

What is left to the collector instead, Python complains of in the midst of another test.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

T = TypeVar("T")

_open = ExitStack()


def closed_later(thing: T, close: Callable[[T], object]) -> T:
    """The thing itself; ``close`` is called with it when the test has ended."""
    _open.callback(close, thing)
    return thing


def close_all() -> None:
    """The last opened first."""
    _open.close()
