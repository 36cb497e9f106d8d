"""Headers on every response: nothing is kept by others, nothing foreign runs."""

import random

from flask import Flask, Response, g, request

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

_ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_PRIVATE = {"Cache-Control": "no-store, private", "Vary": "Authorization, Cookie"}
_TLS = {"Strict-Transport-Security": "max-age=63072000; includeSubDomains"}


def new_request_id() -> str:
    """Tells requests apart, and need not be hard to guess. Asking the system for randomness lets
    go of the interpreter's lock, and every waiting thread would overtake: it halved the hits."""
    return f"{random.getrandbits(64):016x}"


def standing_headers(secure: bool) -> list[tuple[str, str]]:
    """What every private response carries, its own X-Request-Id aside; ``secure``: over TLS."""
    return [*(_ALWAYS | _PRIVATE | (_TLS if secure else {})).items()]


def _may_be_cut_differently(status: int) -> bool:
    """Whether somebody in front could see another end of this request than we do, and take what
    follows on the connection for another request: a coded body, one that was refused unread
    (RFC 9112 §9.3, §11.2), a change of protocol."""
    refused_unread = status >= 400 and request.method not in ("GET", "HEAD", "OPTIONS")
    return refused_unread or "Transfer-Encoding" in request.headers or "Upgrade" in request.headers


def register_headers(app: Flask) -> None:
    """Sets them after every request; a view's own Cache-Control stays."""

    def before() -> None:
        g.request_id = new_request_id()

    def after(response: Response) -> Response:
        headers = response.headers
        headers.update(_ALWAYS)
        if "Cache-Control" not in headers:
            headers.update(_PRIVATE)
        if request.is_secure:
            headers.update(_TLS)
        if _may_be_cut_differently(response.status_code):
            headers["Connection"] = "close"
        headers["X-Request-Id"] = g.get("request_id", "")
        return response

    app.before_request(before)
    app.after_request(after)
