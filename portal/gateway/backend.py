"""The interface between the store and its cache backends, SQLite and Redis."""

import secrets
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from portal.gateway.memory import Version

# A generation is the time from one purge, or from one loss of a backend's contents, to the next. A
# new generation begins when the backend starts without contents (BEGUN) and with every purge
# (PURGED). When a process sees a new BEGUN generation, it may write entries of its local cache back
# to the backend. When it sees a new PURGED generation, it evicts its local entries.
BEGUN: Final = "begun"
PURGED: Final = "purged"
_BUCKETS = 0x10000


def new_generation(cause: str) -> str:
    return f"{cause}:{secrets.token_hex(8)}"


def purge_bucket(key: str) -> int:
    """Return the number of the purge counter for a key's vehicle.

    About ten thousand plates share a counter (a bucket), because a counter for each vehicle would
    show for ever which vehicle was purged. A purge keeps answers for all vehicles of its bucket
    that are being fetched at that moment from being stored.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % _BUCKETS


class Held(NamedTuple):
    """The values that a backend holds under some keys of one vehicle.

    ``purge_counter`` is the id of the backend's contents and the number of purges in the vehicle's
    bucket. ``replace`` compares ``purge_counter`` with the current counter.
    """

    values: Sequence[bytes | None]
    generation: str
    purge_counter: str


class PurgeState(NamedTuple):
    """What the store knew about purges before it requested an answer.

    ``counter`` is the ``purge_counter`` of Held, or None if the backend was unavailable.
    ``last_purge`` is the number of the last purge in the purge log, which is outside the backend.
    """

    counter: str | None
    generation: str | None
    last_purge: int | None


class Stored(NamedTuple):
    """An entry of the backend.

    If the fence has changed, the entry was replaced after it was read.
    """

    key: str
    value: bytes
    fence: int


class StoreSize(NamedTuple):
    """The number of entries and bytes. On a backend that others also use, both are estimates."""

    entries: int
    bytes: int


class Backend(Protocol):
    """A Flask-Caching backend that stores bytes under keys of the form ``tag:name``."""

    def read_many(self, keys: Sequence[str]) -> Held:
        """Return the values of keys with the same tag, read at one moment."""
        ...

    def version(self) -> Version | None:
        """Return the version of the contents, or None if the backend does not number versions."""
        ...

    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        """Return the first ``size`` bytes of each entry that exists, and the generation."""
        ...

    def replace(
        self, key: str, value: bytes, timeout: float, fence: int, purge_counter: str
    ) -> bool:
        """Store a value; return False if an entry with a newer fence exists.

        ``purge_counter`` is compared with the current counter in the same transaction. Raises
        PurgedMeanwhile if there was a purge after ``purge_counter`` was read. Raises CounterLost if
        the backend has lost its contents since then.
        """
        ...

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """Delete all entries of a tag, and return their number.

        If purge ``number - 1`` of the purge log ``log`` was applied to this backend, purge
        ``number`` is recorded as applied too. Raises BytesRemain if the entries are deleted but the
        disk still holds bytes of them.
        """
        ...

    def purged_to(self, log: str) -> int:
        """Return the number of the last purge in ``log`` that was applied here, or 0."""
        ...

    def set_purged_to(self, log: str, number: int) -> None: ...

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        """Delete the entries of some purge buckets, or of all buckets if None is given."""
        ...

    def remove_broken(self) -> Sequence[str]:
        """Delete quarantined corrupt files and return their names."""
        ...

    def retention(self) -> str:
        """Return the text that was last passed to ``set_retention``, or ""."""
        ...

    def set_retention(self, text: str) -> None: ...

    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        """Return some of the entries, and the cursor for the next call.

        If ``cursor`` is None, the first entries are returned.
        """
        ...

    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        """Let entries expire earlier, at the given times (epoch seconds).

        An entry is skipped if it was replaced meanwhile or already expires earlier.
        """
        ...

    def sweep(self) -> int: ...

    def size(self) -> StoreSize:
        """Return the number of entries and the bytes that they take."""
        ...


class BytesRemain(Exception):
    """The entries of a tag are deleted, but the disk still holds bytes of them.

    ``gone`` is the number of deleted entries.
    """

    def __init__(self, gone: int) -> None:
        super().__init__(gone)
        self.gone = gone


class PurgedMeanwhile(Exception):
    """The vehicle was purged after its answer was requested, so the answer is not stored."""


class CounterLost(Exception):
    """The backend has lost its contents, and with them the purge counter."""


def compare_counters(counter: str, current: str) -> None:
    """Raise an error unless both purge counters are equal.

    Raises CounterLost if the backend lost its contents between the reads of both, otherwise
    PurgedMeanwhile.
    """
    if counter == current:
        return
    if counter.rpartition(":")[0] == current.rpartition(":")[0]:
        raise PurgedMeanwhile
    raise CounterLost
