"""One line a request: its id, the route's rule (never the path), the status, the time it took."""

import logging
import time
from typing import Final

from flask import Flask, Response, g, request

from portal.web.logs import FIELDS

log = logging.getLogger("portal.requests")

# A method is the caller's own text: what is none of these is not repeated.
_METHODS: Final = frozenset(
    {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
)


def register_request_log(app: Flask) -> None:
    """Registered first, so that it starts first and sees the answer last."""
    # The development server prints whole paths, plates included.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)

    def before() -> None:
        g.started = time.perf_counter()

    def after(response: Response) -> Response:
        if log.isEnabledFor(logging.INFO):
            rule = request.url_rule
            fields = {
                "method": request.method if request.method in _METHODS else "other",
                "rule": rule.rule if rule is not None else None,
                "status": response.status_code,
                "ms": round((time.perf_counter() - g.started) * 1000, 1),
            }
            if "Cache-Status" in response.headers:
                fields["cache"] = response.headers["Cache-Status"].partition("; ")[2]
            log.info("request", extra={FIELDS: fields})
        return response

    app.before_request(before)
    app.after_request(after)
