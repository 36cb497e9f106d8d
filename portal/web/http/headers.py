"""Headers of every response. They block third-party content and, by default, caching.

Cross-origin access (CORS, Fetch Standard §3.2) is only to the JSON paths. A script of another
origin must send a token, in a header or in the parameter ``at``. If the script sends the session
cookie, the browser does not let the script read the response, because the portal never sends
``Access-Control-Allow-Credentials``.
"""

from collections.abc import Collection
from typing import Final

from flask import Flask, Response, g, request

from portal.web.http.errors import is_json_path

# Headers that a script may send or read, in addition to the headers that CORS always allows.
_REQUEST_HEADERS: Final = "Authorization, Cache-Control, Content-Type, Idempotency-Key"
_RESPONSE_HEADERS: Final = (
    "Age, Cache-Status, Content-Disposition, Location, RateLimit, RateLimit-Policy, "
    "Retry-After, X-Request-Id"
)
PREFLIGHT_S: Final = 600  # seconds for which a browser may reuse a preflight response
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)

_SECURITY_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PRIVATE_HEADERS = {
    "Cache-Control": "no-store, private",
    "Vary": "Authorization, Cookie, Accept-Encoding",
}
_CORS_VARY = {"Vary": "Authorization, Cookie, Accept-Encoding, Origin"}
_TLS_HEADERS = {"Strict-Transport-Security": "max-age=63072000; includeSubDomains"}


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


def standing_headers(secure: bool, varies_by_origin: bool = False) -> list[tuple[str, str]]:
    """Return the headers that all ``no-store`` responses have in common.

    ``secure`` means that the connection uses TLS. ``varies_by_origin`` is true for a JSON response
    if CORS_ORIGINS is set.
    """
    headers = _SECURITY_HEADERS | _PRIVATE_HEADERS
    headers |= _CORS_VARY if varies_by_origin else {}
    return [*(headers | (_TLS_HEADERS if secure else {})).items()]


def _must_close(status: int) -> bool:
    """Return whether the connection must be closed to prevent request smuggling.

    A proxy and this server may disagree on where a request ends. This can happen if the body is
    transfer-coded or was not read (RFC 9112 §9.3, §11.2), or if the request asks for an upgrade.
    """
    rejected_unread = status >= 400 and request.method not in ("GET", "HEAD", "OPTIONS")
    return rejected_unread or "Transfer-Encoding" in request.headers or "Upgrade" in request.headers


def _cors_headers(cors: CrossOrigin, response: Response) -> list[tuple[str, str]]:
    origin = request.headers.get("Origin")
    if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
        return cors.preflight_headers(origin, response.headers.get("Allow", ""))
    return cors.headers(origin)


def register_headers(app: Flask, cors: CrossOrigin | None = None) -> None:
    """Set the headers of this module on every response.

    If a view sets Cache-Control, the response does not get _PRIVATE_HEADERS.
    """

    def after(response: Response) -> Response:
        headers = response.headers
        # No view sets these headers, so ``extend`` adds no duplicates. ``update`` would be slower,
        # because it searches for each header before adding it.
        headers.extend(_SECURITY_HEADERS)
        if "Cache-Control" not in headers:
            headers.update(_PRIVATE_HEADERS)
        if request.is_secure:
            headers.extend(_TLS_HEADERS)
        if _must_close(response.status_code):
            headers["Connection"] = "close"
        headers["X-Request-Id"] = g.get("request_id", "")
        if cors is not None and is_json_path(request.path):
            headers.update(_CORS_VARY)
            headers.extend(_cors_headers(cors, response))
        return response

    app.after_request(after)
