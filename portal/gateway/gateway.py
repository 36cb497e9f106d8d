"""Answers lookups from the cache or the upstream, and coalesces concurrent misses."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple, cast, get_args

import msgspec

from portal.access.tokens import Identity
from portal.gateway import answer_check
from portal.gateway.envelope import Envelope, State, retention_s
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.lookup import (
    CacheStatus,
    Failure,
    FailureKind,
    Lookup,
    Observer,
    Served,
    Spend,
)
from portal.gateway.operations import REPORT, Policy
from portal.gateway.single_flight import SingleFlight, fence_now
from portal.gateway.store import FAILURE_SHARED_S, Store
from portal.upstream.errors import CircuitOpen, NotSent, TimedOut, Unfit, UpstreamError
from portal.upstream.protocol import Resource, Response, Upstream
from portal.vehicle.operation_name import OperationName
from portal.vehicle.plate import Plate

# An answer is stored under the lookup's store key. The lookup's rejection (400 or 404), previous
# answer and last failure are stored under the same key followed by one of these suffixes.
_REJECTED: Final = ":rejected"
_PREVIOUS: Final = ":previous"
_FAILED: Final = ":failed"

SHORTEST_RETRY_S = 1.0
_REFUSALS: Mapping[int, FailureKind] = {
    401: "refused_401",
    402: "no_credit",
    403: "refused_403",
    429: "busy",
}


class Snapshot(NamedTuple):
    """A caller's lookup, and its stored answer and rejection (400 or 404), each None if missing.

    The read began at ``read_at`` (monotonic seconds). If ``is_current`` is false, the backend could
    not be read, and may contain more.
    """

    lookup: Lookup
    caller: Identity
    key: str
    answer: Envelope | None
    rejection: Envelope | None
    read_at: float
    is_current: bool = True


class Gateway:
    """Answers lookups from the store or from the upstream."""

    def __init__(
        self,
        upstream: Upstream,
        store: Store,
        single_flight: SingleFlight[Served],
        ledger: Ledger,
        policy: Policy,
        observer: Observer | None = None,
        count_saved: Callable[[str, CacheStatus, int, str], object] = lambda *_: None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._observer = observer or Observer()
        self._count_saved = count_saved
        self.drift = answer_check.DriftQueue(self._observer)
        self._upstream = upstream
        self._ledger = ledger
        self._store = store
        self._single_flight = single_flight
        self._policy = policy
        self.terms = policy.terms
        self.last_purge = store.last_purge
        self._clock = clock

    def retention_s(self, operation: OperationName, status: int = 200, empty: bool = False) -> int:
        """Return the age in seconds at which an answer to ``operation`` is deleted."""
        return retention_s(self.terms[operation], status, empty)

    def read(self, lookup: Lookup, caller: Identity) -> Snapshot:
        """Return the stored entries of a lookup from the local cache or from the backend."""
        read_at, key = time.monotonic(), self._store.key(lookup, caller.credential)
        answer = self._store.recent(key)
        if answer is not None and self._state(lookup, answer) == "fresh":
            return Snapshot(lookup, caller, key, answer, None, read_at)
        (answer, rejection), _, is_current = self._store.read_current((key, key + _REJECTED))
        return Snapshot(lookup, caller, key, answer, rejection, read_at, is_current)

    def get_fresh(self, snapshot: Snapshot) -> Served | None:
        """Return the fresh answer or rejection of a snapshot, or None.

        Code that serves the result must count the hit (see ``AccessLogBuffer``).
        """
        lookup, answer, rejection = snapshot.lookup, snapshot.answer, snapshot.rejection
        current = (answer or rejection) and self._current(lookup, answer, rejection)
        return self._served(lookup, current, "hit") if current else None

    def cached(self, snapshot: Snapshot, spend: Spend = Spend.ASKED) -> Served | None:
        """Return the stored answer that ``spend`` allows, or None.

        Except with NEVER, a hit is counted under the caller's name.
        """
        served = None if spend in (Spend.AGAIN, Spend.NOW) else self.get_fresh(snapshot)
        # Do not count a NEVER. A NEVER never calls the upstream, so a stored answer saves no call.
        if spend is Spend.NEVER:
            return served or self._unexpired(snapshot.lookup, snapshot.answer)
        if served is not None:
            self._count(snapshot, "hit", snapshot.read_at)
        return served

    def fetch(
        self,
        lookup: Lookup,
        caller: Identity,
        spend: Spend = Spend.ASKED,
        snapshot: Snapshot | None = None,
    ) -> Served:
        """Return the answer to a lookup, as fresh as ``spend`` requires.

        ``snapshot`` is a result of ``read``. Without a snapshot, this method calls ``read`` itself.
        Raises Failure, also if the upstream has no record (404).
        """
        started = time.monotonic()
        snapshot = snapshot or self.read(lookup, caller)
        if (served := self.cached(snapshot, spend)) is not None:
            return _found(served)
        if spend in (Spend.LATER, Spend.NEVER) or not caller.may_spend:
            raise Failure("not_stored")
        try:
            served = _found(self._ask(snapshot, spend))
        except Failure as failure:
            seconds = time.monotonic() - started
            self._observer.failed(lookup.operation.name, failure.kind, seconds)
            raise
        self._count(snapshot, served.cache_status, started)
        return served

    def get_if_unchanged(self, key: str, fetched_at: float) -> bytes | None:
        """Return the locally cached body if it was fetched at ``fetched_at``, otherwise None."""
        held = self._store.recent(key)
        return held.body if held is not None and held.fetched_at == fetched_at else None

    def keep_as_newest(self, lookup: Lookup, caller: Identity) -> None:
        """Store a copy of a report as the newest report for the vehicle's page.

        Call this method only for a report that was made from the upstream's records. A report that
        was made from a caller's own data must not be shown to others.
        """
        key = self._store.key(lookup, caller.credential)
        newest = self._store.newest_report_key(lookup.subject, caller.credential)
        envelopes = self._store.read_current([key, newest]).envelopes
        if (report := envelopes[0]) is not None:
            fence = _next_fence(fence_now(), envelopes)
            self._store.write(msgspec.structs.replace(report, key=newest, fence=fence))

    def newest_report(self, plate: Plate, caller: Identity) -> Served | None:
        """Return a plate's unexpired newest report (see ``keep_as_newest``), or None."""
        key = self._store.newest_report_key(plate, caller.credential)
        return self._unexpired(Lookup(REPORT, plate), self._store.read(key), "hit")

    def previous(self, snapshot: Snapshot) -> Served | None:
        """Return the last earlier answer that differs from the snapshot's answer, or None.

        The vehicle's page compares the two answers to show what has changed.
        """
        replaced = self._store.read(snapshot.key + _PREVIOUS)
        if replaced is None or replaced.delete_at <= self._clock():
            return None
        return self._served(snapshot.lookup, replaced, "stale")

    def _current(
        self, lookup: Lookup, answer: Envelope | None, rejection: Envelope | None
    ) -> Envelope | None:
        """Return the fresh answer, a fresh rejection newer than the answer, or None."""
        if answer is not None and self._state(lookup, answer) == "fresh":
            return answer
        if rejection is None or self._state(lookup, rejection) != "fresh":
            return None
        return rejection if answer is None or rejection.fetched_at > answer.fetched_at else None

    def _unexpired(
        self, lookup: Lookup, answer: Envelope | None, status: CacheStatus = "stale"
    ) -> Served | None:
        """Return the answer if it is fresh or stale, or None if it has expired."""
        if answer is None or self._state(lookup, answer) == "expired":
            return None
        return self._served(lookup, answer, status)

    def _ask(self, snapshot: Snapshot, spend: Spend) -> Served:
        """Return the upstream's answer or, if the call fails, a stale answer.

        Raises Failure if no stale answer may be served.
        """
        not_before = None
        if spend in (Spend.AGAIN, Spend.NOW):
            since = snapshot.lookup.since
            not_before = self._clock() if since is None else since
        deadline = time.monotonic() + self._policy.deadline_s
        attempt = partial(self._attempt, snapshot, deadline, not_before)
        try:
            served, is_leader = self._single_flight.run(snapshot.key, attempt, deadline)
        except Failure as failure:
            # Read the entry again, because the vehicle may have been purged during the upstream
            # call.
            may_serve = failure.allows_stale and snapshot.answer and spend is not Spend.NOW
            stored = self._store.read(snapshot.key) if may_serve else None
            if (stale := self._unexpired(snapshot.lookup, stored)) is not None:
                return stale
            raise
        return served if is_leader else msgspec.structs.replace(served, cache_status="collapsed")

    def _attempt(
        self, snapshot: Snapshot, deadline: float, not_before: float | None, fence: int | None
    ) -> Served | None:
        """Return the result that another process has stored, or else the upstream's answer.

        Without ``fence``, another process has the key's lease, and the upstream is not called. A
        stored answer must be newer than ``not_before``. Raises Failure, also if another process has
        stored a failure.
        """
        lookup, key = snapshot.lookup, snapshot.key
        reading = self._store.read_current((key, key + _REJECTED, key + _FAILED))
        answer, rejection, note = reading.envelopes
        current = self._current(lookup, answer, rejection)
        if current is not None and (not_before is None or current.fetched_at > not_before):
            return self._served(lookup, current, "collapsed")
        if note is not None and 0 <= (age_s := self._clock() - note.fetched_at) < FAILURE_SHARED_S:
            kind = _failure_kind(note.failure)
            raise Failure(kind, note.retry_after_s, shared_s=FAILURE_SHARED_S - age_s)
        if fence is None:
            return None
        # A person or a script waits for the answer, and pays for it again if need be. A batch waits
        # until the store is back, because its owner confirmed a price without stored answers.
        if not reading.is_current and snapshot.caller.batch is not None:
            raise Failure("no_store")
        status: CacheStatus = "miss" if not_before is None else "request"
        fence = _next_fence(fence, reading.envelopes)
        envelope, stored = self._call(snapshot, deadline, fence, reading.purge_no)
        # Only the holder of the key's lease stores new answers, so ``answer``, which was read with
        # the lease, is still the previous answer.
        if stored and envelope.status == 200 and answer and _differs(answer, envelope):
            self._store.write(msgspec.structs.replace(answer, key=key + _PREVIOUS, fence=fence))
        return self._served(lookup, envelope, status, stored)

    def _call(
        self, snapshot: Snapshot, deadline: float, fence: int, purge_no: int
    ) -> tuple[Envelope, bool]:
        """Call the upstream, and store the answer. Return whether the store accepted it.

        If a failed call may have been charged, the failure is stored for FAILURE_SHARED_S seconds,
        so that a waiting process does not repeat the call. The backend rejects a write if the
        vehicle was purged during the call, or if this process lost the lease and the lease's next
        holder has already written under the same key.
        """
        lookup, key = snapshot.lookup, snapshot.key
        operation = lookup.operation.name
        entry = LedgerEntry(
            self._ledger,
            operation,
            key.partition(":")[0],
            self.terms[operation].price,
            snapshot.caller,
            deadline,
            lookup.last_purge,
            self._observer,
        )
        try:
            response = self._send(snapshot, entry)
        except Failure as failure:
            if failure.may_be_charged:
                note = Envelope(
                    key=key + _FAILED,
                    fetched_at=self._clock(),
                    keep_s=FAILURE_SHARED_S,
                    failure=failure.kind,
                    retry_after_s=failure.retry_after_s,
                    fence=fence,
                    purge_no=purge_no,
                )
                self._store.write(note)
            raise
        status = response.status
        if status == 200:
            self.drift.add(operation, response.body)
        if lookup.last_purge is not None:  # the report is made from answers that were read before
            purge_no = lookup.last_purge
        else:  # this process may not have learned yet of a purge before the request
            purge_no = max(purge_no, entry.last_purge or 0)
        envelope = Envelope(
            key=key if status == 200 else key + _REJECTED,
            fetched_at=self._clock(),
            keep_s=self.retention_s(operation, status, response.is_empty),
            origin=response.origin,
            status=status,
            empty=response.is_empty,
            body=response.body,
            operation=operation,
            fence=fence,
            purge_no=purge_no,
        )
        return envelope, self._store.write(envelope)

    def _send(self, snapshot: Snapshot, entry: LedgerEntry) -> Response:
        """Send a lookup upstream, and record each request in the ledger. Raises Failure.

        A response with status 200 is returned unchanged. A response with status 400 or 404 is
        returned with only the upstream's message as its body. Any other status or error raises
        Failure.
        """
        lookup, caller, policy = snapshot.lookup, snapshot.caller, self._policy
        resource = Resource(
            method=lookup.operation.method,
            path=lookup.path,
            subject=entry.subject,
            credential=policy.operator_credential or caller.credential or "",
            body=lookup.body,
            check=partial(self._checked, lookup),
            payer=caller.name if policy.operator_credential is None else None,
        )
        try:
            response = self._upstream.send(resource, entry, entry.deadline)
        except UpstreamError as error:
            raise _failure(error) from None
        if response.status in (200, 400, 404):
            return response
        kind = _REFUSALS.get(response.status, "bad_answer")
        if kind in ("refused_401", "refused_403") and policy.operator_credential is not None:
            raise Failure("operator_refused")
        raise Failure(kind, response.retry_after_s if kind == "busy" else None)

    def _checked(self, lookup: Lookup, response: Response) -> Response:
        """Validate the body of a response. Raises Unusable or Unfit.

        A proxy's error page must not be mistaken for a rejected plate (400), for a vehicle without
        a record (404) or for a refused credential (401, 403).
        """
        policy = self._policy
        if response.status == 200:
            is_empty = answer_check.check(lookup, response.body, policy.hidden_marker)
            return replace(response, is_empty=is_empty)
        body = answer_check.message_body(
            response.body,
            policy.operator_credential,
            is_absence=response.status == 404,
        )
        return replace(response, body=body)

    def _count(self, snapshot: Snapshot, status: CacheStatus, since: float) -> None:
        operation = snapshot.lookup.operation.name
        self._observer.served(operation, status, time.monotonic() - since, 1)
        if status not in ("miss", "request"):
            self._count_saved(operation, status, 1, snapshot.caller.name)

    def _state(self, lookup: Lookup, envelope: Envelope) -> State:
        return envelope.freshness(self.terms[lookup.operation.name], self._clock()).state

    def _served(
        self, lookup: Lookup, envelope: Envelope, status: CacheStatus, stored: bool = True
    ) -> Served:
        freshness = envelope.freshness(self.terms[lookup.operation.name], self._clock())
        return Served(
            status=envelope.status,
            body=envelope.body,
            cache_status=status,
            stored=stored,
            fetched_at=envelope.fetched_at,
            age_s=freshness.age_s,
            ttl_s=freshness.ttl_s,
            origin=envelope.origin,
            delete_at=envelope.delete_at,
            purge_no=envelope.purge_no,
        )


def _next_fence(fence: int, envelopes: Sequence[Envelope | None]) -> int:
    """Return a fence that is higher than those of the stored envelopes.

    A fence is a time (see ``Leases``), and may be lower after the clock was set back. The store
    would then reject the newer answer.
    """
    for envelope in envelopes:
        if envelope is not None:
            fence = max(fence, envelope.fence + 1)
    return fence


def _found(served: Served) -> Served:
    """Return an answer, or raise Failure if it says that the upstream has no record."""
    if served.status == 404:
        raise Failure("not_found")
    return served


def _differs(replaced: Envelope, newer: Envelope) -> bool:
    return replaced.fetched_at < newer.fetched_at and replaced.body != newer.body


def _failure_kind(text: str) -> FailureKind:
    return cast(FailureKind, text) if text in get_args(FailureKind) else "bad_answer"


def _failure(error: UpstreamError) -> Failure:
    match error:
        case CircuitOpen():
            wait_s = max(SHORTEST_RETRY_S, error.retry_after_s)
            return Failure("unreachable", wait_s, held_back=True)
        case NotSent():
            return Failure("unreachable", SHORTEST_RETRY_S)
        case TimedOut():
            return Failure("too_slow", held_back=error.held_back)
        case Unfit() if str(error) == answer_check.OTHER_VEHICLE:
            return Failure("other_vehicle", held_back=error.held_back)
        case _:
            return Failure("bad_answer", held_back=error.held_back)
