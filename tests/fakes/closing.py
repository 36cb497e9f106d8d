"""Closes resources at the end of the test that opened them.

Otherwise the garbage collector would close them later, and the ResourceWarning would fail another
test.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import TypeVar

T = TypeVar("T")

_open = ExitStack()


def closed_later(thing: T, close: Callable[[T], object]) -> T:
    """Return ``thing`` and call ``close`` with it at the end of the test."""
    _open.callback(close, thing)
    return thing


def close_all() -> None:
    """Close all registered resources, in reverse order."""
    _open.close()
