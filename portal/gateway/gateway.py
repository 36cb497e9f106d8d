"""The gateway: hit, stale or miss. Goes to the upstream once a question, and never for nothing."""

import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast, get_args

from portal.gateway import answer_check
from portal.gateway.backend import Mark
from portal.gateway.envelope import Envelope
from portal.gateway.freshness import Freshness, judge, retention_s
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
    """What a flight brought: the answer, and whether the store took it."""

    envelope: Envelope
    stored: bool


class Gateway:
    """Answers lookups out of the store or from the upstream."""

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
        self._asker = UpstreamClient(upstream, ledger, policy, self._observer)
        self._store = store
        self._single_flight = single_flight
        self._policy = policy
        self._clock = clock

    def terms(self, operation: Name) -> CachePolicy:
        return self._policy.terms[operation]

    def kept_s(self, operation: Name, status: int = 200, empty: bool = False) -> int:
        """Seconds after which an answer of this kind is deleted."""
        return retention_s(self.terms(operation), status, empty)

    def fetch(
        self, lookup: Lookup, caller: Caller, directive: Directive = Directive.NORMAL
    ) -> Served:
        """The answer to a lookup, as fresh as the directive asks; raises Failure."""
        started = time.monotonic()
        operation = lookup.operation.name
        try:
            served = self._fetch(lookup, caller, directive)
        except Failure as failure:
            if failure.kind != "not_stored":
                self._observer.failed(operation, failure.kind, time.monotonic() - started)
            raise
        if directive is not Directive.PEEK:  # a bot's glance is nobody's saving
            self._observer.served(operation, served.cache_status, time.monotonic() - started)
        return served

    def key(self, lookup: Lookup, credential: str | None) -> str:
        """Where a lookup's answer is stored; ``credential`` is the caller's own, or None."""
        return self._store.key(lookup, credential)

    def get_fresh(self, lookup: Lookup, key: str) -> Served | None:
        """The fresh answer stored under a lookup's key, or None for whatever ``fetch`` is for.

        Who serves it counts it with ``count_hits``.
        """
        held = self._store.read(key)
        return self._hit(lookup, held) if held is not None else None

    def get_if_unchanged(self, key: str, fetched_at: float) -> bytes | None:
        """The body of an answer served a moment ago, while the process memory vouches for it."""
        held = self._store.recent(key)
        return held.body if held is not None and held.fetched_at == fetched_at else None

    def count_hits(self, operation: str, seconds: float, times: int) -> None:
        self._observer.served(operation, "hit", seconds, times)

    def keep_as_newest(self, lookup: Lookup, caller: Caller) -> None:
        """Let a stored report be the one that its vehicle's page shows.

        Asked for by whoever had it written from the upstream's own records: a report on a
        caller's own data is that caller's alone.
        """
        key = self._store.key(lookup, caller.credential)
        mark = self._store.mark(key)
        held = self._store.read(key)
        if held is not None:
            newest = self._store.newest_report_key(lookup.subject, caller.credential)
            self._store.copy(held, newest, fence_now(), mark)

    def newest_report(self, plate: Plate, caller: Caller) -> Served | None:
        """The report last kept as a plate's newest; None when none is within its lifetime."""
        held = self._store.read(self._store.newest_report_key(plate, caller.credential))
        if held is None:
            return None
        freshness = self._judge(Lookup(REPORT, plate), held)
        return None if freshness.state == "expired" else _served(held, freshness, "hit", True)

    def previous(self, lookup: Lookup, caller: Caller) -> Served | None:
        """The last answer that differed from the stored one, while its own retention lasts: what
        has changed is told by comparing the two."""
        replaced = self._store.read(_previous(self._store.key(lookup, caller.credential)))
        if replaced is None or replaced.delete_at <= self._clock():
            return None
        return _served(replaced, self._judge(lookup, replaced), "stale", stored=True)

    def _fetch(self, lookup: Lookup, caller: Caller, directive: Directive) -> Served:
        # Only the caller's own credential divides the store: an operator's is everybody's.
        key = self._store.key(lookup, caller.credential)
        held = self._store.read(key)
        if directive is not Directive.REFRESH:
            current = self._current(key, lookup, held)
            if current is not None:
                return _served(current, self._judge(lookup, current), "hit", stored=True)
        stale = held if held and self._judge(lookup, held).state == "stale" else None
        if stale and directive is Directive.PEEK:
            return _served(stale, self._judge(lookup, stale), "stale", stored=True)
        if directive in (Directive.ONLY_IF_CACHED, Directive.PEEK):
            raise Failure("not_stored")
        try:
            return self._ask(key, lookup, caller, directive)
        except Failure as failure:
            # Read anew: it may have been purged while we asked.
            held = self._store.read(key) if failure.allows_stale and held else None
            if held:
                freshness = self._judge(lookup, held)
                if freshness.state != "expired":
                    return _served(held, freshness, "stale", stored=True)
            raise

    def _hit(self, lookup: Lookup, held: Envelope) -> Served | None:
        freshness = self._judge(lookup, held)
        return _served(held, freshness, "hit", True) if freshness.state == "fresh" else None

    def _current(
        self, key: str, lookup: Lookup, held: Envelope | None, use_local_cache: bool = True
    ) -> Envelope | None:
        """A fresh answer, or a rejection (400) that came after the last one. Rejections have a
        place of their own: a bad answer never replaces a good one."""
        if held is not None and self._judge(lookup, held).state == "fresh":
            return held
        rejected = self._store.read(_rejected(key), use_local_cache)
        if rejected is None or self._judge(lookup, rejected).state != "fresh":
            return None
        return rejected if held is None or rejected.fetched_at > held.fetched_at else None

    def _ask(self, key: str, lookup: Lookup, caller: Caller, directive: Directive) -> Served:
        asked_at = self._clock()
        deadline = time.monotonic() + self._policy.deadline_s

        def look() -> _FlightResult | None:
            return self._look(key, lookup, asked_at if directive is Directive.REFRESH else None)

        def lead(fence: int) -> _FlightResult:
            return self._lead(key, lookup, caller, deadline, fence)

        brought, led = self._single_flight.run(key, lead, look, deadline)
        how: CacheStatus = "collapsed"
        if led:
            how = "request" if directive is Directive.REFRESH else "miss"
        envelope = brought.envelope
        return _served(envelope, self._judge(lookup, envelope), how, brought.stored)

    def _look(self, key: str, lookup: Lookup, not_before: float | None) -> _FlightResult | None:
        """What another process has brought meanwhile; raises the Failure it met."""
        held = self._store.read(key, use_local_cache=False)
        brought = self._current(key, lookup, held, use_local_cache=False)
        if brought is not None and (not_before is None or brought.fetched_at > not_before):
            return _FlightResult(brought, stored=True)
        note = self._store.read(_failed(key), use_local_cache=False)
        if note is not None and 0 <= self._clock() - note.fetched_at < FAILURE_SHARED_S:
            raise Failure(_kind(note.failure), note.retry_after_s)
        return None

    def _lead(
        self, key: str, lookup: Lookup, caller: Caller, deadline: float, fence: int
    ) -> _FlightResult:
        """Ask, judge, store. A failure that cost something is remembered for a moment.

        What the vehicle's purge meets under way reaches its caller, but is not stored.
        """
        mark = self._store.mark(key)
        tag = self._store.tag(lookup.subject.text)
        try:
            response = self._asker.ask(lookup, tag, caller, deadline, mark.purges)
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
        return self._keep(key, lookup, response, fence, mark)

    def _keep(
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
            # Under its own times, so that it is deleted when it would have been anyway.
            self._store.copy(replaced, _previous(key), fence, mark)
        return _FlightResult(envelope, stored)

    def _judge(self, lookup: Lookup, envelope: Envelope) -> Freshness:
        # The vehicle's tag, not the whole key: the copies of a report expire with it.
        tag = envelope.key.partition(":")[0]
        chance = zlib.crc32(f"{tag}{envelope.fetched_at}".encode()) / 2**32
        return judge(
            self.terms(lookup.operation.name),
            envelope.status,
            envelope.empty,
            envelope.fetched_at,
            self._clock(),
            chance,
        )


def _served(envelope: Envelope, freshness: Freshness, how: CacheStatus, stored: bool) -> Served:
    return Served(
        status=envelope.status,
        body=envelope.body,
        cache_status=how,
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


def _differs(replaced: Envelope, by: Envelope) -> bool:
    return replaced.fetched_at < by.fetched_at and replaced.body != by.body


def _failed(key: str) -> str:
    return key + ":failed"


def _kind(text: str) -> FailureKind:
    return cast(FailureKind, text) if text in get_args(FailureKind) else "bad_answer"
