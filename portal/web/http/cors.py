"""Cross-origin access (CORS, Fetch Standard §3.2) to the JSON paths.

A script of another origin must send a token, in a header or in the parameter ``at``. If the script
sends the session cookie, the browser does not let the script read the response, because the portal
never sends ``Access-Control-Allow-Credentials``.
"""

from collections.abc import Collection
from typing import Final

# Headers that a script may send or read, in addition to the headers that CORS always allows.
_REQUEST_HEADERS: Final = "Authorization, Cache-Control, Content-Type, Idempotency-Key"
_RESPONSE_HEADERS: Final = (
    "Age, Cache-Status, Content-Disposition, Location, RateLimit, RateLimit-Policy, "
    "Retry-After, X-Request-Id"
)
PREFLIGHT_S: Final = 600  # seconds for which a browser may reuse a preflight response


class CrossOrigin:
    """The headers for the origins whose scripts may call the JSON paths."""

    def __init__(self, origins: Collection[str]) -> None:
        self._origins = frozenset(origins)

    def headers(self, origin: str | None) -> list[tuple[str, str]]:
        return self._allowed(origin, ("Access-Control-Expose-Headers", _RESPONSE_HEADERS))

    def preflight_headers(self, origin: str | None, methods: str) -> list[tuple[str, str]]:
        """Return the headers of a preflight response whose Allow header is ``methods``."""
        return self._allowed(
            origin,
            ("Access-Control-Allow-Methods", methods),
            ("Access-Control-Allow-Headers", _REQUEST_HEADERS),
            ("Access-Control-Max-Age", str(PREFLIGHT_S)),
        )

    def _allowed(self, origin: str | None, *headers: tuple[str, str]) -> list[tuple[str, str]]:
        if origin is None or origin not in self._origins:
            return []
        return [("Access-Control-Allow-Origin", origin), *headers]
