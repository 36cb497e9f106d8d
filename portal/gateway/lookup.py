"""The gateway's requests and results: Lookup, Caller, Directive; Served, Failure."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import Any, Literal

import msgspec

from portal.gateway.operations import REPORT, Operation
from portal.gateway.strict_json import canonical
from portal.vehicle import Plate, Renavam

CacheStatus = Literal["hit", "miss", "collapsed", "request", "stale"]

FailureKind = Literal[
    "unreachable",  # no request could be sent
    "too_slow",  # sent, but no complete answer in time
    "bad_answer",  # sent, but the response is not a valid answer
    "busy",  # the upstream asked for a pause (429)
    "operator_refused",  # the operator's own credential was refused upstream
    "refused_401",  # pass-through: the caller's credential was refused upstream
    "refused_403",
    "not_found",
    "day_limit",  # the operator's daily limit of calls is reached
    "token_limit",  # the caller's own daily limit is reached
    "not_stored",  # only-if-cached or peek, and nothing is cached
    "no_ledger",  # the ledger row could not be written, so nothing was sent
]

_ALLOWS_STALE: frozenset[FailureKind] = frozenset(
    {"unreachable", "too_slow", "bad_answer", "busy", "operator_refused", "day_limit", "no_ledger"}
)
_OWN: frozenset[FailureKind] = frozenset({"token_limit", "not_stored"})
_FREE: frozenset[FailureKind] = frozenset({"unreachable", "day_limit", "no_ledger"})


class Failure(Exception):
    """A failed lookup and its cause.

    ``retry_after_s`` is set if a time to retry is known.
    """

    def __init__(self, kind: FailureKind, retry_after_s: float | None = None) -> None:
        super().__init__(kind)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s

    @property
    def allows_stale(self) -> bool:
        """Whether a stale answer is a better reply than this failure (RFC 5861 §4)."""
        return self.kind in _ALLOWS_STALE

    @property
    def is_caller_specific(self) -> bool:
        """Whether the failure concerns this caller only and must not be shared."""
        return self.kind in _OWN

    @property
    def may_be_charged(self) -> bool:
        """Whether the failed call may have been charged.

        Such a failure is cached briefly, so that an immediate retry does not cause another charge.
        """
        return self.kind not in _OWN | _FREE


class Directive(Enum):
    """Which stored answers a fetch may use, and whether it may call the upstream."""

    NORMAL = "normal"
    REFRESH = "refresh"  # always call the upstream
    ONLY_IF_CACHED = "only-if-cached"  # a fresh stored answer or none; no upstream call
    PEEK = "peek"  # a fresh or stale stored answer; no upstream call


@dataclass(frozen=True, slots=True)
class Caller:
    """The identity on whose behalf a lookup is made.

    ``name`` goes into the ledger. ``daily_limit`` is in upstream calls per day (0 = no limit).
    ``credential`` is set in pass-through mode: it is sent upstream and separates this caller's
    answers from those of others. ``batch`` is the id of the batch that the lookup belongs to.
    """

    name: str
    daily_limit: int = 0
    credential: str | None = field(default=None, repr=False)
    batch: str | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """An operation on a plate or Renavam.

    ``uf`` restricts it to one state. ``body`` is the request body of a report.
    """

    operation: Operation
    subject: Plate | Renavam
    uf: str | None = None
    body: bytes | None = field(default=None, repr=False)

    @property
    def path(self) -> str:
        return self.operation.path_for(self.subject.text, self.uf)

    @property
    def question(self) -> str:
        """Return the text that the store key is derived from.

        It contains exactly what the answer depends on.
        """
        digest = hashlib.sha256(self.body).hexdigest() if self.body is not None else ""
        return "|".join((self.operation.name, self.subject.text, self.uf or "", digest))


def report_lookup(plate: Plate, data: dict[str, Any]) -> Lookup:
    """Return the lookup of a report on a vehicle from its ``data``.

    The body is canonical JSON.
    """
    return Lookup(REPORT, plate, body=canonical({"plate": plate.text, "data": data}))


class Served(msgspec.Struct, frozen=True):
    """An answer to a lookup: status 200, or a relayed 400.

    ``fetched_at`` is in epoch seconds, ``age_s`` and ``ttl_s`` in whole seconds.
    """

    status: int
    body: bytes
    cache_status: CacheStatus
    stored: bool
    fetched_at: float
    age_s: int
    ttl_s: int
    origin: str

    @property
    def from_cache(self) -> bool:
        return self.cache_status in ("hit", "stale")


class Observer:
    """Receives the gateway's events; they never contain a plate. This base class ignores them.

    The methods run in the request's thread or the scheduler's: they must be quick and must not
    raise.
    """

    def served(self, operation: str, how: CacheStatus, seconds: float, times: int = 1) -> None:
        """Count ``times`` answers of one kind; ``seconds`` is their mean duration."""

    def failed(self, operation: str, kind: FailureKind, seconds: float) -> None:
        """Count a failed lookup."""

    def asked(self, operation: str, origin: str, outcome: str, seconds: float) -> None:
        """Count one finished attempt at one base address; ``outcome`` is the ledger's."""

    def spent(self, operation: str, amount: Decimal) -> None:
        """Count the price in R$ of a finished call that the upstream may have charged."""

    def saved(self, operation: str, amount: Decimal) -> None:
        """Count the price in R$ of the calls that stored answers made unnecessary."""

    def drifted(self, operation: str, fields: Collection[str]) -> None:
        """Count the fields in which a paid answer differs from the contract."""

    def store_failed(self, what: str) -> None:
        """Count a failed operation of the store."""
