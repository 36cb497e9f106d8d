"""Headers on every response: nothing is kept by others, nothing foreign runs."""

import secrets

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
_HSTS = "max-age=63072000; includeSubDomains"


def register_headers(app: Flask) -> None:
    """Sets them after every request; a view's own Cache-Control stays."""

    def before() -> None:
        g.request_id = secrets.token_hex(8)

    def after(response: Response) -> Response:
        headers = response.headers
        for name, value in _ALWAYS.items():
            headers[name] = value
        headers["X-Request-Id"] = g.get("request_id", "")
        if "Cache-Control" not in headers:
            headers["Cache-Control"] = "no-store, private"
            headers["Vary"] = "Authorization, Cookie"
        if request.is_secure:
            headers["Strict-Transport-Security"] = _HSTS
        return response

    app.before_request(before)
    app.after_request(after)
