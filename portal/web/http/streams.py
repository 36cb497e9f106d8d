"""Files that take long: archives, and tables that are too large for memory.

Such a response holds a thread, and a table its temporary file, until the client has taken it.
``SlotLimits.streams`` limits their number. A client that stops reading loses its connection after
``send_timeout.SEND_WITHIN_S``: then Granian's thread wakes, and the response is closed. A client
that reads, but hardly, is ended by ``paced``.

Such a file also occupies the processor, and with it Python's interpreter lock, for seconds. One
thread of a worker at a time works on files, for SLICE_S at a time (``FileTurn``): another request
then waits for one thread, and not for as many as there are files.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from tempfile import SpooledTemporaryFile
from typing import Any, Final, TypeVar

T = TypeVar("T")

TAKEN_WITHIN_S: Final = 30.0
PIECE_BYTES: Final = 16 * 1024  # the least that a client must take within TAKEN_WITHIN_S
RETRY_AFTER_S: Final = 5
# A table of up to SPOOLED bytes stays in memory, and needs no slot.
SPOOLED: Final = 1024 * 1024
# Shorter than the 5 ms after which Python takes the interpreter lock from a thread that computes.
SLICE_S: Final = 0.002
PAUSE_S: Final = 0.001


class TooManyStreams(Exception):
    """The worker, or the sender, has as many long responses as are allowed at a time."""


class ClientTooSlow(Exception):
    """The client took less than PIECE_BYTES within TAKEN_WITHIN_S. The server cuts the response."""


class Spool(SpooledTemporaryFile[bytes]):
    """A file of up to SPOOLED bytes in memory. Calls ``before_disk`` before it gets larger."""

    def __init__(self, before_disk: Callable[[], object]) -> None:
        super().__init__(max_size=SPOOLED)
        self._before_disk = before_disk
        self.most_in_memory = SPOOLED

    def rollover(self) -> None:
        self._before_disk()
        super().rollover()


class FileTurn:
    """Lets one thread at a time work on a file.

    Between two slices a thread sleeps for PAUSE_S, so that threads of short requests get to run.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for the turn, for work that cannot be divided."""
        with self._lock:
            yield

    def sliced(self, rows: Iterable[T]) -> Generator[T, None, None]:
        """Yield the rows. The turn is held while a row is made and used, in slices.

        The caller closes the generator, also after an error.
        """
        with self._lock:
            began = self._clock()
            for row in rows:
                yield row
                if self._clock() - began > SLICE_S:
                    self._lock.release()
                    try:
                        self._sleep(PAUSE_S)
                    finally:
                        self._lock.acquire()
                    began = self._clock()


def chunks(file: Any) -> Iterator[bytes]:
    while chunk := file.read(4 * PIECE_BYTES):
        yield chunk


def paced(
    parts: Iterable[bytes], monotonic: Callable[[], float] = time.monotonic
) -> Iterator[bytes]:
    """Yield the parts in pieces. Raises ClientTooSlow if a piece is not taken in time.

    The time is what the server needs from one piece to the next. The time that ``parts`` needs, for
    example to render a PDF, does not count.
    """
    for part in parts:
        for at in range(0, len(part), PIECE_BYTES):
            given_at = monotonic()
            yield part[at : at + PIECE_BYTES]
            if monotonic() - given_at > TAKEN_WITHIN_S:
                raise ClientTooSlow
