"""Responses in parts: archives, and tables that are too large for memory.

Such a response holds a thread, and a table its temporary file, until the client has taken it.
``SlotLimits.streams`` limits their number. A client that stops reading loses its connection after
``send_timeout.SEND_WITHIN_S``: then Granian's thread wakes, and the response is closed. A client
that reads, but hardly, is ended by ``paced``.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import Any, Final

TAKEN_WITHIN_S: Final = 30.0
PIECE_BYTES: Final = 16 * 1024  # the least that a client must take within TAKEN_WITHIN_S
RETRY_AFTER_S: Final = 5
# A table of up to SPOOLED bytes stays in memory, and needs no slot.
SPOOLED: Final = 1024 * 1024


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
