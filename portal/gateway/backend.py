"""The interface between the store and its cache backends, SQLite and Redis."""

import secrets
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from portal.gateway.local_cache import Version

# A backend stores a generation name, such as "purged:0123456789abcdef", and returns the name with
# each read. A purge (deletion of a vehicle's entries) stores a new name that begins with PURGED.
# Processes that read the new name clear their local caches. An empty backend starts with a name
# that begins with BEGUN. If a process reads a new name that begins with BEGUN, the backend has lost
# its contents, and the process may write entries from its local cache back to the backend.
BEGUN: Final = "begun"
PURGED: Final = "purged"
BUCKETS: Final = 0x10000
READER_KEEPS_BYTES: Final = "a reader kept their bytes in the store's log"


def new_generation(cause: str) -> str:
    return f"{cause}:{secrets.token_hex(8)}"


def purge_bucket(key: str) -> int:
    """Return the purge bucket of a key's vehicle: a number from 0 to 65,535.

    The backend counts purges by bucket, because a counter for each vehicle would permanently show
    which vehicle was purged. About ten thousand plates share a bucket. If a plate is purged during
    an upstream call for another plate in its bucket, the answer for that other plate is not stored.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % BUCKETS


class Held(NamedTuple):
    """The values that a backend stores under some keys of one vehicle.

    ``purge_counter`` is the text "id:number". The id identifies the backend's contents. A backend
    that starts empty creates a new id. The number increases with each purge in the vehicle's purge
    bucket. ``Backend.replace`` raises an exception if the counter has changed since the values were
    read.
    """

    values: Sequence[bytes | None]
    generation: str
    purge_counter: str


class PurgeState(NamedTuple):
    """What a process knew about purges before it requested an answer.

    ``counter`` is ``Held.purge_counter``, or None if the backend was unavailable. ``generation`` is
    the last known ``Held.generation``, or None before the first read. ``last_purge`` is the highest
    number in the purge log (a database table that numbers all purges) that the process knew, or
    None if it had not read the log.
    """

    counter: str | None
    generation: str | None
    last_purge: int | None


class Stored(NamedTuple):
    """An entry as it was read from the backend.

    ``fence`` is the fencing token with which the entry was written (see ``Leases``). If the backend
    now has another fence under ``key``, the entry has been replaced.
    """

    key: str
    value: bytes
    fence: int


class StoreSize(NamedTuple):
    """The number of stored entries, and the size of the store in bytes.

    In a shared Redis, both numbers include the data of other applications.
    """

    entries: int
    bytes: int


class Backend(Protocol):
    """A Flask-Caching backend that stores bytes under keys of the form ``tag:name``.

    ``tag`` is a keyed hash of a plate or Renavam (national vehicle number).
    """

    def read_many(self, keys: Sequence[str]) -> Held:
        """Return the values of several keys of one vehicle, all read at the same moment."""
        ...

    def version(self) -> Version | None:
        """Return the version of the contents, or None if the backend does not number versions."""
        ...

    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        """Return the first ``size`` bytes of each entry, and the generation name.

        An entry begins with its signature. Each purge changes the generation name. Keys without an
        entry are omitted.
        """
        ...

    def replace(
        self, key: str, value: bytes, timeout: float, fence: int, purge_counter: str
    ) -> bool:
        """Store a value for ``timeout`` seconds, unless the stored entry has a higher fence.

        ``fence`` is the fencing token of the write (see ``Leases``). Returns whether the value was
        stored. Raises PurgedMeanwhile or CounterLost if ``purge_counter`` differs from the
        backend's present counter.
        """
        ...

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """Delete all entries of a vehicle's tag, and return their number.

        ``log`` is the name of a purge log (a database table that numbers all purges). ``number`` is
        this purge's number in the log, or 0 if the purge could not be logged. If ``purged_to(log)``
        is ``number - 1``, this method sets ``purged_to(log)`` to ``number``. If ``purged_to(log)``
        is lower, it stays, because this backend must still apply an earlier purge.

        """
        ...

    def erase_deleted(self) -> None:
        """Erase the bytes of deleted entries from the backend's files.

        Raises BytesRemain if bytes remain on the disk.
        """
        ...

    def purged_to(self, log: str) -> int:
        """Return the number up to which this backend has applied the purges of ``log``.

        Returns 0 if the backend has applied no purge of ``log``.
        """
        ...

    def set_purged_to(self, log: str, number: int) -> None: ...

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        """Delete the entries in some purge buckets, or all entries if ``buckets`` is None.

        Returns the number of deleted entries. The answers of lookups under way in these
        buckets are not stored: ``replace`` raises PurgedMeanwhile, or CounterLost without buckets.
        """
        ...

    def remove_broken(self) -> Sequence[str]:
        """Delete the files renamed because they are corrupt, and return their names."""
        ...

    def retention(self) -> str:
        """Return the text that was last passed to ``set_retention``, or "" if none was passed."""
        ...

    def set_retention(self, text: str) -> None: ...

    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        """Return some entries, beginning at ``cursor``, and the next cursor.

        If ``cursor`` is None, the scan begins at the first entry. The next cursor is None after the
        last entry.
        """
        ...

    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        """Make each entry expire at the time that ``ends`` gives (epoch seconds).

        Skips entries that were replaced after ``scan`` had returned them, and entries that already
        expire earlier.
        """
        ...

    def sweep(self) -> int: ...

    def size(self) -> StoreSize: ...


class BytesRemain(Exception):
    """The entries of a vehicle are deleted, but their bytes are still on the disk.

    The text gives the reason.
    """


class PurgedMeanwhile(Exception):
    """The value was not stored, because a vehicle in the same purge bucket has been purged."""


class CounterLost(Exception):
    """The backend has lost its contents, including its purge counters."""


def compare_counters(counter: str, current: str) -> None:
    """Raise CounterLost or PurgedMeanwhile if the two purge counters differ.

    A purge counter has the form "id:number". If the ids differ, the backend has lost its contents,
    because new contents get a new id. If only the numbers differ, a vehicle in the bucket was
    purged.
    """
    if counter == current:
        return
    if counter.rpartition(":")[0] == current.rpartition(":")[0]:
        raise PurgedMeanwhile
    raise CounterLost
