"""Cached upstream lookups: hit, stale or miss. Concurrent misses are coalesced."""

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast, get_args

from portal.gateway import answer_check
from portal.gateway.backend import Mark
from portal.gateway.envelope import Envelope
from portal.gateway.freshness import Freshness, compute_freshness, retention_s
from portal.gateway.lease import fence_now
from portal.gateway.ledger import Ledger
from portal.gateway.lookup import (
    CacheStatus,
    Caller,
    Directive,
    Failure,
    FailureKind,
    Lookup,
    Served,
)
from portal.gateway.observer import NullObserver, Observer
from portal.gateway.operations import REPORT, CachePolicy, Name
from portal.gateway.single_flight import SingleFlight
from portal.gateway.store import FAILURE_SHARED_S, Store
from portal.gateway.upstream_client import Policy, UpstreamClient
from portal.upstream import Response, Upstream
from portal.vehicle import Plate


@dataclass(frozen=True, slots=True)
class _FlightResult:
    """A flight's answer, and whether the store accepted it."""

    envelope: Envelope
    stored: bool


class Gateway:
    """Answers lookups from the store or from the upstream."""

    def __init__(
        self,
        upstream: Upstream,
        store: Store,
        single_flight: SingleFlight[_FlightResult],
        ledger: Ledger,
        policy: Policy,
        observer: Observer | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._observer = observer or NullObserver()
        self._client = UpstreamClient(upstream, ledger, policy, self._observer)
        self._store = store
        self._single_flight = single_flight
        self._policy = policy
        self._clock = clock

    def terms(self, operation: Name) -> CachePolicy:
        return self._policy.terms[operation]

    def kept_s(self, operation: Name, status: int = 200, empty: bool = False) -> int:
        """Return the seconds after which such an answer is deleted."""
        return retention_s(self.terms(operation), status, empty)

    def fetch(
        self, lookup: Lookup, caller: Caller, directive: Directive = Directive.NORMAL
    ) -> Served:
        """Return the answer to a lookup, as fresh as the directive asks; raises Failure."""
        started = time.monotonic()
        operation = lookup.operation.name
        try:
            served = self._fetch(lookup, caller, directive)
        except Failure as failure:
            if failure.kind != "not_stored":
                self._observer.failed(operation, failure.kind, time.monotonic() - started)
            raise
        if directive is not Directive.PEEK:  # PEEK requests do not count as savings
            self._observer.served(operation, served.cache_status, time.monotonic() - started)
        return served

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """Return the store key of a lookup's answer.

        ``credential`` is the caller's own, or None.
        """
        return self._store.key(lookup, credential)

    def get_fresh(self, lookup: Lookup, key: str) -> Served | None:
        """Return the fresh answer under a lookup's key, or None if ``fetch`` is needed.

        The caller must call ``count_hits``.
        """
        held = self._store.read(key)
        return self._hit(lookup, held) if held is not None else None

    def get_if_unchanged(self, key: str, fetched_at: float) -> bytes | None:
        """Return the body of a recently served answer, from the local cache only.

        None if the local cache has no confirmed entry, or one with another ``fetched_at``.
        """
        held = self._store.recent(key)
        return held.body if held is not None and held.fetched_at == fetched_at else None

    def count_hits(self, operation: str, seconds: float, times: int) -> None:
        self._observer.served(operation, "hit", seconds, times)

    def keep_as_newest(self, lookup: Lookup, caller: Caller) -> None:
        """Store a copy of a report as the newest one of its vehicle.

        The vehicle's page shows the newest report. Called only for a report written from the
        upstream's own records. A report on a caller's own data is available to that caller alone.
        """
        key = self._store.key(lookup, caller.credential)
        mark = self._store.mark(key)
        held = self._store.read(key)
        if held is not None:
            newest = self._store.newest_report_key(lookup.subject, caller.credential)
            self._store.copy(held, newest, fence_now(), mark)

    def newest_report(self, plate: Plate, caller: Caller) -> Served | None:
        """Return the report last stored as a plate's newest.

        None if there is none within its lifetime.
        """
        held = self._store.read(self._store.newest_report_key(plate, caller.credential))
        if held is None:
            return None
        freshness = self._freshness(Lookup(REPORT, plate), held)
        return None if freshness.state == "expired" else _served(held, freshness, "hit", True)

    def previous(self, lookup: Lookup, caller: Caller) -> Served | None:
        """Return the last different answer before the stored one, if retained.

        Its own retention applies. Changes are detected by comparing the two.
        """
        replaced = self._store.read(_previous(self._store.key(lookup, caller.credential)))
        if replaced is None or replaced.delete_at <= self._clock():
            return None
        return _served(replaced, self._freshness(lookup, replaced), "stale", stored=True)

    def _fetch(self, lookup: Lookup, caller: Caller, directive: Directive) -> Served:
        # Only a caller's own credential is part of the key. Answers fetched with the operator's
        # credential are shared by all callers.
        key = self._store.key(lookup, caller.credential)
        held = self._store.read(key)
        if directive is not Directive.REFRESH:
            current = self._current(key, lookup, held)
            if current is not None:
                return _served(current, self._freshness(lookup, current), "hit", stored=True)
        stale = held if held and self._freshness(lookup, held).state == "stale" else None
        if stale and directive is Directive.PEEK:
            return _served(stale, self._freshness(lookup, stale), "stale", stored=True)
        if directive in (Directive.ONLY_IF_CACHED, Directive.PEEK):
            raise Failure("not_stored")
        try:
            return self._ask(key, lookup, caller, directive)
        except Failure as failure:
            # Read again: the entry may have been purged during the upstream call.
            held = self._store.read(key) if failure.allows_stale and held else None
            if held:
                freshness = self._freshness(lookup, held)
                if freshness.state != "expired":
                    return _served(held, freshness, "stale", stored=True)
            raise

    def _hit(self, lookup: Lookup, held: Envelope) -> Served | None:
        freshness = self._freshness(lookup, held)
        return _served(held, freshness, "hit", True) if freshness.state == "fresh" else None

    def _current(
        self, key: str, lookup: Lookup, held: Envelope | None, use_local_cache: bool = True
    ) -> Envelope | None:
        """Return a fresh answer, or a fresh rejection (400) newer than the last answer.

        Rejections are stored under a key of their own, so a rejection never replaces an answer.
        """
        if held is not None and self._freshness(lookup, held).state == "fresh":
            return held
        rejected = self._store.read(_rejected(key), use_local_cache)
        if rejected is None or self._freshness(lookup, rejected).state != "fresh":
            return None
        return rejected if held is None or rejected.fetched_at > held.fetched_at else None

    def _ask(self, key: str, lookup: Lookup, caller: Caller, directive: Directive) -> Served:
        asked_at = self._clock()
        deadline = time.monotonic() + self._policy.deadline_s

        def poll() -> _FlightResult | None:
            return self._poll(key, lookup, asked_at if directive is Directive.REFRESH else None)

        def lead(fence: int) -> _FlightResult:
            return self._lead(key, lookup, caller, deadline, fence)

        result, is_leader = self._single_flight.run(key, lead, poll, deadline)
        status: CacheStatus = "collapsed"
        if is_leader:
            status = "request" if directive is Directive.REFRESH else "miss"
        envelope = result.envelope
        return _served(envelope, self._freshness(lookup, envelope), status, result.stored)

    def _poll(self, key: str, lookup: Lookup, not_before: float | None) -> _FlightResult | None:
        """Return the result of another process, or None.

        Raises the Failure that the other process met.
        """
        held = self._store.read(key, use_local_cache=False)
        result = self._current(key, lookup, held, use_local_cache=False)
        if result is not None and (not_before is None or result.fetched_at > not_before):
            return _FlightResult(result, stored=True)
        note = self._store.read(_failed(key), use_local_cache=False)
        if note is not None and 0 <= self._clock() - note.fetched_at < FAILURE_SHARED_S:
            raise Failure(_failure_kind(note.failure), note.retry_after_s)
        return None

    def _lead(
        self, key: str, lookup: Lookup, caller: Caller, deadline: float, fence: int
    ) -> _FlightResult:
        """Call the upstream, check the answer and store it.

        A failure that may have been charged is stored for FAILURE_SHARED_S. If the vehicle is
        purged during the call, the result is returned to its caller but not stored.
        """
        mark = self._store.mark(key)
        tag = self._store.tag(lookup.subject.text)
        try:
            response = self._client.ask(lookup, tag, caller, deadline, mark.purges)
        except Failure as failure:
            if failure.costs:
                note = Envelope(
                    key=_failed(key),
                    fetched_at=self._clock(),
                    keep_s=FAILURE_SHARED_S,
                    origin="",
                    status=0,
                    empty=True,
                    body=b"",
                    failure=failure.kind,
                    retry_after_s=failure.retry_after_s,
                )
                self._store.write(note, fence, mark)
            raise
        return self._store_answer(key, lookup, response, fence, mark)

    def _store_answer(
        self, key: str, lookup: Lookup, response: Response, fence: int, mark: Mark
    ) -> _FlightResult:
        status, body = response.status, response.body
        empty = status == 200 and answer_check.is_empty(body)
        envelope = Envelope(
            key=key if status == 200 else _rejected(key),
            fetched_at=self._clock(),
            keep_s=self.kept_s(lookup.operation.name, status, empty),
            origin=response.origin,
            status=status,
            empty=empty,
            body=body,
            operation=lookup.operation.name,
        )
        replaced = self._store.read(key, use_local_cache=False) if status == 200 else None
        stored = self._store.write(envelope, fence, mark)
        if stored and replaced and _differs(replaced, envelope):
            # The copy keeps its own times, so its retention does not change.
            self._store.copy(replaced, _previous(key), fence, mark)
        return _FlightResult(envelope, stored)

    def _freshness(self, lookup: Lookup, envelope: Envelope) -> Freshness:
        # The vehicle's tag, not the whole key, so that the copies of a report expire with it.
        tag = envelope.key.partition(":")[0]
        chance = zlib.crc32(f"{tag}{envelope.fetched_at}".encode()) / 2**32
        return compute_freshness(
            self.terms(lookup.operation.name),
            envelope.status,
            envelope.empty,
            envelope.fetched_at,
            self._clock(),
            chance,
        )


def _served(envelope: Envelope, freshness: Freshness, status: CacheStatus, stored: bool) -> Served:
    return Served(
        status=envelope.status,
        body=envelope.body,
        cache_status=status,
        stored=stored,
        fetched_at=envelope.fetched_at,
        age_s=freshness.age_s,
        ttl_s=freshness.ttl_s,
        origin=envelope.origin,
    )


def _rejected(key: str) -> str:
    return key + ":rejected"


def _previous(key: str) -> str:
    return key + ":previous"


def _differs(replaced: Envelope, newer: Envelope) -> bool:
    return replaced.fetched_at < newer.fetched_at and replaced.body != newer.body


def _failed(key: str) -> str:
    return key + ":failed"


def _failure_kind(text: str) -> FailureKind:
    return cast(FailureKind, text) if text in get_args(FailureKind) else "bad_answer"
