"""The interface between the store and its cache backends, SQLite and Redis."""

import secrets
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from portal.gateway.memory import Version

# Each purge of a backend begins a new PURGED generation. When a backend starts without contents, a
# BEGUN generation begins. A process that sees a new BEGUN generation may write entries of its local
# cache back to the backend. A process that sees a new PURGED generation evicts the entries of its
# local cache.
BEGUN: Final = "begun"
PURGED: Final = "purged"
_BUCKETS = 0x10000


def new_generation(cause: str) -> str:
    return f"{cause}:{secrets.token_hex(8)}"


def purge_bucket(key: str) -> int:
    """Return the number of the bucket to which a key's vehicle belongs.

    A bucket is a purge counter that about ten thousand plates share. A counter for each vehicle
    would show for ever which vehicle was purged. If a vehicle is purged while answers for other
    vehicles of its bucket are being fetched, those answers are not stored.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % _BUCKETS


class Held(NamedTuple):
    """The values that a backend stores under some keys of one vehicle.

    ``purge_counter`` consists of the id of the backend's contents and the number of purges in the
    vehicle's bucket. ``replace`` compares ``purge_counter`` with the current counter.
    """

    values: Sequence[bytes | None]
    generation: str
    purge_counter: str


class PurgeState(NamedTuple):
    """The purges that the store knew of before it requested an answer.

    ``counter`` is ``Held.purge_counter``, or None if the backend was unavailable. ``last_purge`` is
    the number of the last purge in the purge log, which is outside the backend.
    """

    counter: str | None
    generation: str | None
    last_purge: int | None


class Stored(NamedTuple):
    """An entry of the backend.

    If the backend now has another ``fence`` for the key, the entry has been replaced since it was
    read.
    """

    key: str
    value: bytes
    fence: int


class StoreSize(NamedTuple):
    """The number of stored entries, and their total size in bytes.

    Both numbers are estimates if other applications also use the backend.
    """

    entries: int
    bytes: int


class Backend(Protocol):
    """A Flask-Caching backend that stores bytes under keys of the form ``tag:name``."""

    def read_many(self, keys: Sequence[str]) -> Held:
        """Return the values of several keys of one tag, all read at the same moment."""
        ...

    def version(self) -> Version | None:
        """Return the version of the backend's contents, or None if the backend has no versions."""
        ...

    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        """Return the first ``size`` bytes of each existing entry, and the backend's generation."""
        ...

    def replace(
        self, key: str, value: bytes, timeout: float, fence: int, purge_counter: str
    ) -> bool:
        """Store a value; return False if an entry with a newer fence exists.

        ``purge_counter`` is compared with the current counter in the same transaction. Raises
        PurgedMeanwhile if there was a purge after ``purge_counter`` was read. Raises CounterLost if
        the backend lost its contents after ``purge_counter`` was read.
        """
        ...

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """Delete all entries of a tag, and return their number.

        The backend stores the ``number`` of the last purge in ``log`` that it has applied. This
        call advances that number by one, from ``number - 1``, and leaves any other as it is. Raises
        BytesRemain if the entries are deleted but their bytes are still on the disk.
        """
        ...

    def purged_to(self, log: str) -> int:
        """Return the number of the last purge in ``log`` that was applied to this backend, or 0."""
        ...

    def set_purged_to(self, log: str, number: int) -> None: ...

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        """Delete the entries of the given purge buckets, or all entries if ``buckets`` is None."""
        ...

    def remove_broken(self) -> Sequence[str]:
        """Delete quarantined corrupt files and return their names."""
        ...

    def retention(self) -> str:
        """Return the text that was last passed to ``set_retention``, or ""."""
        ...

    def set_retention(self, text: str) -> None: ...

    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        """Return a part of the entries, and the cursor at which the next call continues.

        If ``cursor`` is None, the first entries are returned.
        """
        ...

    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        """Make each entry expire at the given earlier time (epoch seconds).

        Entries that were replaced after they were read, or that already expire earlier, are
        skipped.
        """
        ...

    def sweep(self) -> int: ...

    def size(self) -> StoreSize:
        """Return the number of entries and their total size in bytes."""
        ...


class BytesRemain(Exception):
    """The entries of a tag are deleted, but their bytes are still on the disk.

    ``gone`` is the number of deleted entries.
    """

    def __init__(self, gone: int) -> None:
        super().__init__(gone)
        self.gone = gone


class PurgedMeanwhile(Exception):
    """The vehicle was purged after its answer was requested, so the answer is not stored."""


class CounterLost(Exception):
    """The backend has lost its contents, including its purge counters."""


def compare_counters(counter: str, current: str) -> None:
    """Raise an error unless both purge counters are equal.

    Raises CounterLost if the backend lost its contents after ``counter`` was read. Raises
    PurgedMeanwhile if the vehicle's bucket was purged after ``counter`` was read.
    """
    if counter == current:
        return
    if counter.rpartition(":")[0] == current.rpartition(":")[0]:
        raise PurgedMeanwhile
    raise CounterLost
