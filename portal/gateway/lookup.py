"""The types of the gateway's requests and results."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Final, Literal

import msgspec

from portal.gateway.operations import REPORT, Operation
from portal.gateway.strict_json import canonical
from portal.vehicle.denials import Asked
from portal.vehicle.plate import Plate, Renavam

CacheStatus = Literal["hit", "miss", "collapsed", "request", "stale"]

FailureKind = Literal[
    "unreachable",  # No request could be sent.
    "too_slow",  # The request was sent, but no complete answer arrived in time.
    "bad_answer",  # The request was sent, but the response is not a valid answer.
    "other_vehicle",  # The response is about another vehicle.
    "busy",  # The upstream asked for a pause (429).
    "operator_refused",  # The upstream refused the operator's credential.
    "no_credit",  # The upstream demands payment (402), for example because the credit is used up.
    "refused_401",  # The upstream refused the caller's own credential (pass-through mode).
    "refused_403",
    "not_found",
    "day_limit",  # The operator's daily limit of calls is reached.
    "token_limit",  # The caller's own daily limit is reached.
    "portal_budget",  # The call would exceed the operator's budget of the month.
    "token_budget",  # The call would exceed the caller's own budget of the month.
    "price",  # The call would exceed the price that the batch's owner confirmed.
    "not_stored",  # ``Spend`` forbids an upstream call, and no stored answer may be used.
    "no_ledger",  # The ledger row could not be written, so nothing was sent.
    "no_store",  # The store cannot be read, and the batch does not pay for what it may contain.
]

_ALLOWS_STALE: frozenset[FailureKind] = frozenset(
    {
        *("unreachable", "too_slow", "bad_answer", "other_vehicle", "busy"),
        *("operator_refused", "no_credit", "day_limit", "portal_budget", "no_ledger"),
    }
)
_OWN: frozenset[FailureKind] = frozenset(
    {"token_limit", "token_budget", "price", "not_stored", "no_store"}
)
# The failures that end at midnight, and those that end with the month.
DAILY_LIMITS: Final[frozenset[FailureKind]] = frozenset({"day_limit", "token_limit"})
BUDGETS: Final[frozenset[FailureKind]] = frozenset({"portal_budget", "token_budget"})
_FREE: frozenset[FailureKind] = frozenset(
    {"unreachable", "day_limit", "portal_budget", "no_ledger"}
)


class Failure(Exception):
    """A failed lookup. ``retry_after_s`` is None if the time until a retry is unknown.

    If ``held_back`` is true, the portal itself did not ask a base address (see UpstreamError).
    ``shared_s`` is 0 unless it is the failure of an earlier call, which is shared for so many
    seconds more.
    """

    def __init__(
        self,
        kind: FailureKind,
        retry_after_s: float | None = None,
        *,
        held_back: bool = False,
        shared_s: float = 0.0,
    ) -> None:
        super().__init__(kind)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s
        self.held_back = held_back
        self.shared_s = shared_s

    @property
    def allows_stale(self) -> bool:
        """Return whether a stale answer may be served instead of this failure (RFC 5861 §4)."""
        return self.kind in _ALLOWS_STALE

    @property
    def is_caller_specific(self) -> bool:
        """Return whether the failure concerns only the lookup's own caller."""
        return self.kind in _OWN

    @property
    def may_be_charged(self) -> bool:
        """Return whether the failed call may have been charged.

        If so, the gateway stores the failure for FAILURE_SHARED_S (2 s). A retry within this time
        gets the stored failure and is free.
        """
        return self.kind not in _OWN | _FREE


class Spend(Enum):
    """Whether an answer may cost an upstream call.

    The intent of a request: ``portal.web.http.spending`` derives it. ``Cache-Control`` of the JSON
    paths names two of them.
    """

    NEVER = "never"  # A stored answer, fresh or stale.
    LATER = "later"  # A fresh stored answer alone (only-if-cached). The rest may be asked later.
    ASKED = "asked"  # A call if there is no fresh stored answer.
    AGAIN = "again"  # A call whatever is stored (no-cache).
    NOW = "now"  # A call whatever is stored, and no stored answer if it fails.


@dataclass(frozen=True, slots=True)
class Lookup:
    """An operation on a plate or Renavam.

    ``uf`` restricts the lookup to one state of Brazil. ``body`` is the body of a POST request, or
    None for a GET request. If ``body`` was made from stored answers, ``last_purge`` is the number
    of the last purge that was known before these were read. With NOW, an answer counts that was
    fetched after ``since`` (epoch s), so that two requests for one moment cost one call.
    """

    operation: Operation
    subject: Plate | Renavam
    uf: str | None = None
    body: bytes | None = field(default=None, repr=False)
    last_purge: int | None = field(default=None, compare=False)
    since: float | None = field(default=None, compare=False)

    @property
    def path(self) -> str:
        path = self.operation.path
        if self.operation.method == "POST":
            return path
        return f"{path}/{self.subject.text}" + (f"/{self.uf}" if self.uf else "")

    @property
    def asked(self) -> Asked:
        return Asked(self.operation.name, self.subject, self.uf)

    @property
    def question(self) -> str:
        """Return the text from which the store key is derived."""
        digest = hashlib.sha256(self.body).hexdigest() if self.body is not None else ""
        return "|".join((self.operation.name, self.subject.text, self.uf or "", digest))


def report_lookup(plate: Plate, data: dict[str, Any], last_purge: int | None = None) -> Lookup:
    """Return the lookup for a vehicle's report, which the upstream writes from ``data``.

    The request body is canonical JSON, so that equal data give the same store key.
    """
    body = canonical({"plate": plate.text, "data": data})
    return Lookup(REPORT, plate, body=body, last_purge=last_purge)


class Served(msgspec.Struct, frozen=True):
    """An answer to a lookup, with the upstream's status 200, 400 or 404.

    ``fetched_at`` is in epoch seconds. At ``delete_at`` (epoch seconds), the store deletes the
    answer, or would delete it if it had been stored. ``purge_no`` is the number of the last purge
    that was known when the answer was requested.
    """

    status: int
    body: bytes
    cache_status: CacheStatus
    stored: bool
    fetched_at: float
    age_s: int
    ttl_s: int
    origin: str
    delete_at: float
    purge_no: int = 0

    @property
    def fresh_until(self) -> float:
        """The time (epoch seconds) at which the answer becomes stale or expires."""
        return self.fetched_at + self.age_s + self.ttl_s

    @property
    def from_cache(self) -> bool:
        return self.cache_status in ("hit", "stale")


class Observer:
    """Receives the gateway's events, none of which contains a plate.

    The methods of this base class do nothing. Overriding methods must return quickly and must not
    raise, because they run in the thread of a request or of the scheduler.
    """

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        """Count ``times`` answers with the status ``how`` and the mean duration ``seconds``."""

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        """Count a failed lookup."""

    def asked(
        self, operation: str, origin: str, outcome: str, seconds: float, status: int | None
    ) -> None:
        """Count a finished upstream call to the base address ``origin``."""

    def spent(self, operation: str, amount: Decimal | None) -> None:
        """Add the price in R$ of a finished call that the upstream may have charged.

        None is an unknown price.
        """

    def saved(self, operation: str, amount: Decimal) -> None:
        """Add the price in R$ of calls that stored answers made unnecessary.

        Is not called for an operation of an unknown price.
        """

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        """Count the fields in which an answer differs from docs/contract.md."""

    def used_store(self, what: str, seconds: float) -> None:
        """Note a read or write of the store's backend."""

    def store_failed(self, what: str) -> None:
        """Count a failed operation of the store."""
