"""Liveness and readiness checks. Neither calls the upstream."""

from collections.abc import Callable

from flask import Blueprint, Response, jsonify


def health_blueprint(ready: Callable[[], bool]) -> Blueprint:
    """Return the health routes.

    ``ready`` returns False if the portal is shutting down, cannot read stored answers, or cannot
    read its SQLite database.
    """
    health = Blueprint("health", __name__)

    @health.get("/healthz")
    def healthz() -> Response:
        return jsonify(status="ok")

    @health.get("/readyz")
    def readyz() -> Response:
        is_ready = ready()
        response = jsonify(status="ready" if is_ready else "not ready")
        response.status_code = 200 if is_ready else 503
        return response

    return health
