"""How we ask: one base address, one behind a breaker, or both as one upstream."""

from portal.upstream.breaker import CELLS, Breaker
from portal.upstream.cells import Cells
from portal.upstream.errors import (
    Broken,
    CircuitOpen,
    Failing,
    NotSent,
    TimedOut,
    Uncertain,
    Unusable,
    UpstreamError,
)
from portal.upstream.failover import Failover
from portal.upstream.messages import Account, Attempt, Resource, Response, Upstream
from portal.upstream.origin import Origin

__all__ = [
    "CELLS",
    "Account",
    "Attempt",
    "Breaker",
    "Broken",
    "Cells",
    "CircuitOpen",
    "Failing",
    "Failover",
    "NotSent",
    "Origin",
    "Resource",
    "Response",
    "TimedOut",
    "Uncertain",
    "Unusable",
    "Upstream",
    "UpstreamError",
]
