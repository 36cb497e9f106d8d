"""Simulates a failure to start threads with a given name."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock


@contextmanager
def no_thread_named(name: str) -> Iterator[list[str]]:
    """Make the start of threads with this name fail, as on a system out of threads.

    Yields a list of the names of threads that could not start.
    """
    start, refused = threading.Thread.start, []

    def refuse(thread: threading.Thread) -> None:
        if thread.name == name:
            refused.append(thread.name)
            raise RuntimeError("can't start new thread")
        start(thread)

    with mock.patch.object(threading.Thread, "start", refuse):
        yield refused
