"""The store: answers under keys that only we can compute, on whatever Flask-Caching backs it."""

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec

from portal.gateway.envelope import SEAL_BYTES, Envelope, Seal
from portal.gateway.fuse import Blown
from portal.gateway.lookup import Lookup
from portal.gateway.memory import Memory, Version
from portal.gateway.observer import Observer, Silent
from portal.vehicle import Plate, Renavam

FAILURE_SHARED_S = 2
# An era is one stretch of a backend's contents. A new one begins where it came up empty, and
# with every purge; only over the former may a process give back what it remembers.
BEGUN: Final = "begun"
PURGED: Final = "purged"

log = logging.getLogger(__name__)


def new_era(how: str) -> str:
    return f"{how}:{secrets.token_hex(8)}"


class Backend(Protocol):
    """A Flask-Caching backend for bytes whose keys are ``tag:name``."""

    def read(self, key: str) -> tuple[bytes | None, str]:
        """What is held, and the era."""
        ...

    def version(self) -> Version | None:
        """The version of what is held, or None from a backend that cannot tell."""
        ...

    def heads(self, keys: Sequence[str], size: int) -> tuple[dict[str, bytes], str]:
        """The first bytes of whatever is held under these keys, and the era."""
        ...

    def replace(self, key: str, value: bytes, timeout: float, fence: int) -> bool:
        """Keep a value unless one written with a newer fence is held: then False."""
        ...

    def delete(self, key: str) -> bool: ...

    def delete_tagged(self, tag: str) -> int:
        """How many entries are gone; raises BytesRemain where their bytes are not."""
        ...

    def sweep(self) -> int: ...


class StoreDown(Exception):
    """The backend could not be asked; what it holds is unknown."""


class BytesRemain(Exception):
    """The entries of a tag are gone, ``gone`` of them; the disk still holds bytes of theirs."""

    def __init__(self, gone: int) -> None:
        super().__init__(gone)
        self.gone = gone


class Store:
    """Sealed envelopes over a backend, with a small process memory in front.

    The memory is believed for a second, so that a purge elsewhere is seen within that; ``tick``
    confirms what is asked for before its second has passed. While the backend is down the memory
    is all there is. A backend that fails never fails a request.

    ``purged`` is called when a purge is made or noticed: whoever keeps what was made of answers
    lets go of it then.
    """

    def __init__(
        self,
        backend: Backend,
        seal: Seal,
        memory: Memory,
        observer: Observer | None = None,
        clock: Callable[[], float] = time.time,
        purged: Callable[[], object] = lambda: None,
    ) -> None:
        self._backend = backend
        self._seal = seal
        self._memory = memory
        self._observer = observer or Silent()
        self._clock = clock
        self._purged = purged
        self._era: str | None = None
        self.purges = 0  # made or noticed by this process

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """``tag:name``: the tag tells the plate, the name the whole question and, in pass-through
        mode, the credential."""
        question = lookup.question + (f"|{credential}" if credential is not None else "")
        return f"{self.tag(lookup.subject.text)}:{self._seal.name(question, 40)}"

    def newest_report_key(self, subject: Plate | Renavam, credential: str | None) -> str:
        """Where the report written last for a vehicle is found, whatever it was written from."""
        question = f"newest report|{subject.text}" + (f"|{credential}" if credential else "")
        return f"{self.tag(subject.text)}:{self._seal.name(question, 40)}"

    def tag(self, subject: str) -> str:
        return self._seal.name(f"subject|{subject}", 24)

    def read(self, key: str, believe_memory: bool = True) -> Envelope | None:
        """What is stored under a key. Who waits for another process's answer, or is about to
        pay, does not believe the memory: the answer may be there since a moment."""
        if believe_memory and (envelope := self._memory.recent(key)) is not None:
            return envelope
        version = self._memory.version  # before the read: what is written meanwhile is of another
        try:
            sealed, era = self._backend.read(key)
        except Exception as error:
            self._fault("read", error)
            kept = self._memory.any(key)
            return kept.envelope if kept else None
        last_era = self._notice(era)
        envelope = self._seal.open(sealed, key)
        if sealed is not None and envelope is not None:
            self._memory.keep(envelope, era, sealed[:SEAL_BYTES], version)
            if self._era != era:  # a purge was noticed meanwhile: this was read before it
                self._memory.forget(key)
            return envelope
        return self._restored(key, era, last_era) if sealed is None else None

    def recent(self, key: str) -> Envelope | None:
        """What the backend was seen to hold within the last second; never asks it."""
        return self._memory.recent(key)

    def write(self, envelope: Envelope, fence: int) -> bool:
        """Keep an answer; False where the backend would not. A newer one is never replaced."""
        left_s = envelope.delete_at - self._clock()
        if left_s <= 0:
            return False
        self._memory.keep(envelope, None)
        try:
            sealed = self._seal.close(envelope)
            newest = self._backend.replace(envelope.key, sealed, left_s, fence)
        except Exception as error:
            self._fault("write", error)
            return False
        if newest:
            self._memory.keep(envelope, self._era, sealed[:SEAL_BYTES])
        else:
            self._memory.forget(envelope.key)
        return True

    def copy(self, envelope: Envelope, key: str, fence: int, purges: int) -> None:
        """Keep what was read under another key too; but not where there was a purge since
        ``purges`` was counted: it may have been of this vehicle."""
        self.write(msgspec.structs.replace(envelope, key=key), fence)
        try:
            self._notice(self._backend.read(key)[1])
            if self.purges != purges:
                self._memory.forget(key)
                self._backend.delete(key)
        except Exception as error:
            self._fault("write", error)

    def tick(self) -> None:
        """Twice a second: see a purge that another process made, confirm what is held as long as
        nobody writes and otherwise what is asked for, drop what is past retention."""
        self._memory.sweep(self._clock())
        at = self._memory.now()
        version = self._version()  # before the heads: what is written between is of another
        try:
            seals, era = self._backend.heads(self._memory.asked(version), SEAL_BYTES)
        except Exception as error:
            self._fault("read", error)
            return
        self._notice(era)
        self._memory.confirm(seals, era, at, version)

    def sweep(self) -> None:
        """Have the backend delete what is past retention."""
        try:
            self._backend.sweep()
        except Exception as error:
            self._fault("sweep", error)

    def is_up(self) -> bool:
        """Whether stored answers can be served: the backend answers, or the memory holds some."""
        try:
            self._backend.read("ready:probe")
        except Exception as error:
            self._fault("read", error)
            return self._memory.size_bytes > 0
        return True

    def purge(self, subject: str) -> int:
        """Delete all that is stored of a plate or Renavam; how many answers that were.

        Raises StoreDown where it cannot, BytesRemain where nobody can read them any more and yet
        the disk holds bytes of them: a second purge takes those.
        """
        self._forget_all()
        try:
            return self._backend.delete_tagged(self.tag(subject))
        except BytesRemain:
            raise
        except Exception as error:
            raise StoreDown(type(error).__name__) from error

    def _version(self) -> Version | None:
        try:
            return self._backend.version()
        except Exception as error:
            self._fault("read", error)
            return None

    def _notice(self, era: str) -> str | None:
        """Remember the era; after a purge forget everything. Returns the era known before."""
        last = self._era
        if era != last:
            self._era = era  # first: who has read before the purge asks for it after keeping
            if last is not None and era.startswith(PURGED):
                self._forget_all()
        return last

    def _forget_all(self) -> None:
        self.purges += 1
        self._memory.clear()
        self._purged()

    def _restored(self, key: str, era: str, last_era: str | None) -> Envelope | None:
        """Give back to a backend that came up empty, or that would not take it before, what was
        paid for; what it merely let go of, for age or room, is let go of here too."""
        kept = self._memory.any(key)
        if kept is None:
            return None
        came_up_empty = era.startswith(BEGUN) and kept.era not in (None, era)
        never_took_it = kept.era is None and (era.startswith(BEGUN) or era == last_era)
        if not (came_up_empty or never_took_it):
            self._memory.forget(key)
            return None
        self.write(kept.envelope, fence=0)
        return kept.envelope

    def _fault(self, what: str, error: Exception) -> None:
        self._observer.store_failed(what)
        if not isinstance(error, Blown):  # the fuse has told once for all of them
            # The text of a backend's error may carry a key or an address: its kind is enough.
            log.warning("store %s failed: %s", what, type(error).__name__)
