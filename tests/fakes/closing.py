"""Closes resources at the end of the test that opened them.

Otherwise the garbage collector closes them, and Python's ResourceWarning fails another test.
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
    """Close all registered resources, the last one first."""
    _open.close()
