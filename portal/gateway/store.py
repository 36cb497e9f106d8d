"""Stores signed answers in a Flask-Caching backend, under keys that reveal no plate."""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

import msgspec

from portal.gateway.backend import Backend, BytesRemain, StoreSize
from portal.gateway.envelope import SEAL_BYTES, Envelope, Seal, longest_s
from portal.gateway.local_cache import LocalCache
from portal.gateway.lookup import Lookup, Observer
from portal.gateway.operations import CachePolicy
from portal.storage.purge_log import PurgeClock, purge_bucket
from portal.system.dependency_breaker import BreakerOpen
from portal.vehicle.operation_name import OperationName
from portal.vehicle.plate import Plate, Renavam

FAILURE_SHARED_S = 2
UNSTORED_BYTES: Final = 16 * 1024 * 1024  # largest total size of the queued answers
REVIEW_S = 0.2  # seconds that a call of ``sweep`` spends on shortened lifetimes
_NO_EXPIRY = 0
_NO_KEY = "none:none"

log = logging.getLogger(__name__)


class StoreDown(Exception):
    """The backend is unavailable."""


@contextmanager
def _store_down() -> Iterator[None]:
    """Raise StoreDown in place of any error but BytesRemain."""
    try:
        yield
    except BytesRemain:
        raise
    except Exception as error:
        raise StoreDown(type(error).__name__) from error


class Reading(NamedTuple):
    """The envelopes under a vehicle's requested keys.

    ``purge_no`` is the number of the last purge that was known when they were read. A purge with a
    higher number hides an answer that is requested now. If ``is_current`` is false, the backend
    could not be read, and may contain envelopes that the local cache does not.
    """

    envelopes: Sequence[Envelope | None]
    purge_no: int
    is_current: bool = True


class Store:
    """Stores signed envelopes on a backend, with a small cache in the process.

    ``read`` prefers the local cache, which may lag behind the backend by CONFIRMED_FOR_S (1 s).
    ``read_current`` asks the backend. ``recent`` asks only the local cache. While the backend is
    down, reads raise no exception, and return what the local cache has.

    No method returns an answer that the purge clock hides. ``tick`` reads the purge log twice a
    second, so that a purge by another process takes effect within 1 s. It deletes from the backend
    what purges hide that the backend has not applied, for example because the backend is a restored
    snapshot, or belongs to another portal with the same database.
    """

    def __init__(
        self,
        backend: Backend,
        seal: Seal,
        memory: LocalCache,
        observer: Observer,
        clock: Callable[[], float] = time.time,
        *,
        purges: PurgeClock,
        terms: Mapping[OperationName, CachePolicy],
        namespace: str,
    ) -> None:
        self._backend = backend
        self._seal = seal
        self._memory = memory
        self.recent = memory.recent
        self._observer = observer
        self._clock = clock
        self._purges = purges
        self._terms = terms
        self._namespace = namespace
        # For each key, the newest answer that the backend could not store.
        self._unstored = LocalCache(UNSTORED_BYTES, purges.hides)
        self._shortening = self._shorten()

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """Return the key of a lookup, in the form ``tag:name``.

        The tag is a keyed hash of the plate or Renavam. The name is a keyed hash of the whole
        lookup, the namespace and, in pass-through mode, the caller's upstream credential. No other
        caller then gets the answer.
        """
        return self._key(lookup.subject, lookup.question, credential)

    def newest_report_key(self, subject: Plate | Renavam, credential: str | None) -> str:
        """Return the key of a vehicle's newest report.

        The key is the same for all reports on the vehicle, whatever data they contain.
        """
        return self._key(subject, f"newest report|{subject.text}", credential)

    def tag(self, subject: str) -> str:
        """Return a vehicle's tag, the keyed hash with which its store keys begin.

        The tag does not depend on the namespace. A purge can therefore find a vehicle's entries
        from all upstreams.
        """
        return self._seal.keyed_hash(f"subject|{subject}", 24)

    def _key(self, subject: Plate | Renavam, question: str, credential: str | None) -> str:
        if credential is not None:
            question += f"|{credential}"
        # A namespace contains no NUL character, so different pairs of namespace and question never
        # give the same text.
        name = self._seal.keyed_hash(f"{self._namespace}\0{question}", 40)
        return f"{self.tag(subject.text)}:{name}"

    def read(self, key: str) -> Envelope | None:
        """Return the envelope stored under a key, or None."""
        return self.recent(key) or self.read_current([key]).envelopes[0]

    def read_current(self, keys: Sequence[str]) -> Reading:
        """Read entries of one vehicle from the backend.

        Bypasses the local cache, which may miss changes of the last second. Use this method before
        a paid call, because another process may just have stored the answer.
        """
        began = time.monotonic()
        try:
            stored = self._backend.read_many(keys)
        except Exception as error:
            self._report_fault("read", error)
            self._purges.is_current()
            unconfirmed = self._unconfirmed(keys)
            return Reading([unconfirmed.get(key) for key in keys], self._purges.number, False)
        self._observer.used_store("read", time.monotonic() - began)
        envelopes: list[Envelope | None] = [None] * len(keys)
        if any(stored.values) or self._memory.get_stale(*keys):
            values = zip(keys, stored.values, strict=True)
            envelopes = [self._verified(key, value, stored.purged_to) for key, value in values]
        return Reading(envelopes, max(self._purges.number, stored.purged_to))

    def known_purge(self) -> int:
        """Return the number of the last purge that this process knows, without reading the log."""
        return self._purges.number

    def last_purge(self) -> int:
        """Read the purge log, and return the number of the last purge that this process knows.

        What is read from the store afterwards is not older than that purge.
        """
        self._learn_purges()
        return self._purges.number

    def write(self, envelope: Envelope) -> bool:
        """Store an answer. Return whether the backend now has this or a newer answer.

        An answer is not stored if its vehicle was purged after the answer was requested.
        """
        left_s = envelope.delete_at - self._clock()
        # An emptied backend would accept an answer of a purged vehicle, and a process that was
        # stopped has an old purge clock.
        self._purges.is_current()
        if left_s <= 0 or self._purges.hides(envelope.key, envelope.purge_no):
            return False
        envelope = msgspec.structs.replace(envelope, namespace=self._namespace)
        key, sealed = envelope.key, self._seal.sign(envelope)
        began = time.monotonic()
        try:
            outcome = self._backend.replace(key, sealed, left_s, envelope.fence, envelope.purge_no)
        except Exception as error:
            self._report_fault("write", error)
            self._memory.put(envelope)
            self._unstored.put(envelope)
            return False
        self._observer.used_store("write", time.monotonic() - began)
        if outcome == "stored":
            self._memory.put(envelope, sealed[:SEAL_BYTES])
        else:
            self._memory.evict(key)
        return outcome != "purged"

    @property
    def has_unstored(self) -> bool:
        """Return whether this process has answers that the backend could not store."""
        return self._unstored.size_bytes > 0

    def tick(self) -> None:
        """Learn of other processes' purges, confirm cached entries, and write queued answers.

        The scheduler calls this method twice a second.
        """
        self._learn_purges()
        try:
            self._apply_purges()
            keys, at = self._memory.take_requested()
            signatures = self._backend.signatures(keys, SEAL_BYTES)
        except Exception as error:
            self._report_fault("read", error)
            return
        self._memory.confirm(signatures, at)
        self._write_unstored()

    def sweep(self) -> None:
        """Delete expired entries from the backend.

        If the operator has shortened a lifetime, each call also makes some stored entries expire
        earlier.
        """
        try:
            self._backend.sweep()
            ends_at = time.monotonic() + REVIEW_S
            for _ in self._shortening:
                if time.monotonic() > ends_at:
                    break
        except Exception as error:
            self._shortening = self._shorten()
            self._report_fault("sweep", error)

    def is_up(self) -> bool:
        """Return whether the backend or the local cache can serve stored answers."""
        try:
            self._backend.read_many([_NO_KEY])
        except Exception as error:
            self._report_fault("read", error)
            return self._memory.size_bytes > 0
        return True

    def size(self) -> StoreSize | None:
        """Return the backend's size, or None if the backend does not respond."""
        try:
            return self._backend.size()
        except Exception as error:
            self._report_fault("read", error)
            return None

    def purged_to(self) -> int:
        """Return the number up to which the backend has applied the log's purges.

        Raises StoreDown.
        """
        with _store_down():
            return self._backend.read_many([_NO_KEY]).purged_to

    def count(self, tags: Collection[str]) -> int:
        """Return the number of the entries of some vehicles' tags. Raises StoreDown."""
        with _store_down():
            return self._backend.count_tagged(tags)

    def purge(self, purges: Mapping[str, int]) -> int:
        """Delete all entries of some vehicles' tags, and return their number.

        ``purges`` maps each tag to the number of its purge in the log, or to 0 if the purge could
        not be logged. The logged numbers are successive. The caller then calls ``erase_deleted``.
        Raises StoreDown if the backend is unavailable.
        """
        logged = {purge_bucket(tag): number for tag, number in purges.items() if number}
        self._learn_purges()
        with _store_down():
            self._backend.begin_purges(logged)
            deleted = self._backend.delete_tagged(purges.keys())
            if logged:
                self._backend.end_purges(min(logged.values()) - 1, max(logged.values()))
        return deleted

    def erase_deleted(self) -> Sequence[str]:
        """Erase the bytes of purged entries from the backend's files.

        Also deletes the files that were renamed because they are corrupt, in which a purge cannot
        find a vehicle's entries, and returns their names. Raises StoreDown if the backend is
        unavailable, or BytesRemain if bytes remain.
        """
        with _store_down():
            return self._backend.erase_deleted()

    def _learn_purges(self) -> None:
        self._purges.refresh()
        for cache in (self._memory, self._unstored):
            cache.sweep(self._clock())

    def _apply_purges(self) -> None:
        """Delete from the backend what purges hide that the backend has not applied."""
        before = self._backend.read_many([_NO_KEY]).purged_to
        number = self._purges.number
        if before >= number:
            return
        purges = self._purges.since(before)
        deleted = 0

        def end_of(key: str, value: bytes) -> float | None:
            nonlocal deleted
            envelope = self._seal.verify(value, key)
            if envelope is None or self._unhidden(envelope, before) is not None:
                return None
            deleted += 1
            return 0.0

        self._backend.begin_purges(purges)
        for _ in self._backend.review(end_of, purges):
            pass
        self._backend.end_purges(before, number)
        if deleted:
            log.warning("%d stored answers of purged vehicles were deleted", deleted)

    def _shorten(self) -> Iterator[None]:
        """Apply shortened lifetimes to the stored entries, once for all processes."""
        name = f"lifetimes:{self._namespace}"
        terms = self._terms.items()
        text = " ".join(f"{name}:{term.fresh_s}+{term.stale_s}" for name, term in terms).encode()
        if self._backend.get(name) == text:
            return

        def end_of(key: str, value: bytes) -> float | None:
            envelope = self._seal.verify(value, key)
            if envelope is None or envelope.namespace != self._namespace:
                return None
            return envelope.fetched_at + longest_s(self._terms, envelope)

        yield from self._backend.review(end_of)
        self._backend.set(name, text, _NO_EXPIRY)

    def _write_unstored(self) -> None:
        for key in self._unstored.listed():
            if (taken := self._unstored.evict(key)) is not None:
                self.write(taken)
                if self._unstored.get_stale(key):  # the backend is unavailable again
                    return

    def _unconfirmed(self, keys: Sequence[str]) -> Mapping[str, Envelope]:
        """Return the answers that the local cache has, and that no purge hides."""
        cached = self._memory.get_stale(*keys).items()
        return {
            key: answer for key, answer in cached if not self._purges.hides(key, answer.purge_no)
        }

    def _verified(self, key: str, value: bytes | None, purged_to: int) -> Envelope | None:
        """Return the verified envelope of a backend's value. Cache the envelope locally.

        If the local cache has a newer answer than the backend, which may have lost its contents,
        write the newer answer back to the backend and return the newer answer.
        """
        envelope = None
        if value is not None:
            envelope = self._unhidden(self._seal.verify(value, key), purged_to)
        cached = self._memory.get_stale(key).get(key)
        is_newer = cached is not None and (envelope is None or cached.fence > envelope.fence)
        if cached is not None and is_newer and self._purges.is_current():
            if not self._purges.hides(cached.key, cached.purge_no):
                self.write(cached)
            if kept := self._unconfirmed([key]):
                return kept[key]
        if envelope is not None and value is not None:
            self._memory.put(envelope, value[:SEAL_BYTES])
        return envelope

    def _unhidden(self, envelope: Envelope | None, purged_to: int) -> Envelope | None:
        """Return a backend's envelope, or None if a purge hides it.

        The backend has applied all purges up to ``purged_to``, so the vehicle was not purged
        between ``Envelope.purge_no`` and ``purged_to``. An envelope of a former version has no
        number of its own. The envelope is kept no longer than the present lifetimes say.
        """
        if envelope is None:
            return None
        keep_s = longest_s(self._terms, envelope)
        if envelope.purge_no < purged_to or envelope.keep_s > keep_s:
            envelope = msgspec.structs.replace(
                envelope,
                purge_no=max(envelope.purge_no, purged_to),
                keep_s=min(envelope.keep_s, keep_s),
            )
        return None if self._purges.hides(envelope.key, envelope.purge_no) else envelope

    def _report_fault(self, operation: str, error: Exception) -> None:
        self._observer.store_failed(operation)
        if not isinstance(error, BreakerOpen):  # the breaker has already logged the outage
            # Log only the error's type, because the error's text may contain a store key or a host
            # name.
            log.warning("store %s failed: %s", operation, type(error).__name__)
