"""Logs and counts requests by route pattern, because a path may contain a plate."""

import logging
import random
import time
from typing import Any, Final

from flask import Flask, Response, g, request

from portal.web.observability.logs import FIELDS
from portal.web.observability.metrics import Metrics

MESSAGE: Final = "request"

log = logging.getLogger("portal.requests")

_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)


def new_request_id() -> str:
    """Return a random request id of 16 hexadecimal digits.

    The id is no secret, so ``random`` suffices. ``os.urandom`` would release the GIL, so each
    request would wait for other threads to release it. This would halve the cache hits per second.
    """
    return f"{random.getrandbits(64):016x}"


def method_label(method: str) -> str:
    """Return the method, or "other" if HTTP does not define it.

    A client may invent any method. Each invented method would add time series to the metrics.
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


def register_request_log(app: Flask, metrics: Metrics) -> None:
    """Log and count every request.

    Call this function before other hooks are added, so that the duration includes the time of the
    other hooks. Flask runs ``after_request`` hooks in reverse order.
    """
    # Werkzeug's development server would log whole paths, which contain plates.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)

    def before() -> None:
        g.started, g.request_id = time.perf_counter(), new_request_id()

    def after(response: Response) -> Response:
        seconds = time.perf_counter() - g.started
        method, status = method_label(request.method), response.status_code
        rule = request.url_rule.rule if request.url_rule else None
        metrics.count_responses(method, rule or "none", status, seconds)
        if log.isEnabledFor(logging.INFO):
            fields = request_fields(method, rule, status, response.headers.get("Cache-Status"))
            fields["ms"] = round(seconds * 1000, 1)
            log.info(MESSAGE, extra={FIELDS: fields})
        return response

    app.before_request(before)
    app.after_request(after)
