"""What a server process has seen of the proxies before it, their sign-in and the upstream's clock.

``flask doctor`` runs in another process, so the server writes what it has seen to the database.
Addresses of clients are left out.
"""

from typing import Literal

import msgspec

# Why a person whom a header names is not signed in, or "" if the header was believed.
SignInRefusal = Literal["", "no secret", "other secret", "proxies", "name"]


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


class SignInSeen(msgspec.Struct, frozen=True):
    """What became of a request whose SIGN_IN_HEADER names a person. Nothing of the header."""

    at: float
    refusal: SignInRefusal = ""


class Sight(msgspec.Struct, frozen=True):
    forwarded: ForwardedSeen | None = None
    clock: ClockSeen | None = None
    sign_in: SignInSeen | None = None
