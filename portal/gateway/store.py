"""Stores signed answers in a Flask-Caching backend, under keys that reveal no plate."""

import logging
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from portal.gateway.backend import (
    Backend,
    BytesRemain,
    CounterLost,
    Held,
    PurgedMeanwhile,
    PurgeState,
    StoreSize,
)
from portal.gateway.envelope import SEAL_BYTES, Envelope, Seal
from portal.gateway.local_cache import LocalCache, Version
from portal.gateway.lookup import Lookup, Observer
from portal.gateway.purge_watch import PurgeWatch
from portal.gateway.retention import Retention, Shortening
from portal.gateway.unstored import UnstoredQueue
from portal.storage.purge_log import Purges
from portal.system.dependency_breaker import BreakerOpen
from portal.vehicle.plate import Plate, Renavam

FAILURE_SHARED_S = 2

log = logging.getLogger(__name__)


class StoreDown(Exception):
    """The backend is unavailable."""


class Reading(NamedTuple):
    """The envelopes under a vehicle's requested keys, and the purge state.

    ``write`` receives this purge state, and detects a purge that was made after the reading.
    """

    envelopes: Sequence[Envelope | None]
    purge_state: PurgeState


class Store:
    """Stores signed envelopes on a backend, with a small cache in the process.

    While the backend is up, the local cache serves an entry for at most CONFIRMED_FOR_S (1 s) after
    the last check that the backend still stores the entry. A purge (deletion of a vehicle's
    entries) by another process thus takes effect within 1 s. Twice a second, ``tick`` checks the
    locally cached entries that were requested since the last ``tick``. While the backend is down,
    reads raise no exception. Reads then return locally cached entries without these checks.

    ``former_seals`` verify entries that were signed with old secret keys. ``purges_since`` reads
    the purge log in the database, with which ``PurgeWatch`` detects other processes' purges.
    """

    def __init__(
        self,
        backend: Backend,
        seal: Seal,
        memory: LocalCache,
        observer: Observer,
        clock: Callable[[], float] = time.time,
        *,
        purges_since: Callable[[int | None], Purges | None],
        retention: Retention | None,
        namespace: str,
        former_seals: Sequence[Seal],
    ) -> None:
        self._backend = backend
        self._seal = seal
        self._former_seals = former_seals
        self._memory = memory
        self._observer = observer
        self._clock = clock
        self._shortening = Shortening(backend, (seal, *former_seals), retention)
        self._namespace = namespace
        log_names = [each.keyed_hash("purge log", 16) for each in (seal, *former_seals)]
        self._purge_log_name = log_names[0]
        self._watch = PurgeWatch(backend, memory, purges_since, log_names)
        self._unstored = UnstoredQueue()

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """Return the key of a lookup, in the form ``tag:name``.

        The tag is a keyed hash of the plate or Renavam. The name is a keyed hash of the whole
        lookup, the namespace and, in pass-through mode, the caller's upstream credential.
        """
        return self._key(self._seal, lookup.subject.text, _question(lookup, credential))

    def former_keys(self, lookup: Lookup, credential: str | None) -> Sequence[str]:
        """Return a lookup's store keys, each computed with one of the old secret keys."""
        question = _question(lookup, credential)
        return [self._key(seal, lookup.subject.text, question) for seal in self._former_seals]

    def newest_report_key(self, subject: Plate | Renavam, credential: str | None) -> str:
        """Return the key of a vehicle's newest report.

        The key is the same for all reports on the vehicle, whatever data they contain.
        """
        return self._key(self._seal, subject.text, _newest_report(subject, credential))

    def former_newest_report_keys(
        self, subject: Plate | Renavam, credential: str | None
    ) -> Sequence[str]:
        """Return the newest report's keys, each computed with an old secret key."""
        question = _newest_report(subject, credential)
        return [self._key(seal, subject.text, question) for seal in self._former_seals]

    def tag(self, subject: str) -> str:
        """Return a vehicle's tag, the keyed hash with which its store keys begin.

        The tag does not depend on the namespace (the upstream's name). A purge can therefore find a
        vehicle's entries from all upstreams.
        """
        return _tag(self._seal, subject)

    def former_tags(self, subject: str) -> Sequence[str]:
        """Return a vehicle's tags, each computed with an old secret key."""
        return [_tag(seal, subject) for seal in self._former_seals]

    def _key(self, seal: Seal, subject: str, question: str) -> str:
        # A namespace contains no NUL character, so different pairs of namespace and question never
        # give the same text.
        name = seal.keyed_hash(f"{self._namespace}\0{question}", 40)
        return f"{_tag(seal, subject)}:{name}"

    def read(self, key: str) -> Envelope | None:
        """Return the envelope stored under a key, or None."""
        return self.read_many([key])[0]

    def read_many(self, keys: Sequence[str]) -> Sequence[Envelope | None]:
        """Return the envelopes for keys of one vehicle, with None for each missing entry.

        Entries that are not in the local cache are read from the backend together.
        """
        found = {key: self._memory.recent(key) for key in keys}
        missing = [key for key, envelope in found.items() if envelope is None]
        if missing:
            found |= zip(
                missing, self._read(missing, self._watch.last_purge).envelopes, strict=True
            )
        return list(found.values())

    def read_current(self, keys: Sequence[str]) -> Reading:
        """Read entries of one vehicle from the backend, with the purge state for ``write``.

        Bypasses the local cache, which may miss changes of the last second. Use this method before
        a paid call, because another process may just have stored the answer.
        """
        return self._read(keys, self._watch.read_last_purge())

    def last_purge(self) -> int | None:
        """Return the number of the last known purge, or None if the log cannot be read."""
        return self._watch.read_last_purge()

    def recent(self, key: str) -> Envelope | None:
        """Return an answer from the local cache, or None.

        Returns only an answer that was cached or confirmed within the last second.
        """
        return self._memory.recent(key)

    def write(self, envelope: Envelope, fence: int, purge_state: PurgeState) -> bool:
        """Store an answer. Return whether the backend now has this or a newer answer.

        The caller must read ``purge_state`` before it requests the answer. If the vehicle is purged
        between the read and the write, the answer is not stored.
        """
        left_s = envelope.delete_at - self._clock()
        if left_s <= 0:
            return False
        envelope = msgspec.structs.replace(envelope, namespace=self._namespace, fence=fence)
        try:
            sealed = self._seal.sign(envelope)
            newest, purge_state = self._replace(envelope.key, sealed, left_s, fence, purge_state)
        except PurgedMeanwhile:
            self._memory.evict(envelope.key)
            return False
        except Exception as error:
            self._report_fault("write", error)
            self._cache_locally(envelope, None, b"", purge_state)
            self._unstored.put(envelope, fence, purge_state)
            return False
        if newest:
            self._cache_locally(envelope, purge_state.generation, sealed[:SEAL_BYTES], purge_state)
        else:
            self._memory.evict(envelope.key)
        return True

    def copy(self, envelope: Envelope, key: str, fence: int, purge_state: PurgeState) -> None:
        """Store a copy of an envelope under another key.

        The caller must read ``purge_state`` before the envelope, or together with the envelope, so
        that a purge after the reading prevents the copy.
        """
        self.write(msgspec.structs.replace(envelope, key=key), fence, purge_state)

    @property
    def has_unstored(self) -> bool:
        """Return whether this process has answers that the backend could not store."""
        return bool(self._unstored.waiting())

    @property
    def has_former_keys(self) -> bool:
        """Return whether old secret keys are configured."""
        return bool(self._former_seals)

    def carry_over(self, former_keys: Sequence[str], key: str, suffixes: Sequence[str]) -> bool:
        """Copy entries from ``former_keys`` to ``key``. Return whether any entry was copied.

        ``former_keys`` were computed with old secret keys. Entries are stored under a key followed
        by one of ``suffixes``. An entry is not copied if ``key`` already has an entry with the same
        suffix that is at least as new. The purge state is read before the entries, so that a purge
        between the two reads prevents the copy.
        """
        if not former_keys:
            return False
        present, purge_state = self.read_current([key + suffix for suffix in suffixes])
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
                    self.copy(former, key + suffix, former.fence, purge_state)
                    carried = True
        return carried

    def tick(self) -> None:
        """Detect other processes' purges, confirm cached entries, and write queued answers.

        The scheduler calls this method twice a second.
        """
        self._memory.sweep(self._clock())
        at = self._memory.now()
        # Read the version before the signatures. If a write happens between the two reads, the
        # entries get the older version and are therefore checked again.
        version = self._version()
        try:
            self._watch.follow()
            signatures, generation = self._backend.signatures(
                self._memory.take_unconfirmed(version), SEAL_BYTES
            )
            if self._watch.note(generation):
                # Confirm nothing, because some entries may have been purged after their signatures
                # were read.
                signatures = {}
        except Exception as error:
            self._report_fault("read", error)
            return
        self._memory.confirm(signatures, generation, at, version)
        self._write_unstored()

    def sweep(self) -> None:
        """Delete expired entries from the backend.

        If the operator has shortened a lifetime, each call also makes some stored entries expire
        earlier.
        """
        try:
            self._backend.sweep()
            self._shortening.step()
        except Exception as error:
            self._report_fault("sweep", error)

    def is_up(self) -> bool:
        """Return whether the backend or the local cache can serve stored answers."""
        try:
            self._backend.read_many(["ready:probe"])
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

    def purge(self, subject: str, number: int = 0) -> int:
        """Delete a vehicle's entries under its tag for the present secret key.

        ``purge_tag`` explains ``number``, the result and the errors.
        """
        return self.purge_tag(self.tag(subject), number)

    def purge_tag(self, tag: str, number: int) -> int:
        """Delete all entries of a vehicle's tag, and return their number.

        ``number`` is the purge's number in the purge log, or 0 if the purge could not be logged.

        The caller then calls ``erase_deleted``. Raises StoreDown if the backend is unavailable.
        """
        self._memory.clear()
        try:
            try:
                return self._backend.delete_tagged(tag, self._purge_log_name, number)
            finally:
                self._watch.compare()
        except Exception as error:
            raise StoreDown(type(error).__name__) from error

    def erase_deleted(self) -> None:
        """Erase the bytes of purged entries from the backend's files.

        Raises StoreDown if the backend is unavailable. Raises BytesRemain if bytes remain.
        """
        try:
            self._backend.erase_deleted()
        except BytesRemain:
            raise
        except Exception as error:
            raise StoreDown(type(error).__name__) from error

    def remove_broken(self) -> Sequence[str]:
        """Delete the files renamed because they are corrupt, and return their names.

        A purge cannot find a vehicle's entries in these files. Raises StoreDown if a file cannot be
        deleted.
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
        self, key: str, sealed: bytes, left_s: float, fence: int, purge_state: PurgeState
    ) -> tuple[bool, PurgeState]:
        """Write a signed answer to the backend.

        Returns whether the backend has stored the answer, and the purge state with which the write
        was made. The backend does not store the answer if it already has a newer answer.
        """
        if purge_state.counter is not None:
            try:
                counter = purge_state.counter
                return self._backend.replace(key, sealed, left_s, fence, counter), purge_state
            except CounterLost:
                pass
        # The purge counter is lost or was never read, so the purge log must show that the vehicle
        # was not purged. Read the backend's counter before the purge log, because every purge is
        # first written to the log and then counted by the backend. A purge that is missing from the
        # log therefore changes the counter after this method has read it. ``replace`` rejects the
        # answer if the counter has changed. A later purge deletes the stored answer.
        last_purge = self._watch.read_last_purge()
        held = self._read_noted([key])
        current = PurgeState(held.purge_counter, held.generation, last_purge)
        may_be_purged = self._watch.may_be_purged(key, purge_state.last_purge)
        if may_be_purged is None:
            raise StoreDown
        if may_be_purged:
            raise PurgedMeanwhile
        return self._backend.replace(key, sealed, left_s, fence, held.purge_counter), current

    def _cache_locally(
        self, envelope: Envelope, generation: str | None, signature: bytes, purge_state: PurgeState
    ) -> None:
        """Cache an envelope locally, unless a purge was detected after ``purge_state`` was read."""
        self._memory.put(envelope, generation, signature)
        if not self._watch.is_current(purge_state):
            self._memory.evict(envelope.key)

    def _write_unstored(self) -> None:
        for key in self._unstored.waiting():
            taken = self._unstored.take(key)
            if taken is not None:
                self.write(*taken)
                if key in self._unstored.waiting():
                    return

    def _read(self, keys: Sequence[str], last_purge: int | None) -> Reading:
        """Read keys from the backend or, if the backend is down, from the local cache.

        ``last_purge`` is the number of the last purge that was known before this read.
        """
        # Read the version before the entries. If a write happens between the two reads, the entries
        # get the older version and are therefore checked again.
        version = self._memory.version
        try:
            held = self._read_noted(keys)
        except Exception as error:
            self._report_fault("read", error)
            self._watch.check()
            entries = map(self._memory.get_stale, keys)
            envelopes = [entry.envelope if entry else None for entry in entries]
            return Reading(envelopes, PurgeState(None, self._watch.generation, last_purge))
        values = zip(keys, held.values, strict=True)
        envelopes = [self._verified(key, value, held, version) for key, value in values]
        purge_state = PurgeState(
            held.purge_counter,
            held.generation,
            self._watch.last_purge if last_purge is None else last_purge,
        )
        return Reading(envelopes, purge_state)

    def _verified(
        self, key: str, value: bytes | None, held: Held, version: Version | None
    ) -> Envelope | None:
        """Return the verified envelope of a backend's value. Cache the envelope locally.

        If the local cache has a newer answer than the backend, write the newer answer back to the
        backend and return the newer answer.
        """
        if value is None:
            return self._write_back(key, held)
        envelope = self._seal.verify(value, key)
        if envelope is None:
            return None
        if (newer := self._write_back_newer(key, envelope, held)) is not None:
            return newer
        # Without ``settled``, another thread could detect a purge and clear the cache between the
        # comparison and ``put``. ``put`` would then cache a purged answer.
        with self._watch.settled() as generation:
            if generation == held.generation:
                self._memory.put(envelope, held.generation, value[:SEAL_BYTES], version)
        return envelope

    def _read_noted(self, keys: Sequence[str]) -> Held:
        held = self._backend.read_many(keys)
        if self._watch.note(held.generation):
            # Read the entries again, because some may have been deleted since the first read.
            held = self._backend.read_many(keys)
            self._watch.note(held.generation)
        return held

    def _write_back(self, key: str, held: Held) -> Envelope | None:
        """Write a locally cached answer to a backend that lost or could not store the answer.

        If the generation name has not changed since the answer was cached, the backend still has
        its contents and has deleted only this answer. In this case, the answer is not written back,
        and is evicted from the local cache.
        """
        with self._watch.settled():  # wait until another thread has evicted purged entries
            entry = self._memory.get_stale(key)
        if entry is None:
            return None
        if entry.generation == held.generation:
            self._memory.evict(key)
            return None
        return self._write_cached(key, entry.envelope, held)

    def _write_back_newer(self, key: str, found: Envelope, held: Held) -> Envelope | None:
        """Replace the backend's answer if the local cache has a newer answer.

        If the backend has lost its contents, another process may have restored an older answer.
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
        self.write(
            envelope,
            envelope.fence,
            PurgeState(held.purge_counter, held.generation, self._watch.last_purge),
        )
        return envelope if self._memory.get_stale(key) else None

    def _report_fault(self, operation: str, error: Exception) -> None:
        self._watch.distrust()
        self._observer.store_failed(operation)
        if not isinstance(error, BreakerOpen):  # the breaker has already logged the outage
            # Log only the error's type, because the error's text may contain a store key or a host
            # name.
            log.warning("store %s failed: %s", operation, type(error).__name__)


def _tag(seal: Seal, subject: str) -> str:
    return seal.keyed_hash(f"subject|{subject}", 24)


def _question(lookup: Lookup, credential: str | None) -> str:
    return lookup.question + (f"|{credential}" if credential is not None else "")


def _newest_report(subject: Plate | Renavam, credential: str | None) -> str:
    return f"newest report|{subject.text}" + (f"|{credential}" if credential else "")
