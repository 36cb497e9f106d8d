"""The interface between the store and its cache backends, SQLite and Redis."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol

READER_KEEPS_BYTES: Final = "a reader kept their bytes in the store's log"

# "outdated": the backend has a newer value. "purged": the vehicle has been purged.
Outcome = Literal["stored", "outdated", "purged"]
# Returns the time (epoch seconds) at which an entry must end at the latest, or None if the entry
# stays as it is.
EndOf = Callable[[str, bytes], float | None]


class Found(NamedTuple):
    """The values under some keys, all read at the same moment.

    The backend has applied every purge up to the number ``purged_to`` of the purge log (a database
    table that numbers all purges). No value is therefore of a vehicle that one of these purges has
    deleted.
    """

    values: Sequence[bytes | None]
    purged_to: int


MOST_COUNTED: Final = 10_000  # entries


class StoreSize(NamedTuple):
    """The number of stored entries, and the size of the store in bytes.

    A number above MOST_COUNTED may be too low, because counting takes longer with each entry.

    In a shared Redis, both numbers include the data of other applications.
    """

    entries: int
    bytes: int


class Backend(Protocol):
    """A Flask-Caching backend that stores bytes under keys of the form ``tag:name``.

    ``tag`` is a keyed hash of a plate or Renavam. A purge calls ``begin_purges``, deletes entries,
    and calls ``end_purges``. ``get`` and ``set`` are those of Flask-Caching. They serve keys that
    belong to no vehicle.
    """

    def get(self, key: str) -> bytes | None: ...

    def set(self, key: str, value: bytes, timeout: int) -> bool | None: ...

    def read_many(self, keys: Sequence[str]) -> Found: ...

    def signatures(self, keys: Sequence[str], size: int) -> dict[str, bytes]:
        """Return the first ``size`` bytes of each entry, which are the entry's signature.

        Keys without an entry are omitted.
        """
        ...

    def replace(self, key: str, value: bytes, timeout: float, fence: int, purge_no: int) -> Outcome:
        """Store a value for ``timeout`` seconds, unless the stored entry has a higher fence.

        ``fence`` is the fencing token of the write (see ``Leases``). ``purge_no`` is the number of
        the last purge that was known before the value was requested. If a later purge of the
        vehicle's bucket has begun, the value is not stored.
        """
        ...

    def begin_purges(self, purges: Mapping[int, int]) -> None:
        """Let ``replace`` reject values that were requested before these purges.

        ``purges`` maps purge buckets to the numbers of their last purges.
        """
        ...

    def count_tagged(self, tags: Collection[str]) -> int:
        """Return the number of the entries of these vehicles' tags."""
        ...

    def delete_tagged(self, tags: Collection[str]) -> int:
        """Delete all entries of these vehicles' tags, and return their number."""
        ...

    def end_purges(self, before: int, number: int) -> None:
        """Set ``Found.purged_to`` to ``number`` if it is ``before``.

        If it is lower, it stays, because this backend must still apply an earlier purge.
        """
        ...

    def review(self, end_of: EndOf, buckets: Collection[int] | None = None) -> Iterator[None]:
        """Apply ``end_of`` to the entries in ``buckets``, or to all entries, in small steps.

        An entry that was replaced since ``end_of`` has seen its value keeps its own end.
        """
        ...

    def erase_deleted(self) -> Sequence[str]:
        """Erase the bytes of deleted entries from the backend's files.

        Also deletes the files that were renamed because they are corrupt, and returns their names.
        Raises BytesRemain if bytes remain on the disk.
        """
        ...

    def sweep(self) -> int:
        """Delete expired entries, and return their number."""
        ...

    def size(self) -> StoreSize: ...


class BytesRemain(Exception):
    """The entries of a vehicle are deleted, but their bytes are still on the disk.

    The text gives the reason.
    """
