"""Sends one lookup upstream, with a ledger row, and maps errors to Failure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from portal.gateway import answer_check
from portal.gateway.drift_queue import DriftQueue
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.lookup import Caller, Failure, Lookup, Observer
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

SHORTEST_RETRY_S = 1.0


@dataclass(frozen=True, slots=True)
class Policy:
    """The operator's settings for upstream calls.

    ``terms`` are the lifetimes and prices of each operation, ``deadline_s`` the seconds for one
    fetch, ``hidden_marker`` the text that stands for a hidden value, and ``operator_credential``
    the credential that is sent upstream (None: the caller's own).
    """

    terms: Mapping[Name, CachePolicy]
    deadline_s: float
    hidden_marker: str
    operator_credential: str | None

    def price(self, operation: Name) -> Decimal:
        return self.terms[operation].price


class UpstreamClient:
    """Sends one lookup upstream.

    Returns a 200, or a 400 reduced to its message. All other results raise Failure.
    """

    def __init__(
        self, upstream: Upstream, ledger: Ledger, policy: Policy, observer: Observer
    ) -> None:
        self._upstream = upstream
        self._ledger = ledger
        self._policy = policy
        self._observer = observer
        self.drift = DriftQueue(observer)

    def ask(
        self,
        lookup: Lookup,
        subject: str,
        caller: Caller,
        deadline: float,
        purges: int | None = None,
    ) -> Response:
        """Send a lookup and return its response; raises Failure.

        ``subject`` is the vehicle's tag, which does not reveal the plate. ``purges`` is that of
        ``LedgerEntry``.
        """
        operation = lookup.operation
        entry = LedgerEntry(
            self._ledger,
            operation.name,
            subject,
            self._policy.price(operation.name),
            caller,
            deadline,
            purges,
            self._observer,
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
            response = self._upstream.send(resource, entry, deadline)
        except UpstreamError as error:
            raise _failure(error) from None
        match response.status:
            case 200:
                self.drift.add(operation.name, response.body)
                return response
            case 400:
                secret = self._policy.operator_credential
                return replace(response, body=answer_check.message_body(response.body, secret))
            case _:
                raise self._refusal(response)

    def _check(self, lookup: Lookup, status: int, body: bytes) -> None:
        """Validate the body of a 200, 400 or 404; raises Unusable.

        A proxy's error page must not count as a rejected plate or as a vehicle without a record.
        For other statuses the body does not matter.
        """
        try:
            if status == 200:
                answer_check.check(lookup, body, self._policy.hidden_marker)
            else:
                answer_check.message_body(body)
        except answer_check.NoAnswer as error:
            raise Unusable(str(error)) from None

    def _refusal(self, response: Response) -> Failure:
        """Return the Failure for a 4xx status."""
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
