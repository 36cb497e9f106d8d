"""The interface between the store and its cache backends, SQLite and Redis."""

import secrets
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from portal.gateway.memory import Version

# A backend stores the name of its present generation. A purge begins a PURGED generation. A process
# that sees a new PURGED generation clears its local cache. A backend that starts empty begins a
# BEGUN generation. A process that sees a new BEGUN generation may write its cached entries back.
BEGUN: Final = "begun"
PURGED: Final = "purged"
_BUCKETS = 0x10000


def new_generation(cause: str) -> str:
    return f"{cause}:{secrets.token_hex(8)}"


def purge_bucket(key: str) -> int:
    """Return the purge bucket of a key's vehicle: a number from 0 to 65,535.

    Purges are counted by bucket, because a counter for each vehicle would show for ever which
    vehicle was purged. About ten thousand plates share a bucket. A purge also prevents the storing
    of answers that are just being fetched for other vehicles of the bucket.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % _BUCKETS


class Held(NamedTuple):
    """The values that a backend stores under some keys of one vehicle.

    ``purge_counter`` consists of the id of the backend's contents and the number of purges in the
    vehicle's bucket. ``replace`` rejects a value if the counter has changed since this read.
    """

    values: Sequence[bytes | None]
    generation: str
    purge_counter: str


class PurgeState(NamedTuple):
    """What the store knew of purges before an answer was requested.

    ``counter`` is ``Held.purge_counter``, or None if the backend was unavailable. ``last_purge`` is
    the number of the last known purge in the purge log, which is in the database.
    """

    counter: str | None
    generation: str | None
    last_purge: int | None


class Stored(NamedTuple):
    """An entry as it was read from the backend.

    The entry has been replaced if its ``fence`` in the backend now differs.
    """

    key: str
    value: bytes
    fence: int


class StoreSize(NamedTuple):
    """The number of stored entries, and their total size in bytes.

    In a shared Redis, both numbers include the data of other applications.
    """

    entries: int
    bytes: int


class Backend(Protocol):
    """A Flask-Caching backend that stores bytes under keys of the form ``tag:name``."""

    def read_many(self, keys: Sequence[str]) -> Held:
        """Return the values of several keys of one tag, all read at the same moment."""
        ...

    def version(self) -> Version | None:
        """Return the version of the contents, or None if the backend does not number versions."""
        ...

    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        """Return the first ``size`` bytes of each existing entry, and the backend's generation."""
        ...

    def replace(
        self, key: str, value: bytes, timeout: float, fence: int, purge_counter: str
    ) -> bool:
        """Store a value for ``timeout`` seconds, unless an entry with a higher fence exists.

        Returns whether the value was stored. The same transaction compares ``purge_counter`` with
        the backend's counter, and raises PurgedMeanwhile or CounterLost if they differ.
        """
        ...

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """Delete all entries of a tag, and return how many there were.

        The purge has the given ``number`` in the purge log ``log``. If ``purged_to(log)`` is
        ``number - 1``, it becomes ``number``. Otherwise it does not change, so that the store can
        still notice a purge that this backend has missed. Raises BytesRemain if the entries are
        deleted but their bytes are still on the disk.
        """
        ...

    def purged_to(self, log: str) -> int:
        """Return the number of the last purge in ``log`` that was applied to this backend, or 0."""
        ...

    def set_purged_to(self, log: str, number: int) -> None: ...

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        """Delete the entries of the purge buckets (None: all entries), and return how many."""
        ...

    def remove_broken(self) -> Sequence[str]:
        """Delete quarantined corrupt files and return their names."""
        ...

    def retention(self) -> str:
        """Return the text that was last passed to ``set_retention``, or ""."""
        ...

    def set_retention(self, text: str) -> None: ...

    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        """Return some entries from ``cursor`` on (None: from the first), and the next cursor.

        The next cursor is None after the last entry.
        """
        ...

    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        """Make each entry expire at the given earlier time (epoch seconds).

        Skips entries that were replaced since they were read, or that already expire earlier.
        """
        ...

    def sweep(self) -> int: ...

    def size(self) -> StoreSize: ...


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
    """Raise CounterLost or PurgedMeanwhile unless both purge counters are equal.

    The part of a counter before the last colon identifies the backend's contents.
    """
    if counter == current:
        return
    if counter.rpartition(":")[0] == current.rpartition(":")[0]:
        raise PurgedMeanwhile
    raise CounterLost
