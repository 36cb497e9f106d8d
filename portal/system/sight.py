"""What a server process has seen of the proxies before it and of the upstream's clock.

``flask doctor`` runs in another process, so the server writes what it has seen to the database.
Addresses of clients are left out.
"""

import msgspec


class ForwardedSeen(msgspec.Struct, frozen=True):
    """The ``X-Forwarded-*`` headers of a request, at epoch seconds.

    ``hops`` counts the addresses of X-Forwarded-For.
    """

    at: float
    hops: int
    proto: str
    host: str


class ClockSeen(msgspec.Struct, frozen=True):
    """How many seconds the portal's clock was ahead of the upstream's header Date, at ``at``."""

    at: float
    ahead_s: float


class Sight(msgspec.Struct, frozen=True):
    forwarded: ForwardedSeen | None = None
    clock: ClockSeen | None = None
