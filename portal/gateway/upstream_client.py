"""Sends lookups upstream, and records each upstream call in the ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from portal.access.tokens import Identity
from portal.gateway import answer_check
from portal.gateway.ledger import Ledger, LedgerEntry
from portal.gateway.lookup import Failure, FailureKind, Lookup, Observer
from portal.gateway.operations import CachePolicy
from portal.upstream.errors import CircuitOpen, NotSent, TimedOut, Unfit, UpstreamError
from portal.upstream.protocol import Resource, Response, Upstream
from portal.vehicle.operation_name import OperationName

SHORTEST_RETRY_S = 1.0
_REFUSALS: Mapping[int, FailureKind] = {
    401: "refused_401",
    402: "no_credit",
    403: "refused_403",
    429: "busy",
}


@dataclass(frozen=True, slots=True)
class Policy:
    """The operator's settings for upstream calls.

    ``deadline_s`` limits the duration of a lookup. ``hidden_marker`` is the text that the upstream
    sends in place of a value that it withholds. If ``operator_credential`` is None, the caller's
    own credential is sent upstream.
    """

    terms: Mapping[OperationName, CachePolicy]
    deadline_s: float
    hidden_marker: str
    operator_credential: str | None


class UpstreamClient:
    """Sends lookups upstream.

    A response with status 200 is returned unchanged. A response with status 400 or 404 is returned
    with only the upstream's message as its body. Any other status or error raises Failure.
    """

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
        caller: Identity,
        deadline: float,
        last_purge: int = 0,
    ) -> Response:
        """Send a lookup and return its response. Raises Failure.

        ``subject`` is the vehicle's tag, a keyed hash of the plate or Renavam. ``last_purge`` is
        the number of the last purge that was known before the lookup.
        """
        operation = lookup.operation
        entry = LedgerEntry(
            self._ledger,
            operation.name,
            subject,
            self._policy.terms[operation.name].price,
            caller,
            deadline,
            last_purge,
            self._observer,
        )
        resource = Resource(
            method=operation.method,
            path=lookup.path,
            subject=subject,
            credential=self._policy.operator_credential or caller.credential or "",
            body=lookup.body,
            check=partial(self._check, lookup),
            payer=caller.name if self._policy.operator_credential is None else None,
        )
        try:
            response = self._upstream.send(resource, entry, deadline)
        except UpstreamError as error:
            raise _failure(error) from None
        if response.status in (200, 400, 404):
            return response
        raise self._refusal(response)

    def _check(self, lookup: Lookup, response: Response) -> Response:
        """Validate the body of a response. Raises Unusable or Unfit.

        A proxy's error page must not be mistaken for a rejected plate (400), for a vehicle without
        a record (404) or for a refused credential (401, 403).
        """
        policy = self._policy
        if response.status == 200:
            is_empty = answer_check.check(lookup, response.body, policy.hidden_marker)
            return replace(response, is_empty=is_empty)
        body = answer_check.message_body(response.body, policy.operator_credential)
        return replace(response, body=body)

    def _refusal(self, response: Response) -> Failure:
        kind = _REFUSALS.get(response.status, "bad_answer")
        if kind in ("refused_401", "refused_403") and self._policy.operator_credential is not None:
            return Failure("operator_refused")
        return Failure(kind, response.retry_after_s if kind == "busy" else None)


def _failure(error: UpstreamError) -> Failure:
    match error:
        case CircuitOpen():
            return Failure("unreachable", max(SHORTEST_RETRY_S, error.retry_after_s))
        case NotSent():
            return Failure("unreachable", SHORTEST_RETRY_S)
        case TimedOut():
            return Failure("too_slow")
        case Unfit() if str(error) == answer_check.OTHER_VEHICLE:
            return Failure("other_vehicle")
        case _:
            return Failure("bad_answer")
