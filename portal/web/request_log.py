"""One line a request: its id, the route's rule (never the path), the status, the time it took."""

import logging
import time
from typing import Any, Final

from flask import Flask, Response, g, request

from portal.web.logs import FIELDS

MESSAGE: Final = "request"

log = logging.getLogger("portal.requests")

# A method is the caller's own text: what is none of these is not repeated.
_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)


def request_fields(
    method: str, rule: str | None, status: int, seconds: float, cache_status: str | None
) -> dict[str, Any]:
    """What a request's line tells of it."""
    fields = {"method": method, "rule": rule, "status": status, "ms": round(seconds * 1000, 1)}
    if cache_status is not None:
        fields["cache"] = cache_status.partition("; ")[2]
    return fields


EDGE_HIT: Final = "portal; edge"  # a hit that left before Flask was asked


def log_request(
    method: str,
    rule: str | None,
    status: int,
    seconds: float,
    cache: str = "",
    request_id: str = "",
) -> None:
    """``cache`` is a Cache-Status; ``request_id`` is told where no request context knows it."""
    if not log.isEnabledFor(logging.INFO):
        return
    fields: dict[str, object] = {
        "method": method if method in _METHODS else "other",
        "rule": rule,
        "status": status,
        "ms": round(seconds * 1000, 1),
    }
    if cache:
        fields["cache"] = cache.partition("; ")[2]
    if request_id:
        fields["request_id"] = request_id
    log.info("request", extra={FIELDS: fields})


def register_request_log(app: Flask) -> None:
    """Registered first, so that it starts first and sees the answer last."""
    # The development server prints whole paths, plates included.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)

    def before() -> None:
        g.started = time.perf_counter()

    def after(response: Response) -> Response:
        rule = request.url_rule.rule if request.url_rule is not None else None
        seconds = time.perf_counter() - g.started
        cache = response.headers.get("Cache-Status", "")
        log_request(request.method, rule, response.status_code, seconds, cache)
        return response

    app.before_request(before)
    app.after_request(after)
