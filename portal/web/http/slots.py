"""The slot limiters of a process, by what holds a thread."""

from dataclasses import dataclass
from typing import Self

from portal.web.http.slot_limits import SlotLimiter, SlotLimits
from portal.web.http.streams import FileTurn, TooManyStreams

# Requests of a process that wait for a batch to change. Each holds a thread.
MAX_WAITS = 32
MAX_WAITS_PER_SENDER = 8
# Requests for files of batches that a process checks, or whose files it makes before it responds.
# The others are refused before anything is read, also before their sender is authenticated.
MAX_FILE_REQUESTS = 16
MAX_FILE_REQUESTS_PER_SENDER = 4
# Tables and calendars of batches that a process writes. A large one occupies the processor for
# seconds.
MAX_WRITES = 4
MAX_WRITES_PER_SENDER = 2
# Files to verify that a process reads from the network or keeps in memory.
MAX_FILES = 8
MAX_FILES_PER_SENDER = 4


@dataclass(frozen=True, slots=True)
class Slots:
    """Limits forms, JSON bodies, refused bodies, files of batches, waits and files to verify."""

    forms: SlotLimiter
    json_bodies: SlotLimiter
    refused_bodies: SlotLimiter
    streams: SlotLimiter
    file_requests: SlotLimiter
    table_writes: SlotLimiter
    file_turn: FileTurn
    batch_waits: SlotLimiter
    files: SlotLimiter

    @classmethod
    def of(cls, threads: int) -> Self:
        """Return the slots of a process that has ``threads`` request threads."""
        limits = SlotLimits.of(threads)
        return cls(
            forms=SlotLimiter(*limits.forms),
            json_bodies=SlotLimiter(*limits.json_bodies),
            refused_bodies=SlotLimiter(*limits.refused),
            streams=SlotLimiter(*limits.streams, TooManyStreams),
            file_requests=SlotLimiter(
                MAX_FILE_REQUESTS, MAX_FILE_REQUESTS_PER_SENDER, TooManyStreams
            ),
            file_turn=FileTurn(),
            table_writes=SlotLimiter(MAX_WRITES, MAX_WRITES_PER_SENDER, TooManyStreams),
            batch_waits=SlotLimiter(min(MAX_WAITS, threads // 16), MAX_WAITS_PER_SENDER),
            files=SlotLimiter(min(MAX_FILES, max(1, threads // 16)), MAX_FILES_PER_SENDER),
        )
