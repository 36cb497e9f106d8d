"""A plain peer: Flask, Flask-Caching's ``memoize``, requests, and a log line for each request.

The peer checks one token. It has no stale copies, no coalescing and no ledger, and it encodes the
upstream's bodies anew. Its workers share the cache files, as the portal's workers share the store.
``bench.serve`` runs the peer with the portal's server options.
"""

import logging
import os
import sys
from typing import Any

import requests
from flask import Flask, Response, abort, jsonify, request
from flask_caching import Cache


def create() -> Flask:
    app = Flask(__name__)
    cache = Cache(
        app,
        config={
            "CACHE_TYPE": "FileSystemCache",
            "CACHE_DIR": os.environ["CACHE_DIR"],
            "CACHE_THRESHOLD": 100_000,
        },
    )
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("urllib3").setLevel(logging.WARNING)
    log = logging.getLogger("plain")
    upstream, token = os.environ["UPSTREAM"], os.environ["TOKEN"]
    session = requests.Session()
    session.headers["Authorization"] = os.environ["UPSTREAM_TOKEN"]

    @cache.memoize(timeout=86_400)
    def fetch(path: str) -> Any:
        answer = session.get(f"{upstream}/detran/v1/{path}", timeout=15)
        answer.raise_for_status()
        return answer.json()

    @app.before_request
    def authorise() -> None:
        if request.headers.get("Authorization") != token:
            abort(401)

    @app.get("/detran/v1/<path:rest>")
    def lookup(rest: str) -> Response:
        return jsonify(fetch(rest))

    @app.after_request
    def log_request(response: Response) -> Response:
        log.info("%s %s %s", request.method, request.url_rule, response.status_code)
        return response

    return app
