"""The store: answers under keys that only we can compute, on whatever Flask-Caching backs it."""

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from portal.gateway.backend import (
    PURGED,
    Backend,
    BytesRemain,
    Held,
    Mark,
    PurgedMeanwhile,
    UnknownMark,
    purge_bucket,
)
from portal.gateway.backend_breaker import BreakerOpen
from portal.gateway.envelope import SEAL_BYTES, Envelope, Seal
from portal.gateway.lookup import Lookup
from portal.gateway.memory import LocalCache, Version
from portal.gateway.observer import NullObserver, Observer
from portal.gateway.retention import Retention, Shortening
from portal.gateway.unstored import UnstoredQueue
from portal.storage import Purges
from portal.vehicle import Plate, Renavam

FAILURE_SHARED_S = 2
CHECK_EVERY_S: Final = 1.0  # while the backend is down: whether there was a purge

log = logging.getLogger(__name__)


class StoreDown(Exception):
    """The backend could not be asked; what it holds is unknown."""


class Store:
    """Sealed envelopes over a backend, with a small process memory in front.

    The memory is believed for a second, so that a purge elsewhere is seen within that; ``tick``
    confirms what is asked for before its second has passed. While the backend is down the memory
    is all there is. A backend that fails never fails a request.

    ``purged`` is called when a purge is made or noticed: whoever keeps what was made of answers
    lets go of it then. ``purges_since`` reads the log of purges outside the backend: a backend that
    comes back empty has lost its own count, and a process that was stalled may have missed a
    purge before.
    """

    def __init__(
        self,
        backend: Backend,
        seal: Seal,
        memory: LocalCache,
        observer: Observer | None = None,
        clock: Callable[[], float] = time.time,
        purged: Callable[[], object] = lambda: None,
        purges_since: Callable[[int | None], Purges | None] = lambda _: Purges(0, frozenset()),
        retention: Retention | None = None,
        namespace: str = "upstream",
    ) -> None:
        self._backend = backend
        self._seal = seal
        self._memory = memory
        self._observer = observer or NullObserver()
        self._clock = clock
        self._purged = purged
        self._purges_since = purges_since
        self._shortening = Shortening(backend, seal, retention)
        self._namespace = namespace
        self._era: str | None = None
        self._purges: int | None = None
        self._checked_at = 0.0
        self._reflect_at = 0.0  # monotonic: when to compare the contents with the log of purges
        self._log_name = seal.keyed_hash("purge log", 16)
        self._noticing = threading.Lock()
        self._unstored = UnstoredQueue()

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """``tag:name``: the tag tells the plate, the name the whole question, the namespace and,
        in pass-through mode, the credential."""
        question = lookup.question + (f"|{credential}" if credential is not None else "")
        return f"{self.tag(lookup.subject.text)}:{self._name(question)}"

    def newest_report_key(self, subject: Plate | Renavam, credential: str | None) -> str:
        """Where the report written last for a vehicle is found, whatever it was written from."""
        question = f"newest report|{subject.text}" + (f"|{credential}" if credential else "")
        return f"{self.tag(subject.text)}:{self._name(question)}"

    def tag(self, subject: str) -> str:
        """Without the namespace: a purge finds a vehicle's entries of every upstream."""
        return self._seal.keyed_hash(f"subject|{subject}", 24)

    def _name(self, question: str) -> str:
        # No namespace contains a NUL, so no two pairs share a text.
        return self._seal.keyed_hash(f"{self._namespace}\0{question}", 40)

    def read(self, key: str, use_local_cache: bool = True) -> Envelope | None:
        """What is stored under a key. Who waits for another process's answer, or is about to
        pay, does not believe the memory: the answer may be there since a moment."""
        if use_local_cache and (envelope := self._memory.recent(key)) is not None:
            return envelope
        version = self._memory.version  # before the read: what is written meanwhile is of another
        try:
            held = self._read_noticed(key)
        except Exception as error:
            self._fault("read", error)
            self._check_purges()
            kept = self._memory.get_stale(key)
            return kept.envelope if kept else None
        if held.value is None:
            return self._restored(key, held)
        envelope = self._seal.verify(held.value, key)
        if envelope is None:
            return None
        if (newer := self._newer(key, envelope, held)) is not None:
            return newer
        with self._noticing:  # an answer from before a purge never enters the cleared cache
            if self._era == held.era:
                self._memory.put(envelope, held.era, held.value[:SEAL_BYTES], version)
        return envelope

    def recent(self, key: str) -> Envelope | None:
        """What the backend was seen to hold within the last second; never asks it."""
        return self._memory.recent(key)

    def mark(self, key: str) -> Mark:
        """To be read before an answer is asked for, and given to ``write`` with the answer."""
        if self._purges is None and (log_read := self._purges_since(None)) is not None:
            self._purges = log_read.latest
        purges = self._purges  # before the read: a purge noticed in between counts as later
        try:
            held = self._read_noticed(key)
        except Exception as error:
            self._fault("read", error)
            return Mark(None, self._era, purges)
        return Mark(held.mark, held.era, self._purges if purges is None else purges)

    def write(self, envelope: Envelope, fence: int, mark: Mark) -> bool:
        """Keep an answer; False where the backend would not. A newer one is never replaced, and
        an answer whose vehicle was purged since ``mark`` was read is not kept."""
        left_s = envelope.delete_at - self._clock()
        if left_s <= 0:
            return False
        envelope = msgspec.structs.replace(envelope, namespace=self._namespace, fence=fence)
        try:
            sealed = self._seal.sign(envelope)
            newest, mark = self._replace(envelope.key, sealed, left_s, fence, mark)
        except PurgedMeanwhile:
            self._memory.evict(envelope.key)
            return False
        except Exception as error:
            self._fault("write", error)
            self._keep(envelope, None, b"", mark)
            self._unstored.put(envelope, fence, mark)
            return False
        if newest:
            self._keep(envelope, mark.era, sealed[:SEAL_BYTES], mark)
        else:
            self._memory.evict(envelope.key)
        return True

    def copy(self, envelope: Envelope, key: str, fence: int, mark: Mark) -> None:
        """Keep what was read under another key too; ``mark`` was read before it."""
        self.write(msgspec.structs.replace(envelope, key=key), fence, mark)

    def tick(self) -> None:
        """Twice a second: see a purge that another process made, confirm what is held as long as
        nobody writes and otherwise what is asked for, drop what is past retention."""
        self._memory.sweep(self._clock())
        at = self._memory.now()
        version = self._version()  # before the heads: what is written between is of another
        try:
            seals, era = self._backend.heads(self._memory.asked(version), SEAL_BYTES)
            if self._notice(era):
                return
        except Exception as error:
            self._fault("read", error)
            return
        self._memory.confirm(seals, era, at, version)
        self._write_unstored()

    def sweep(self) -> None:
        """Have the backend delete what is past retention, also where that was longer before."""
        try:
            self._backend.sweep()
            self._shortening.step()
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

    def purge(self, subject: str, number: int = 0) -> int:
        """Delete all that is stored of a plate or Renavam; how many answers that were.

        ``number`` is the purge's in the log of purges.
        Raises StoreDown where it cannot, BytesRemain where nobody can read them any more and yet
        the disk holds bytes of them: a second purge takes those.
        """
        self._forget_all()
        try:
            try:
                return self._backend.delete_tagged(self.tag(subject), self._log_name, number)
            finally:
                self._reflect_purges()
        except BytesRemain:
            raise
        except Exception as error:
            raise StoreDown(type(error).__name__) from error

    def remove_broken(self) -> Sequence[str]:
        """Delete what was set aside as corrupt, as no purge finds a vehicle in it; its names.

        Raises StoreDown where it cannot.
        """
        try:
            return self._backend.remove_broken()
        except OSError as error:
            raise StoreDown(type(error).__name__) from error

    def _version(self) -> Version | None:
        try:
            return self._backend.version()
        except Exception as error:
            self._fault("read", error)
            return None

    def _replace(
        self, key: str, sealed: bytes, left_s: float, fence: int, mark: Mark
    ) -> tuple[bool, Mark]:
        """Whether it is the newest, and the mark it was written under."""
        if mark.text is not None:
            try:
                return self._backend.replace(key, sealed, left_s, fence, mark.text), mark
            except UnknownMark:
                pass
        # The backend lost its own count. Read the new mark first: a purge is logged outside, then
        # counted in the backend, so one that the comparison does not see is seen by the write.
        current = self.mark(key)
        since = self._purges_since(mark.purges)
        if current.text is None or since is None:
            raise StoreDown
        if since.buckets is None or purge_bucket(key) in since.buckets:
            raise PurgedMeanwhile
        return self._backend.replace(key, sealed, left_s, fence, current.text), current

    def _keep(self, envelope: Envelope, era: str | None, seal: bytes, mark: Mark) -> None:
        """In the memory, unless a purge was noticed since the mark was read."""
        self._memory.put(envelope, era, seal)
        if self._era != mark.era or self._purges != mark.purges:
            self._memory.evict(envelope.key)

    def _write_unstored(self) -> None:
        """Write what the backend did not take before, as long as it takes it now."""
        for key in self._unstored.waiting():
            taken = self._unstored.take(key)
            if taken is not None:
                self.write(*taken)
                if key in self._unstored.waiting():
                    return

    def _read_noticed(self, key: str) -> Held:
        held = self._backend.read(key)
        if self._notice(held.era):
            held = self._backend.read(key)  # it may have been among the deleted
            self._notice(held.era)
        return held

    def _notice(self, era: str) -> bool:
        """Remember the era. Forget everything after a purge; where the backend came up empty,
        what was purged without this process's notice. Returns whether purged entries had to be
        deleted from the backend."""
        if era == self._era and time.monotonic() < self._reflect_at:
            return False
        with self._noticing:
            if era != self._era:
                self._reflect_at = 0.0
            if time.monotonic() < self._reflect_at:
                return False
            gone = self._reflect_purges()
            if era == self._era:
                self._forget_unnoticed()
                return gone > 0
            last, since = self._era, self._purges_since(self._purges)
            self._purges = since.latest if since is not None else None
            self._era = era  # first: who has read before the purge asks for it after keeping
            if last is None and not self._memory.size_bytes:
                return gone > 0  # the first contact
            if since is None or (last is not None and era.startswith(PURGED)):
                self._forget_all()
            else:
                self._forget_purged(since.buckets)
            return gone > 0

    def _reflect_purges(self) -> int:
        """Compare the backend's contents with the log of purges and delete what came back, for
        example from the snapshot that a killed Redis loads; how many entries were deleted."""
        number = self._backend.purged_to(self._log_name)
        since = self._purges_since(number)
        if since is None:
            self._reflect_at = time.monotonic() + CHECK_EVERY_S
            return 0
        gone = 0
        # A number beyond the log's was set by a portal with a log of its own.
        if number < since.latest:
            gone = self._backend.delete_buckets(since.buckets)
            if gone:
                log.warning("%d purged answers had come back and were deleted", gone)
            self._backend.set_purged_to(self._log_name, since.latest)
        self._reflect_at = math.inf
        return gone

    def _check_purges(self) -> None:
        """While the backend is down: forget what was purged without this process's notice."""
        now = time.monotonic()
        if self._purges is None or now - self._checked_at < CHECK_EVERY_S:
            return
        with self._noticing:
            self._checked_at = now
            self._forget_unnoticed()

    def _forget_unnoticed(self) -> None:
        since = self._purges_since(self._purges)
        if since is not None and since.latest != self._purges:
            self._purges = since.latest
            self._forget_purged(since.buckets)

    def _forget_purged(self, buckets: frozenset[int] | None) -> None:
        if buckets is None:
            self._forget_all()
        elif buckets:
            self._memory.forget_those(lambda key: purge_bucket(key) in buckets)
            self._purged()

    def _forget_all(self) -> None:
        self._memory.clear()
        self._purged()

    def _restored(self, key: str, held: Held) -> Envelope | None:
        """Give back to a backend that came up empty, or that would not take it before, what was
        paid for; what it merely let go of, for age or room, is let go of here too."""
        with self._noticing:  # a purge that is being noticed clears the memory first
            kept = self._memory.get_stale(key)
        if kept is None:
            return None
        if kept.era == held.era:
            self._memory.evict(key)
            return None
        self.write(kept.envelope, kept.envelope.fence, Mark(held.mark, held.era, self._purges))
        return kept.envelope if self._memory.get_stale(key) else None

    def _newer(self, key: str, found: Envelope, held: Held) -> Envelope | None:
        """The local cache's later answer, where the backend lost it and another process restored
        an older one; written back."""
        kept = self._memory.get_stale(key)
        if kept is None or kept.era == held.era or kept.envelope.fence <= found.fence:
            return None
        self.write(kept.envelope, kept.envelope.fence, Mark(held.mark, held.era, self._purges))
        return kept.envelope if self._memory.get_stale(key) else None

    def _fault(self, what: str, error: Exception) -> None:
        self._reflect_at = 0.0  # the backend may come back with older contents
        self._observer.store_failed(what)
        if not isinstance(error, BreakerOpen):  # the fuse has told once for all of them
            # The text of a backend's error may carry a key or an address: its kind is enough.
            log.warning("store %s failed: %s", what, type(error).__name__)
