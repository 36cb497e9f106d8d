"""What the store asks of a backend, and the words they share: eras, marks, buckets."""

import secrets
import zlib
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from portal.gateway.memory import Version

# An era is one stretch of a backend's contents. A new one begins where it came up empty, and
# with every purge; only over the former may a process give back what it remembers.
BEGUN: Final = "begun"
PURGED: Final = "purged"
_BUCKETS = 0x10000


def new_era(how: str) -> str:
    return f"{how}:{secrets.token_hex(8)}"


def purge_bucket(key: str) -> int:
    """The bucket in which purges of a key's vehicle are counted.

    A count for each vehicle would name it for ever; some ten thousand plates share a bucket. A
    purge keeps the answers that are under way for its bucket from being stored.
    """
    return zlib.crc32(key.partition(":")[0].encode()) % _BUCKETS


class Held(NamedTuple):
    """What a backend holds under a key, the era, and the mark that a write is compared with."""

    value: bytes | None
    era: str
    mark: str


class Mark(NamedTuple):
    """What the store knew of purges before an answer was asked for.

    ``text`` is the backend's own mark, None where it could not be asked; ``purges`` is the number
    of the last purge in the log outside the backend.
    """

    text: str | None
    era: str | None
    purges: int | None


class Stored(NamedTuple):
    """An entry as it is held; its fence tells whether it was replaced meanwhile."""

    key: str
    value: bytes
    fence: int


class Backend(Protocol):
    """A Flask-Caching backend for bytes whose keys are ``tag:name``."""

    def read(self, key: str) -> Held: ...

    def version(self) -> Version | None:
        """The version of what is held, or None from a backend that cannot tell."""
        ...

    def heads(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        """The first bytes of whatever is held under these keys, and the era."""
        ...

    def replace(self, key: str, value: bytes, timeout: float, fence: int, mark: str) -> bool:
        """Keep a value unless one written with a newer fence is held: then False.

        Raises PurgedMeanwhile where there was a purge since the mark was read, UnknownMark where
        the mark is of other contents; compared in the same step as the write.
        """
        ...

    def delete_tagged(self, tag: str, log: str = "", number: int = 0) -> int:
        """How many entries are gone; raises BytesRemain where their bytes are not.

        From then on the contents reflect purge ``number`` of the log, if they reflected the one
        before it.
        """
        ...

    def purged_to(self, log: str) -> int:
        """The number of the last purge that the contents reflect, of a log of purges; 0 if none."""
        ...

    def set_purged_to(self, log: str, number: int) -> None: ...

    def delete_buckets(self, buckets: frozenset[int] | None) -> int:
        """Delete the entries of these purge buckets, None: all of them; how many there were."""
        ...

    def remove_broken(self) -> Sequence[str]:
        """Delete what was set aside as corrupt; the names of what was deleted."""
        ...

    def retention(self) -> str:
        """The text last given to ``set_retention``, or an empty one."""
        ...

    def set_retention(self, text: str) -> None: ...

    def scan(self, cursor: int | None) -> tuple[Sequence[Stored], int | None]:
        """Some entries, from the first (None) or after those before, and the next cursor."""
        ...

    def shorten(self, ends: Sequence[tuple[Stored, float]]) -> None:
        """Let entries end at these times (epoch seconds), if they end later and are the same."""
        ...

    def sweep(self) -> int: ...


class BytesRemain(Exception):
    """The entries of a tag are gone, ``gone`` of them; the disk still holds bytes of theirs."""

    def __init__(self, gone: int) -> None:
        super().__init__(gone)
        self.gone = gone


class PurgedMeanwhile(Exception):
    """The vehicle was purged since the answer was asked for: it is not stored."""


class UnknownMark(Exception):
    """The mark was read from other contents than the backend's present ones."""


def compare_marks(mark: str, current: str) -> None:
    """Raise what it means that a write's mark is not the current one; return where it is."""
    if mark == current:
        return
    if mark.rpartition(":")[0] == current.rpartition(":")[0]:
        raise PurgedMeanwhile
    raise UnknownMark
