"""The interface between the store and its cache backends, SQLite and Redis."""

import secrets
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from portal.gateway.memory import Version

# A backend stores a generation name, such as "purged:0123456789abcdef", and returns it with each
# read. A purge stores a new name that begins with PURGED, and each process that reads this name
# clears its local cache. A backend that starts empty stores a name that begins with BEGUN, and each
# process that reads this name may write its locally cached entries to the backend.
BEGUN: Final = "begun"
PURGED: Final = "purged"
_BUCKETS = 0x10000


def new_generation(cause: str) -> str:
    return f"{cause}:{secrets.token_hex(8)}"


def purge_bucket(key: str) -> int:
    """Return the purge bucket of a key's vehicle: a number from 0 to 65,535.

    The backend counts purges (deletions of a vehicle's entries) by bucket, because a counter for
    each vehicle would permanently show which vehicle was purged. About ten thousand plates share a
    bucket. If an answer for one of them is being fetched during a purge of another, the answer is
    not stored.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % _BUCKETS


class Held(NamedTuple):
    """The values that a backend stores under some keys of one vehicle.

    ``purge_counter`` is the text "id:number". The id is created when the backend starts empty. The
    number increases with each purge in the vehicle's bucket. ``Backend.replace`` raises an
    exception if the text has changed since this read.
    """

    values: Sequence[bytes | None]
    generation: str
    purge_counter: str


class PurgeState(NamedTuple):
    """What the store knew of purges before an answer was requested.

    ``counter`` is ``Held.purge_counter``, or None if the backend was unavailable. ``generation`` is
    ``Held.generation``. The purge log, a database table, numbers all purges. ``last_purge`` is the
    highest number that the process had read from it.
    """

    counter: str | None
    generation: str | None
    last_purge: int | None


class Stored(NamedTuple):
    """An entry as it was read from the backend.

    ``fence`` is the fencing token of the write (see ``Leases``). If the backend has another fence
    under the key now, the entry has been replaced.
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
    """A Flask-Caching backend that stores bytes under keys of the form ``tag:name``.

    ``tag`` is a keyed hash of a plate or Renavam (national vehicle number).
    """

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

        Returns whether the value was stored. The write transaction first compares ``purge_counter``
        with the backend's counter. If they differ, PurgedMeanwhile or CounterLost is raised.
        """
        ...

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """Delete all entries of a tag, and return how many there were.

        ``log`` is the name of the purge log, in which this purge has the ``number``. If
        ``purged_to(log)`` is ``number - 1``, it becomes ``number``. Otherwise it does not change,
        so that the store can still notice a purge that this backend has missed. Raises BytesRemain
        if the entries are deleted but their bytes are still on the disk.
        """
        ...

    def purged_to(self, log: str) -> int:
        """Return up to which number this backend has applied the purges of ``log`` (0: none)."""
        ...

    def set_purged_to(self, log: str, number: int) -> None: ...

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        """Delete the entries of the purge buckets (None: all entries), and return how many."""
        ...

    def remove_broken(self) -> Sequence[str]:
        """Delete the corrupt files that were renamed (quarantined), and return their names."""
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
    """An answer is not stored, because a vehicle in its purge bucket was purged meanwhile."""


class CounterLost(Exception):
    """The backend has lost its contents, including its purge counters."""


def compare_counters(counter: str, current: str) -> None:
    """Raise CounterLost or PurgedMeanwhile unless both purge counters are equal.

    If the ids before the last colon differ, the backend has lost its contents. If only the numbers
    after it differ, the bucket was purged.
    """
    if counter == current:
        return
    if counter.rpartition(":")[0] == current.rpartition(":")[0]:
        raise PurgedMeanwhile
    raise CounterLost
