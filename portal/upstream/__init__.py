"""Sends requests to the upstream, with circuit breakers and failover between addresses."""

from portal.upstream.breaker import COUNTERS, Breaker
from portal.upstream.errors import (
    ANSWERED,
    Broken,
    CircuitOpen,
    Failing,
    LocalFailure,
    NotSent,
    TimedOut,
    Uncertain,
    Unfit,
    Unusable,
    UpstreamError,
)
from portal.upstream.failover import Failover
from portal.upstream.origin import Origin
from portal.upstream.payer_breaker import BYTES_PER_BREAKER, PAYER_COUNTERS, PayerBreaker
from portal.upstream.protocol import Account, Attempt, Resource, Response, Upstream
from portal.upstream.trust import UnusableAuthorities, require_usable_authorities

__all__ = [
    "ANSWERED",
    "BYTES_PER_BREAKER",
    "COUNTERS",
    "PAYER_COUNTERS",
    "Account",
    "Attempt",
    "Breaker",
    "Broken",
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
    "Unfit",
    "Unusable",
    "UnusableAuthorities",
    "Upstream",
    "UpstreamError",
    "require_usable_authorities",
]
