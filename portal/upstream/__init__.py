"""How we ask: one base address, one behind a breaker, or both as one upstream."""

from portal.upstream.breaker import Breaker
from portal.upstream.circuit import CELLS
from portal.upstream.errors import (
    Broken,
    CircuitOpen,
    Failing,
    LocalFailure,
    NotSent,
    TimedOut,
    Uncertain,
    Unusable,
    UpstreamError,
)
from portal.upstream.failover import Failover
from portal.upstream.origin import Origin
from portal.upstream.payers import PAYER_CELLS, ROOM_A_BREAKER, PayerBreaker
from portal.upstream.protocol import Account, Attempt, Resource, Response, Upstream
from portal.upstream.shared_counters import Cells

__all__ = [
    "CELLS",
    "PAYER_CELLS",
    "ROOM_A_BREAKER",
    "Account",
    "Attempt",
    "Breaker",
    "Broken",
    "Cells",
    "CircuitOpen",
    "Failing",
    "Failover",
    "LocalFailure",
    "NotSent",
    "Origin",
    "PayerBreaker",
    "Resource",
    "Response",
    "TimedOut",
    "Uncertain",
    "Unusable",
    "Upstream",
    "UpstreamError",
]
