"""The store: signed answers under keyed-hash keys, on a Flask-Caching backend."""

import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from portal.gateway.backend import (
    PURGED,
    Backend,
    BytesRemain,
    Held,
    Mark,
    PurgedMeanwhile,
    StoreSize,
    UnknownMark,
    purge_bucket,
)
from portal.gateway.envelope import SEAL_BYTES, Envelope, Seal
from portal.gateway.lookup import Lookup, Observer
from portal.gateway.memory import LocalCache, Version
from portal.gateway.retention import Retention, Shortening
from portal.gateway.unstored import UnstoredQueue
from portal.storage import Purges
from portal.system.dependency_breaker import BreakerOpen
from portal.vehicle import Plate, Renavam

FAILURE_SHARED_S = 2
CHECK_EVERY_S: Final = 1.0  # interval of purge checks while the backend is down

log = logging.getLogger(__name__)


class StoreDown(Exception):
    """The backend is unavailable; its contents are unknown."""


class Reading(NamedTuple):
    """The envelopes under some keys of one vehicle, and the mark to pass to ``write``."""

    envelopes: Sequence[Envelope | None]
    mark: Mark


class Store:
    """Signed envelopes on a backend, with a small process-local cache in front.

    The local cache is used for at most CONFIRMED_FOR_S (1 s) after a confirmation, so that a purge
    by another process takes effect within that time. ``tick`` renews the confirmation of requested
    entries before it expires. While the backend is down only the local cache is used. A backend
    failure never fails a request.

    ``former_seals`` are those of old secret keys, whose entries ``carry_over`` copies.

    ``purges_since`` reads the purge log, which is outside the backend. The log is needed because a
    backend that comes back empty has lost its own purge counters, and because a process that
    stalled may have missed a purge.
    """

    def __init__(
        self,
        backend: Backend,
        seal: Seal,
        memory: LocalCache,
        observer: Observer | None = None,
        clock: Callable[[], float] = time.time,
        purges_since: Callable[[int | None], Purges | None] = lambda _: Purges(0, frozenset()),
        retention: Retention | None = None,
        namespace: str = "upstream",
        former_seals: Sequence[Seal] = (),
    ) -> None:
        self._backend = backend
        self._seal = seal
        self._former_seals = former_seals
        self._memory = memory
        self._observer = observer or Observer()
        self._clock = clock
        self._purges_since = purges_since
        self._shortening = Shortening(backend, (seal, *former_seals), retention)
        self._namespace = namespace
        self._generation: str | None = None
        self._purges: int | None = None
        self._checked_at = 0.0
        self._generation_lock = threading.Lock()
        self._compare_at = 0.0  # monotonic time of the next comparison with the purge log
        self._log_names = [each.keyed_hash("purge log", 16) for each in (seal, *former_seals)]
        self._unstored = UnstoredQueue()

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """Return the key ``tag:name`` of a lookup.

        The tag identifies the vehicle. The name identifies the whole question, the namespace and,
        in pass-through mode, the credential.
        """
        return self._key(self._seal, lookup.subject.text, _question(lookup, credential))

    def former_keys(self, lookup: Lookup, credential: str | None) -> Sequence[str]:
        """Return the keys of a lookup under the old secret keys."""
        question = _question(lookup, credential)
        return [self._key(seal, lookup.subject.text, question) for seal in self._former_seals]

    def newest_report_key(self, subject: Plate | Renavam, credential: str | None) -> str:
        """Return the key of a vehicle's newest report.

        It does not depend on the data that the report was written from.
        """
        return self._key(self._seal, subject.text, _newest_report(subject, credential))

    def former_newest_report_keys(
        self, subject: Plate | Renavam, credential: str | None
    ) -> Sequence[str]:
        """Return the same keys under the old secret keys."""
        question = _newest_report(subject, credential)
        return [self._key(seal, subject.text, question) for seal in self._former_seals]

    def tag(self, subject: str) -> str:
        """Return the tag of a plate or Renavam.

        It does not include the namespace, so that a purge finds a vehicle's entries of every
        upstream.
        """
        return _tag(self._seal, subject)

    def former_tags(self, subject: str) -> Sequence[str]:
        """Return the tags of a plate or Renavam under the old secret keys."""
        return [_tag(seal, subject) for seal in self._former_seals]

    def _key(self, seal: Seal, subject: str, question: str) -> str:
        # No namespace contains a NUL, so distinct pairs give distinct texts.
        name = seal.keyed_hash(f"{self._namespace}\0{question}", 40)
        return f"{_tag(seal, subject)}:{name}"

    def read(self, key: str) -> Envelope | None:
        """Return the envelope stored under a key, or None."""
        return self.read_many([key])[0]

    def read_many(self, keys: Sequence[str]) -> Sequence[Envelope | None]:
        """Return what is stored under keys of one vehicle: an envelope or None for each.

        Keys that the local cache lacks are read from the backend in one read.
        """
        found = {key: self._memory.recent(key) for key in keys}
        missing = [key for key, envelope in found.items() if envelope is None]
        if missing:
            found |= zip(missing, self._read(missing, self._purges).envelopes, strict=True)
        return list(found.values())

    def read_current(self, keys: Sequence[str]) -> Reading:
        """Read keys of one vehicle from the backend, with the mark to give to ``write``.

        Bypasses the local cache, which may be up to 1 s stale. Use it to wait for another process's
        answer, and before a paid call.
        """
        return self._read(keys, self._known_purges())

    def recent(self, key: str) -> Envelope | None:
        """Return the envelope confirmed within the last second; never calls the backend."""
        return self._memory.recent(key)

    def write(self, envelope: Envelope, fence: int, mark: Mark) -> bool:
        """Store an answer; return False if the backend did not accept it.

        A newer answer is never replaced; the result is True nevertheless. An answer whose vehicle
        was purged since ``mark`` was read is not stored, so the mark must be read before the answer
        is requested.
        """
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
            self._report_fault("write", error)
            self._cache_locally(envelope, None, b"", mark)
            self._unstored.put(envelope, fence, mark)
            return False
        if newest:
            self._cache_locally(envelope, mark.generation, sealed[:SEAL_BYTES], mark)
        else:
            self._memory.evict(envelope.key)
        return True

    def copy(self, envelope: Envelope, key: str, fence: int, mark: Mark) -> None:
        """Store an envelope under another key too.

        ``mark`` must have been read with the envelope or before it.
        """
        self.write(msgspec.structs.replace(envelope, key=key), fence, mark)

    @property
    def has_unstored(self) -> bool:
        """Whether paid answers wait in this process's memory for the backend to take them."""
        return bool(self._unstored.waiting())

    @property
    def has_former_keys(self) -> bool:
        """Whether entries under old secret keys are read too."""
        return bool(self._former_seals)

    def carry_over(self, former_keys: Sequence[str], key: str, suffixes: Sequence[str]) -> bool:
        """Store newer entries of ``former_keys`` under ``key``; return whether there were any.

        Entries keep their times. ``suffixes`` are those of the keys of one lookup. The mark is read
        before the former entries, so that a purge in between prevents the copy.
        """
        if not former_keys:
            return False
        present, mark = self.read_current([key + suffix for suffix in suffixes])
        carried = False
        for seal, former_key in zip(self._former_seals, former_keys, strict=True):
            names = [former_key + suffix for suffix in suffixes]
            try:
                values = self._read_noted(names).values
            except Exception as error:
                self._report_fault("read", error)
                return carried
            for suffix, name, value, newest in zip(suffixes, names, values, present, strict=True):
                former = seal.verify(value, name)
                if former is not None and (newest is None or newest.fetched_at < former.fetched_at):
                    self.copy(former, key + suffix, former.fence, mark)
                    carried = True
        return carried

    def tick(self) -> None:
        """Detect purges by other processes and confirm the local cache.

        Runs twice a second. While the backend's version does not change, all entries are confirmed,
        otherwise only the requested ones. Entries past retention are dropped, and answers that
        could not be stored are retried.
        """
        self._memory.sweep(self._clock())
        at = self._memory.now()
        # Read the version first: a write between the two reads is then detected.
        version = self._version()
        try:
            signatures, generation = self._backend.signatures(
                self._memory.take_unconfirmed(version), SEAL_BYTES
            )
            if self._note_generation(generation):
                signatures = {}  # they may be of entries that were deleted meanwhile
        except Exception as error:
            self._report_fault("read", error)
            return
        self._memory.confirm(signatures, generation, at, version)
        self._write_unstored()

    def sweep(self) -> None:
        """Delete entries past retention from the backend.

        Entries stored under a longer former retention get the present one.
        """
        try:
            self._backend.sweep()
            self._shortening.step()
        except Exception as error:
            self._report_fault("sweep", error)

    def is_up(self) -> bool:
        """Return whether stored answers can be served.

        True if the backend answers, or if the local cache is not empty.
        """
        try:
            self._backend.read_many(["ready:probe"])
        except Exception as error:
            self._report_fault("read", error)
            return self._memory.size_bytes > 0
        return True

    def size(self) -> StoreSize | None:
        """Return the backend's entries and bytes, None while it is unavailable."""
        try:
            return self._backend.size()
        except Exception as error:
            self._report_fault("read", error)
            return None

    def purge(self, subject: str, number: int = 0) -> int:
        """Purge the tag of a plate or Renavam under the present secret key."""
        return self.purge_tag(self.tag(subject), number)

    def purge_tag(self, tag: str, number: int) -> int:
        """Delete all entries of a tag and return how many there were.

        ``number`` is that of the purge in the purge log.

        Raises StoreDown if the backend is unavailable. Raises BytesRemain if the entries are
        deleted but the disk still holds bytes of them; a second purge removes those.
        """
        self._memory.clear()
        try:
            try:
                return self._backend.delete_tagged(tag, self._log_names[0], number)
            finally:
                self._compare_with_purge_log()
        except BytesRemain:
            raise
        except Exception as error:
            raise StoreDown(type(error).__name__) from error

    def remove_broken(self) -> Sequence[str]:
        """Delete quarantined corrupt files and return their names.

        No purge can find a vehicle in such a file. Raises StoreDown if they cannot be deleted.
        """
        try:
            return self._backend.remove_broken()
        except OSError as error:
            raise StoreDown(type(error).__name__) from error

    def _version(self) -> Version | None:
        try:
            return self._backend.version()
        except Exception as error:
            self._report_fault("read", error)
            return None

    def _replace(
        self, key: str, sealed: bytes, left_s: float, fence: int, mark: Mark
    ) -> tuple[bool, Mark]:
        """Write to the backend; return whether the answer is the newest, and the mark used."""
        if mark.text is not None:
            try:
                return self._backend.replace(key, sealed, left_s, fence, mark.text), mark
            except UnknownMark:
                pass
        # The backend lost its purge counters. Read the new mark before the log: a purge is logged
        # first and counted in the backend second, so a purge that is missing from the log read
        # here changes the mark, and the write fails.
        purges = self._known_purges()
        held = self._read_noted([key])
        current = Mark(held.mark, held.generation, purges)
        since = self._purges_since(mark.purges)
        if since is None:
            raise StoreDown
        if since.buckets is None or purge_bucket(key) in since.buckets:
            raise PurgedMeanwhile
        return self._backend.replace(key, sealed, left_s, fence, held.mark), current

    def _cache_locally(
        self, envelope: Envelope, generation: str | None, signature: bytes, mark: Mark
    ) -> None:
        """Put into the local cache, unless a purge was detected after the mark was read."""
        self._memory.put(envelope, generation, signature)
        if self._generation != mark.generation or self._purges != mark.purges:
            self._memory.evict(envelope.key)

    def _write_unstored(self) -> None:
        """Retry the answers that could not be stored, until the backend fails again."""
        for key in self._unstored.waiting():
            taken = self._unstored.take(key)
            if taken is not None:
                self.write(*taken)
                if key in self._unstored.waiting():
                    return

    def _read(self, keys: Sequence[str], purges: int | None) -> Reading:
        """Read keys from the backend, or from the local cache while the backend is down.

        ``purges`` is the number of the last purge known before this read.
        """
        version = self._memory.version  # read first: a write during the read is then detected
        try:
            held = self._read_noted(keys)
        except Exception as error:
            self._report_fault("read", error)
            self._check_purges()
            entries = map(self._memory.get_stale, keys)
            envelopes = [entry.envelope if entry else None for entry in entries]
            return Reading(envelopes, Mark(None, self._generation, purges))
        values = zip(keys, held.values, strict=True)
        envelopes = [self._verified(key, value, held, version) for key, value in values]
        mark = Mark(held.mark, held.generation, self._purges if purges is None else purges)
        return Reading(envelopes, mark)

    def _verified(
        self, key: str, value: bytes | None, held: Held, version: Version | None
    ) -> Envelope | None:
        """Return the envelope in a value of the backend, and put it into the local cache."""
        if value is None:
            return self._write_back(key, held)
        envelope = self._seal.verify(value, key)
        if envelope is None:
            return None
        if (newer := self._write_back_newer(key, envelope, held)) is not None:
            return newer
        # Under the lock, so that an answer from before a purge never enters the cleared cache.
        with self._generation_lock:
            if self._generation == held.generation:
                self._memory.put(envelope, held.generation, value[:SEAL_BYTES], version)
        return envelope

    def _known_purges(self) -> int | None:
        """Return the number of the last known purge, from the log if none is known yet."""
        if self._purges is None and (log_read := self._purges_since(None)) is not None:
            self._purges = log_read.latest
        return self._purges

    def _read_noted(self, keys: Sequence[str]) -> Held:
        held = self._backend.read_many(keys)
        if self._note_generation(held.generation):
            # The first result may hold entries that this process or another one deleted meanwhile.
            held = self._backend.read_many(keys)
            self._note_generation(held.generation)
        return held

    def _note_generation(self, generation: str) -> bool:
        """Record the backend's generation and evict purged entries if it changed.

        After a purge all entries are evicted. If the backend came up empty, only entries purged
        since the last check are evicted. Returns whether the backend was compared with the purge
        log, so that what was read before may be deleted by now.
        """
        if generation == self._generation and time.monotonic() < self._compare_at:
            return False
        with self._generation_lock:
            if generation != self._generation:
                self._compare_at = 0.0
            if time.monotonic() < self._compare_at:
                return True  # another thread compared them while this one waited
            self._compare_with_purge_log()
            if generation == self._generation:
                self._evict_newly_purged()
                return True
            last, since = self._generation, self._purges_since(self._purges)
            self._purges = since.latest if since is not None else None
            # Set before the eviction, because readers compare it after they have cached an entry.
            self._generation = generation
            if last is None and not self._memory.size_bytes:
                return True  # first contact with the backend
            if since is None or (last is not None and generation.startswith(PURGED)):
                self._memory.clear()
            else:
                self._evict_purged(since.buckets)
            return True

    def _compare_with_purge_log(self) -> None:
        """Delete purged entries that came back.

        For example, a Redis that was killed restarts from a snapshot made before the purge.
        """
        # A portal that signs with another of the keys records its purges under another name.
        number = max(map(self._backend.purged_to, self._log_names))
        since = self._purges_since(number)
        if since is None:
            self._compare_at = time.monotonic() + CHECK_EVERY_S
            return
        if number < since.latest:  # a portal with another purge log may have set a higher one
            deleted = self._backend.delete_buckets(since.buckets)
            if deleted:
                log.warning("%d purged answers had come back and were deleted", deleted)
            self._backend.set_purged_to(self._log_names[0], since.latest)
        self._compare_at = math.inf

    def _check_purges(self) -> None:
        """Evict entries purged since the last check, while the backend is down."""
        now = time.monotonic()
        if self._purges is None or now - self._checked_at < CHECK_EVERY_S:
            return
        with self._generation_lock:
            self._checked_at = now
            self._evict_newly_purged()

    def _evict_newly_purged(self) -> None:
        since = self._purges_since(self._purges)
        if since is not None and since.latest != self._purges:
            self._purges = since.latest
            self._evict_purged(since.buckets)

    def _evict_purged(self, buckets: frozenset[int] | None) -> None:
        if buckets is None:
            self._memory.clear()
        elif buckets:
            self._memory.evict_matching(lambda key: purge_bucket(key) in buckets)

    def _write_back(self, key: str, held: Held) -> Envelope | None:
        """Write a locally cached answer back to a backend that lacks it.

        Applies if the backend came up empty, or failed to store the answer before. If the backend
        evicted or expired the entry in the same generation, it is evicted locally too.
        """
        with self._generation_lock:  # waits until a purge in progress has evicted its entries
            entry = self._memory.get_stale(key)
        if entry is None:
            return None
        if entry.generation == held.generation:
            self._memory.evict(key)
            return None
        return self._write_cached(key, entry.envelope, held)

    def _write_back_newer(self, key: str, found: Envelope, held: Held) -> Envelope | None:
        """Write a locally cached answer back over an older one.

        Applies if the backend lost the answer and another process restored an older one.
        """
        entry = self._memory.get_stale(key)
        if (
            entry is None
            or entry.generation == held.generation
            or entry.envelope.fence <= found.fence
        ):
            return None
        return self._write_cached(key, entry.envelope, held)

    def _write_cached(self, key: str, envelope: Envelope, held: Held) -> Envelope | None:
        self.write(envelope, envelope.fence, Mark(held.mark, held.generation, self._purges))
        return envelope if self._memory.get_stale(key) else None

    def _report_fault(self, operation: str, error: Exception) -> None:
        self._compare_at = 0.0  # the backend may come back with older contents
        self._observer.store_failed(operation)
        if not isinstance(error, BreakerOpen):  # the breaker has logged the outage once
            # Only the error's type: its text may contain a key or an address.
            log.warning("store %s failed: %s", operation, type(error).__name__)


def _tag(seal: Seal, subject: str) -> str:
    return seal.keyed_hash(f"subject|{subject}", 24)


def _question(lookup: Lookup, credential: str | None) -> str:
    return lookup.question + (f"|{credential}" if credential is not None else "")


def _newest_report(subject: Plate | Renavam, credential: str | None) -> str:
    return f"newest report|{subject.text}" + (f"|{credential}" if credential else "")
