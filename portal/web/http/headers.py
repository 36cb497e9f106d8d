"""Headers of every response. They block third-party content and, by default, caching."""

from flask import Flask, Response, g, request

from portal.web.http.cors import CrossOrigin
from portal.web.http.errors import is_json_path

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
