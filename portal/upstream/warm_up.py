"""Opens connections before the calls that will need them."""

from collections.abc import Sequence

from portal.upstream.breaker import Breaker
from portal.upstream.origin import Origin
from portal.upstream.spares import Spares


class WarmUp:
    """Opens spare connections to the first origin whose circuit is closed.

    ``breakers`` are those of ``origins``, in the same order. Without breakers, no connection opens.
    """

    def __init__(
        self, origins: Sequence[Origin], breakers: Sequence[Breaker], spares: Spares
    ) -> None:
        self._guarded = tuple(zip(origins, breakers, strict=False))
        self._spares = spares

    def expect(self, calls: int) -> None:
        """Open connections for upstream calls that will be made in a moment."""
        for origin, breaker in self._guarded:
            if breaker.wait_s == 0:
                self._spares.expect(origin.host, calls)
                return
