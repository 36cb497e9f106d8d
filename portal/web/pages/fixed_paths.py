"""Paths that programs know: static files, icon, manifest, health checks and metrics."""

import hmac
from typing import Final

from flask import Response, abort, current_app, jsonify, request

from portal import VERSION
from portal.web.http.assets import CACHE_CONTROL
from portal.web.http.client_address import UNKNOWN_CLIENT, plain_address
from portal.web.routing.routes import Routes
from portal.web.web import Web

# A changed icon or manifest keeps its URL, so a browser may cache these files for only a day.
_FOR_A_DAY: Final = {"Cache-Control": "public, max-age=86400"}

routes = Routes("fixed")


@routes.get("/static/<path:name>")
def static_file(web: Web, name: str) -> Response:
    named = web.assets.files.get(name)
    asset = named or web.assets.find_current(name)
    if asset is None:
        abort(404)
    zipped = asset.gzipped if request.accept_encodings["gzip"] else None
    response = Response(zipped or asset.body, content_type=asset.content_type)
    response.headers["Cache-Control"] = CACHE_CONTROL if named else "no-store"
    if asset.gzipped is not None:
        response.headers["Vary"] = "Accept-Encoding"
    if zipped is not None:
        response.headers["Content-Encoding"] = "gzip"
    return response


@routes.get("/favicon.ico")
def favicon(web: Web) -> Response:
    icon = web.assets.read("icons/favicon.ico")
    return Response(icon.body, content_type=icon.content_type, headers=_FOR_A_DAY)


@routes.get("/manifest.webmanifest")
def web_app_manifest(web: Web) -> Response:
    # Not ``render_template``, whose variable ``site`` would read the session.
    body = current_app.jinja_env.get_template("manifest.webmanifest").render(asset=web.assets.url)
    return Response(body, content_type="application/manifest+json", headers=_FOR_A_DAY)


@routes.get("/healthz")
def healthz(_: Web) -> Response:
    return jsonify(status="ok", version=VERSION)


@routes.get("/readyz")
def readyz(web: Web) -> Response:
    is_ready = web.operator.is_ready()
    response = jsonify(status="ready" if is_ready else "not ready")
    response.status_code = 200 if is_ready else 503
    return response


@routes.get("/metrics")
def metrics(web: Web) -> Response:
    """Return the metrics to loopback clients and to requests with METRICS_TOKEN."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ").encode()
    token = web.settings.metrics_token
    if not (token and hmac.compare_digest(given, token.encode())) and not _is_loopback(web):
        abort(401 if token else 403)
    return Response(web.metrics.text(), content_type="text/plain; version=0.0.4; charset=utf-8")


def _is_loopback(web: Web) -> bool:
    # If TRUSTED_PROXIES is 0, every request through a proxy on this host has a loopback address.
    # Such requests are refused, because their real clients are unknown.
    forwarded = "X-Forwarded-For" in request.headers or "Forwarded" in request.headers
    if UNKNOWN_CLIENT in request.environ or (forwarded and not web.settings.trusted_proxies):
        return False
    # If HOST is ::, an IPv4 client has a mapped address such as ::ffff:127.0.0.1. Python before
    # 3.13 does not treat this address as loopback.
    address = plain_address(request.remote_addr)
    return address is not None and address.is_loopback
