"""The access log: the id, route pattern (never the path), status and duration of each request."""

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
    """Return the method, or "other" if HTTP does not define it.

    A client may invent any method, so logs and metrics never contain an unknown one.
    """
    return method if method in _METHODS else "other"


def request_fields(
    method: str, rule: str | None, status: int, cache_status: str | None
) -> dict[str, Any]:
    """Return the members of a request's log line, except its duration ``ms``."""
    fields: dict[str, Any] = {"method": method_label(method), "rule": rule, "status": status}
    if cache_status is not None:
        fields["cache"] = cache_status.partition("; ")[2]
    return fields


def register_request_log(app: Flask) -> None:
    """Log every request.

    Call this before other hooks are added, so that ``ms`` includes their time. Flask runs
    ``after_request`` hooks in reverse order.
    """
    # Werkzeug's development server would log whole paths, which contain plates.
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
