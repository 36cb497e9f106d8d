"""One lookup goes upstream: written into the ledger, judged, failures in the gateway's words."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from portal.gateway import answer_check
from portal.gateway.ledger import Ledger, LedgerEntry, LedgerSession
from portal.gateway.lookup import Caller, Failure, Lookup
from portal.gateway.observer import Observer
from portal.gateway.operations import CachePolicy, Name
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
from portal.vehicle import unexpected, unexpected_members

SHORTEST_RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Policy:
    """What the operator decided: lifetimes and prices, seconds for one fetch, the marker, and
    whose credential goes upstream (None: the caller's own)."""

    terms: Mapping[Name, CachePolicy]
    deadline_s: float
    hidden_marker: str
    operator_credential: str | None

    def price(self, operation: Name) -> Decimal:
        return self.terms[operation].price


class UpstreamClient:
    """Sends one lookup and returns a 200, or a 400 that holds its message alone; everything else
    is a Failure."""

    def __init__(
        self, upstream: Upstream, ledger: Ledger, policy: Policy, observer: Observer
    ) -> None:
        self._upstream = upstream
        self._ledger = ledger
        self._policy = policy
        self._observer = observer

    def ask(
        self,
        lookup: Lookup,
        subject: str,
        caller: Caller,
        deadline: float,
        purges: int | None = None,
    ) -> Response:
        """``subject`` is the vehicle's tag; ``purges`` as in ``Ledger.account``."""
        operation = lookup.operation
        account = _ObservedAccount(
            self._ledger.account(
                operation.name,
                subject,
                self._policy.price(operation.name),
                caller,
                deadline,
                purges,
            ),
            lambda origin, outcome, seconds: self._observer.asked(
                operation.name, origin, outcome, seconds
            ),
        )
        resource = Resource(
            method=operation.method,
            path=lookup.path,
            subject=subject,
            credential=self._policy.operator_credential or caller.credential or "",
            body=lookup.body,
            check=lambda status, body: self._check(lookup, status, body),
            payer=caller.name if self._policy.operator_credential is None else None,
        )
        try:
            response = self._upstream.send(resource, account, deadline)
        except UpstreamError as error:
            raise _failure(error) from None
        match response.status:
            case 200:
                return response
            case 400:
                secret = self._policy.operator_credential
                return replace(response, body=answer_check.message_body(response.body, secret))
            case _:
                raise self._refusal(response)

    def _check(self, lookup: Lookup, status: int, body: bytes) -> None:
        """Judge the body of a 200, 400 or 404: a page of a proxy is neither a rejected plate nor
        a vehicle without a record. Other statuses decide alone, whatever their body."""
        try:
            if status != 200:
                answer_check.message_body(body)
                return
            document = answer_check.check(lookup, body, self._policy.hidden_marker)
        except answer_check.NoAnswer as error:
            raise Unusable(str(error)) from None
        name = lookup.operation.name
        if fields := unexpected(name, document["result"]) | unexpected_members(document):
            self._observer.drifted(name, fields)

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


@dataclass(frozen=True, slots=True)
class _ObservedAccount:
    """The ledger's account, telling the observer how each attempt ended."""

    purchase: LedgerSession
    tell: Callable[[str, str, float], None]

    def announce(self, origin: str) -> "_ObservedAttempt":
        return _ObservedAttempt(self.purchase.announce(origin), origin, time.monotonic(), self.tell)


@dataclass(frozen=True, slots=True)
class _ObservedAttempt:
    attempt: LedgerEntry
    origin: str
    started: float
    tell: Callable[[str, str, float], None]

    def ended(self, outcome: str, status: int | None = None) -> None:
        self.attempt.ended(outcome, status)
        self.tell(self.origin, outcome, time.monotonic() - self.started)
