"""What a caller asks the gateway and what it gets: Lookup, Caller, Directive; Served or Failure."""

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

import msgspec

from portal.gateway.operations import REPORT, Operation
from portal.gateway.strict_json import canonical
from portal.vehicle import Plate, Renavam

CacheStatus = Literal["hit", "miss", "collapsed", "request", "stale"]

FailureKind = Literal[
    "unreachable",  # nobody could be asked
    "too_slow",  # asked, no whole answer in time
    "bad_answer",  # asked, and what came was no answer
    "busy",  # the upstream asked for a pause (429)
    "operator_refused",  # the operator's own credential was refused upstream
    "refused_401",  # pass-through: the caller's credential was refused upstream
    "refused_403",
    "not_found",
    "day_limit",  # the operator's calls for today are spent
    "token_limit",  # the caller's own are
    "not_stored",  # only-if-cached, and nothing is at hand
    "no_ledger",  # the row before the send could not be written: nothing was sent
]

_ALLOWS_STALE: frozenset[FailureKind] = frozenset(
    {"unreachable", "too_slow", "bad_answer", "busy", "operator_refused", "day_limit", "no_ledger"}
)
_OWN: frozenset[FailureKind] = frozenset({"token_limit", "not_stored"})
_FREE: frozenset[FailureKind] = frozenset({"unreachable", "day_limit", "no_ledger"})


class Failure(Exception):
    """A lookup that brought nothing, and why; ``retry_after_s`` where somebody named a time."""

    def __init__(self, kind: FailureKind, retry_after_s: float | None = None) -> None:
        super().__init__(kind)
        self.kind: FailureKind = kind
        self.retry_after_s = retry_after_s

    @property
    def allows_stale(self) -> bool:
        """Whether an older answer is a better reply than this failure (RFC 5861 §4)."""
        return self.kind in _ALLOWS_STALE

    @property
    def is_caller_specific(self) -> bool:
        """Whether it says something of this caller alone: others must not share it."""
        return self.kind in _OWN

    @property
    def costs(self) -> bool:
        """Whether trying again at once may be charged: such a failure is remembered briefly."""
        return self.kind not in _OWN | _FREE


class Directive(Enum):
    """How far a fetch may go."""

    NORMAL = "normal"
    REFRESH = "refresh"  # ask again, whatever is stored
    ONLY_IF_CACHED = "only-if-cached"  # a fresh stored answer or none; never asks
    PEEK = "peek"  # any stored answer still inside its window; never asks


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: a name for the ledger, a daily limit of calls (0 = none), and in pass-through
    mode the credential that goes upstream and keeps this caller's answers apart."""

    name: str
    daily_limit: int = 0
    credential: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Lookup:
    """One question: an operation on a plate or Renavam, narrowed by ``uf``, or a report's body."""

    operation: Operation
    subject: Plate | Renavam
    uf: str | None = None
    body: bytes | None = field(default=None, repr=False)

    @property
    def path(self) -> str:
        return self.operation.path_for(self.subject.text, self.uf)

    @property
    def question(self) -> str:
        """The text a key is made of: all that changes the answer, and nothing else."""
        digest = hashlib.sha256(self.body).hexdigest() if self.body is not None else ""
        return "|".join((self.operation.name, self.subject.text, self.uf or "", digest))


def report_lookup(plate: Plate, data: dict[str, Any]) -> Lookup:
    """The report on a vehicle from the ``data`` known of it, in one spelling of its JSON."""
    return Lookup(REPORT, plate, body=canonical({"plate": plate.text, "data": data}))


class Served(msgspec.Struct, frozen=True):
    """An answer on its way back: status 200, or a 400 relayed.

    ``fetched_at`` in epoch seconds; ``age_s`` and ``ttl_s`` in whole seconds.
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
    def from_memory(self) -> bool:
        return self.cache_status in ("hit", "stale")
