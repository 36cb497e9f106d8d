"""The interface between the store and its backends: generations, marks, buckets."""

import secrets
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from portal.gateway.memory import Version

# A generation is a period in the life of a backend's contents. A new one begins when the backend
# comes up empty (BEGUN) and with every purge (PURGED). After BEGUN a process may write entries of
# its local cache back to the backend; after PURGED it evicts them.
BEGUN: Final = "begun"
PURGED: Final = "purged"
_BUCKETS = 0x10000


def new_generation(cause: str) -> str:
    return f"{cause}:{secrets.token_hex(8)}"


def purge_bucket(key: str) -> int:
    """Return the bucket in which purges of the key's vehicle are counted.

    A purge prevents in-flight answers of its bucket from being stored. A counter for each vehicle
    would identify the vehicle for ever, so about ten thousand plates share a bucket.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % _BUCKETS


class Held(NamedTuple):
    """A backend's values under some keys of one tag, its generation, and the tag's mark.

    ``replace`` compares this mark with the current one.
    """

    values: Sequence[bytes | None]
    generation: str
    mark: str


class Mark(NamedTuple):
    """The store's knowledge of purges, read before an answer is requested.

    ``text`` is the backend's own mark, None if the backend was unavailable. ``purges`` is the
    number of the last purge in the log outside the backend.
    """

    text: str | None
    generation: str | None
    purges: int | None


class Stored(NamedTuple):
    """An entry of the backend.

    The fence shows whether the entry has been replaced since it was read.
    """

    key: str
    value: bytes
    fence: int


class StoreSize(NamedTuple):
    """Entries and bytes; an estimate of both on a backend that others use too."""

    entries: int
    bytes: int


class Backend(Protocol):
    """A Flask-Caching backend for bytes whose keys are ``tag:name``."""

    def read_many(self, keys: Sequence[str]) -> Held:
        """Return the values of keys of one tag, all read at one moment."""
        ...

    def version(self) -> Version | None:
        """Return the version of the contents, or None if the backend has no versions."""
        ...

    def signatures(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        """Return the first ``size`` bytes of each entry that exists, and the generation."""
        ...

    def replace(self, key: str, value: bytes, timeout: float, fence: int, mark: str) -> bool:
        """Store a value; return False if an entry with a newer fence exists.

        The mark is compared atomically with the write. Raises PurgedMeanwhile if there was a purge
        since the mark was read, UnknownMark if the contents were lost since then.
        """
        ...

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """Delete all entries of a tag and return their number.

        Records that purge ``number`` of the purge log ``log`` was applied here, if the purge before
        it was, too. Raises BytesRemain if the entries are deleted but the disk still holds bytes of
        them.
        """
        ...

    def purged_to(self, log: str) -> int:
        """Return the number of the last purge of ``log`` that was applied here, or 0."""
        ...

    def set_purged_to(self, log: str, number: int) -> None: ...

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        """Delete the entries of some purge buckets, or all for None, and return their number."""
        ...

    def remove_broken(self) -> Sequence[str]:
        """Delete quarantined corrupt files and return their names."""
        ...

    def retention(self) -> str:
        """Return the text last given to ``set_retention``, or ""."""
        ...

    def set_retention(self, text: str) -> None: ...

    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        """Return a batch of entries and the next cursor.

        The batch begins at the first entry (cursor None) or after the previous batch.
        """
        ...

    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        """Set earlier expiry times (epoch seconds) on entries.

        An entry is skipped if it was replaced or already expires earlier.
        """
        ...

    def sweep(self) -> int: ...

    def size(self) -> StoreSize:
        """Return the number of entries and the bytes that the backend takes."""
        ...


class BytesRemain(Exception):
    """The entries of a tag are deleted, but the disk still holds bytes of them.

    ``gone`` is the number of entries deleted.
    """

    def __init__(self, gone: int) -> None:
        super().__init__(gone)
        self.gone = gone


class PurgedMeanwhile(Exception):
    """The vehicle was purged after its answer was requested, so the answer is not stored."""


class UnknownMark(Exception):
    """The backend lost the contents that the mark was read from."""


def compare_marks(mark: str, current: str) -> None:
    """Return if the marks are equal, otherwise raise the reason.

    Raises PurgedMeanwhile if both marks are of the same contents, otherwise UnknownMark.
    """
    if mark == current:
        return
    if mark.rpartition(":")[0] == current.rpartition(":")[0]:
        raise PurgedMeanwhile
    raise UnknownMark
