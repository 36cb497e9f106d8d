"""What most would write first: Flask, Flask-Caching, requests, one log line a request.

It checks its one token, keys by the path and knows no stale copies, coalescing or ledger.
"""

import logging
import os
import sys
from typing import Any

import requests
from flask import Flask, Response, abort, request
from flask_caching import Cache


def create() -> Flask:
    app = Flask(__name__)
    cache = Cache(
        app,
        config={
            "CACHE_TYPE": "FileSystemCache",
            "CACHE_DIR": os.environ["CACHE_DIR"],
            "CACHE_THRESHOLD": 100_000,
            "CACHE_DEFAULT_TIMEOUT": 86_400,
        },
    )
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("urllib3").setLevel(logging.WARNING)
    log = logging.getLogger("plain")
    upstream, token = os.environ["UPSTREAM"], os.environ["TOKEN"]
    session = requests.Session()
    session.headers["Authorization"] = os.environ["UPSTREAM_TOKEN"]

    @app.before_request
    def authorise() -> None:
        if request.headers.get("Authorization") != token:
            abort(401)

    @app.get("/detran/v1/<path:rest>")
    def lookup(rest: str) -> Response:
        body: Any = cache.get(rest)
        if body is None:
            answer = session.get(f"{upstream}/detran/v1/{rest}", timeout=15)
            answer.raise_for_status()
            body = answer.content
            cache.set(rest, body)
        return Response(body, content_type="application/json")

    @app.after_request
    def tell(response: Response) -> Response:
        log.info("%s %s %s", request.method, request.url_rule, response.status_code)
        return response

    return app
