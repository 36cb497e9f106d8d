"""The gateway: hit, stale or miss. Goes to the upstream once a question, and never for nothing."""

import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast, get_args

import msgspec

from portal.gateway import validity
from portal.gateway.envelope import Envelope
from portal.gateway.freshness import Freshness, judge, retention_s
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
from portal.gateway.operations import REPORT, Name, Terms
from portal.gateway.single_flight import SingleFlight
from portal.gateway.store import FAILURE_SHARED_S, Store
from portal.upstream import (
    CircuitOpen,
    NotSent,
    Resource,
    Response,
    TimedOut,
    Unusable,
    Upstream,
    UpstreamError,
)
from portal.vehicle import Plate

SHORTEST_RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator decided: lifetimes and prices, seconds for one fetch, the marker, and
    whose credential goes upstream (None: the caller's own)."""

    terms: Mapping[Name, Terms]
    deadline_s: float
    hidden_marker: str
    operator_credential: str | None


@dataclass(frozen=True, slots=True)
class _Brought:
    """What a flight brought: the answer, and whether the store took it."""

    envelope: Envelope
    stored: bool


class Gateway:
    """Answers lookups out of the store or from the upstream."""

    def __init__(
        self,
        upstream: Upstream,
        store: Store,
        single_flight: SingleFlight[_Brought],
        ledger: Ledger,
        policy: Policy,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._upstream = upstream
        self._store = store
        self._single_flight = single_flight
        self._ledger = ledger
        self._policy = policy
        self._clock = clock

    def terms(self, operation: Name) -> Terms:
        return self._policy.terms[operation]

    def fetch(
        self, lookup: Lookup, caller: Caller, directive: Directive = Directive.NORMAL
    ) -> Served:
        """The answer to a lookup, as fresh as the directive asks; raises Failure."""
        # Only the caller's own credential divides the store: an operator's is everybody's.
        key = self._store.key(lookup, caller.credential)
        held = self._store.read(key)
        freshness = self._judge(lookup, held) if held else None
        if held and freshness and directive is not Directive.REFRESH:
            if freshness.state == "fresh":
                return _served(held, freshness, "hit", stored=True)
            if freshness.state == "stale" and directive is Directive.PEEK:
                return _served(held, freshness, "stale", stored=True)
        if directive in (Directive.ONLY_IF_CACHED, Directive.PEEK):
            raise Failure("not_stored")
        try:
            return self._ask(key, lookup, caller, directive)
        except Failure as failure:
            if failure.stale_helps and held and held.status == 200:
                freshness = self._judge(lookup, held)
                if freshness.state != "expired":
                    return _served(held, freshness, "stale", stored=True)
            raise

    def newest_report(self, plate: Plate, caller: Caller) -> Served | None:
        """The report of a plate that was written last, from whatever data; None when none is
        within its lifetime."""
        held = self._store.read(self._store.newest_report_key(plate, caller.credential))
        if held is None:
            return None
        freshness = self._judge(Lookup(REPORT, plate), held)
        return None if freshness.state == "expired" else _served(held, freshness, "hit", True)

    def _ask(self, key: str, lookup: Lookup, caller: Caller, directive: Directive) -> Served:
        asked_at = self._clock()
        deadline = time.monotonic() + self._policy.deadline_s

        def look() -> _Brought | None:
            return self._look(key, lookup, asked_at if directive is Directive.REFRESH else None)

        def lead() -> _Brought:
            return self._lead(key, lookup, caller, deadline)

        brought, led = self._single_flight.run(key, lead, look, deadline)
        how: CacheStatus = "collapsed"
        if led:
            how = "request" if directive is Directive.REFRESH else "miss"
        envelope = brought.envelope
        return _served(envelope, self._judge(lookup, envelope), how, brought.stored)

    def _look(self, key: str, lookup: Lookup, not_before: float | None) -> _Brought | None:
        """What another process has brought meanwhile; raises the Failure it met."""
        held = self._store.read(key)
        if held is not None and (
            held.fetched_at >= not_before
            if not_before is not None
            else self._judge(lookup, held).state == "fresh"
        ):
            return _Brought(held, stored=True)
        note = self._store.read_failure(_note_key(key))
        if note is not None and self._clock() - note.fetched_at < FAILURE_SHARED_S:
            raise Failure(_kind(note.failure), note.retry_after_s)
        return None

    def _lead(self, key: str, lookup: Lookup, caller: Caller, deadline: float) -> _Brought:
        """Ask, judge, store. A failure that cost something is remembered for a moment."""
        try:
            return self._keep(key, lookup, caller, self._send(lookup, caller, deadline))
        except Failure as failure:
            if failure.costs:
                self._store.note_failure(
                    Envelope(
                        key=_note_key(key),
                        fetched_at=self._clock(),
                        origin="",
                        status=0,
                        empty=True,
                        body=b"",
                        failure=failure.kind,
                        retry_after_s=failure.retry_after_s,
                    )
                )
            raise

    def _send(self, lookup: Lookup, caller: Caller, deadline: float) -> Response:
        def check(body: bytes) -> None:
            try:
                validity.check(lookup, body, self._policy.hidden_marker)
            except validity.NoAnswer as error:
                raise Unusable(str(error)) from None

        operation = lookup.operation
        subject = self._store.tag(lookup.subject.text)
        account = self._ledger.account(
            operation.name, subject, self.terms(operation.name).price, caller
        )
        resource = Resource(
            method=operation.method,
            path=lookup.path,
            subject=subject,
            credential=self._policy.operator_credential or caller.credential or "",
            body=lookup.body,
            check=check,
        )
        try:
            return self._upstream.send(resource, account, deadline)
        except UpstreamError as error:
            raise _failure(error) from None

    def _keep(self, key: str, lookup: Lookup, caller: Caller, response: Response) -> _Brought:
        if response.status not in (200, 400):
            raise self._refusal(response)
        body = response.body
        if response.status == 400 and not validity.is_message(body):
            body = b""  # nothing worth relaying: the web room has the contract's message
        envelope = Envelope(
            key=key,
            fetched_at=self._clock(),
            origin=response.origin,
            status=response.status,
            empty=response.status == 200 and validity.is_empty(body),
            body=body,
        )
        keep_s = retention_s(self.terms(lookup.operation.name), envelope.status, envelope.empty)
        stored = self._store.write(envelope, keep_s)
        if lookup.operation is REPORT and envelope.status == 200:
            newest = self._store.newest_report_key(lookup.subject, caller.credential)
            self._store.write(msgspec.structs.replace(envelope, key=newest), keep_s)
        return _Brought(envelope, stored)

    def _refusal(self, response: Response) -> Failure:
        """An answer of 4xx, by whose trouble it is."""
        match response.status:
            case 401 | 403 if self._policy.operator_credential is not None:
                return Failure("operator_refused")
            case 401:
                return Failure("refused_401")
            case 403:
                return Failure("refused_403")
            case 404:
                return Failure("not_found")
            case 429:
                return Failure("busy", response.retry_after_s)
            case _:
                return Failure("bad_answer")

    def _judge(self, lookup: Lookup, envelope: Envelope) -> Freshness:
        chance = zlib.crc32(f"{envelope.key}{envelope.fetched_at}".encode()) / 2**32
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


def _failure(error: UpstreamError) -> Failure:
    match error:
        case CircuitOpen():
            return Failure("unreachable", max(SHORTEST_RETRY_S, error.retry_after_s))
        case NotSent():
            return Failure("unreachable", SHORTEST_RETRY_S)
        case TimedOut():
            return Failure("too_slow")
        case _:
            return Failure("bad_answer")


def _note_key(key: str) -> str:
    return key + ":failed"


def _kind(text: str) -> FailureKind:
    return cast(FailureKind, text) if text in get_args(FailureKind) else "bad_answer"
