"""One line a request: its id, the route's rule (never the path), the status, the time it took."""

import logging
import time
from typing import Any, Final

from flask import Flask, Response, g, request

from portal.web.observability.logs import FIELDS

MESSAGE: Final = "request"

log = logging.getLogger("portal.requests")

_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)


def method_label(method: str) -> str:
    """A method as lines and metrics name it: it is the caller's own text, so what is none of
    HTTP's is not repeated."""
    return method if method in _METHODS else "other"


def request_fields(
    method: str, rule: str | None, status: int, cache_status: str | None
) -> dict[str, Any]:
    """What a request's line tells of it, beside the ``ms`` it took."""
    fields: dict[str, Any] = {"method": method_label(method), "rule": rule, "status": status}
    if cache_status is not None:
        fields["cache"] = cache_status.partition("; ")[2]
    return fields


def register_request_log(app: Flask) -> None:
    """Registered first, so that it starts first and sees the answer last."""
    # The development server prints whole paths, plates included.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)

    def before() -> None:
        g.started = time.perf_counter()

    def after(response: Response) -> Response:
        if log.isEnabledFor(logging.INFO):
            fields = request_fields(
                request.method,
                request.url_rule.rule if request.url_rule is not None else None,
                response.status_code,
                response.headers.get("Cache-Status"),
            )
            fields["ms"] = round((time.perf_counter() - g.started) * 1000, 1)
            log.info(MESSAGE, extra={FIELDS: fields})
        return response

    app.before_request(before)
    app.after_request(after)
