"""Registers routes, hooks and WSGI middleware on the Flask application."""

import logging
from functools import partial
from wsgiref.types import WSGIApplication

from flask import Flask, request
from jinja2 import StrictUndefined
from werkzeug.middleware.proxy_fix import ProxyFix

from portal.presentation import filters
from portal.system.repeated_warning import RepeatedWarning
from portal.web.http.client_address import ClientAddress
from portal.web.http.compression import compress
from portal.web.http.errors import register_errors
from portal.web.http.forwarded import ForwardedHeaders
from portal.web.http.headers import register_headers
from portal.web.http.rate_limits import register_rate_limit_headers
from portal.web.http.refused_bodies import RefusedBodies
from portal.web.http.sessions import DynamicSecureCookies
from portal.web.http.slot_limits import BODY_CAP
from portal.web.json_api import (
    account,
    batch_files,
    calls,
    declared_lines,
    openapi,
    reference,
    vehicles,
)
from portal.web.json_api import batches as batch_calls
from portal.web.json_api import moment as moment_call
from portal.web.json_api import routes as upstream_routes
from portal.web.json_api import verification as verification_json
from portal.web.json_api.hit_cache import HitCache
from portal.web.observability.request_log import register_request_log
from portal.web.pages import account as own_account
from portal.web.pages import (
    agenda,
    batches,
    company,
    comparison,
    deciding,
    fixed_paths,
    history,
    issued,
    moment,
    operations,
    people,
    public,
    sheet,
    statement,
    token_changes,
    trail,
    vehicle,
    verification,
)
from portal.web.web import Web

# Each adds its views to ``calls.routes``.
_OWN_API = (vehicles, declared_lines, batch_calls, batch_files, account, moment_call)
_ROUTES = (
    fixed_paths.routes,
    openapi.routes,
    upstream_routes.routes,
    calls.routes,
    public.routes,
    company.routes,
    own_account.routes,
    people.routes,
    token_changes.routes,
    reference.routes,
    vehicle.routes,
    sheet.routes,
    comparison.routes,
    batches.routes,
    history.routes,
    deciding.routes,
    operations.routes,
    statement.routes,
    trail.routes,
    issued.routes,
    issued.shared_routes,
    agenda.routes,
    agenda.feed_routes,
    verification.routes,
    moment.routes,
    verification_json.routes,
)
_warn = RepeatedWarning(logging.getLogger(__name__))


def init_app(app: Flask, web: Web) -> None:
    """Register routes, hooks, error handlers, filters and the template variable ``site``."""
    app.config.update(
        MAX_CONTENT_LENGTH=BODY_CAP,
        SESSION_COOKIE_NAME="portal",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=web.session_s,
        # With True, Flask would renew a permanent session's cookie in every response, even if the
        # page does not use the session. In demo mode, ``Sessions.history_key`` renews the cookie.
        SESSION_REFRESH_EACH_REQUEST=False,
    )
    app.session_interface = DynamicSecureCookies()
    app.url_map.merge_slashes = False
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.json.sort_keys = False  # type: ignore[attr-defined]
    _add_middleware(app, web)
    register_request_log(app, web.metrics)
    # The rate-limit headers must follow the other headers, as in the responses of the hit cache.
    # Flask runs after-request functions in reverse order, so their function is registered first.
    register_rate_limit_headers(app, web.limits, web.daily)
    register_headers(app, web.cors)
    app.after_request(compress)
    register_errors(app)
    app.before_request(partial(_check_post, web))
    for routes in _ROUTES:
        app.register_blueprint(routes.blueprint(web))
    app.jinja_env.undefined = StrictUndefined
    filters.register(app.jinja_env)
    app.context_processor(lambda: {"site": web.site()})


def _check_post(web: Web) -> None:
    """Check the CSRF token of a form. Warn of a proxy although TRUSTED_PROXIES is 0.

    All clients of the proxy then seem to have one address, and share one sign-in limit.
    """
    if request.method != "POST":
        return
    if web.settings.trusted_proxies == 0 and "X-Forwarded-For" in request.headers:
        _warn("a request came through a proxy (X-Forwarded-For), but TRUSTED_PROXIES is 0")
    web.sessions.check_csrf()


def _add_middleware(app: Flask, web: Web) -> None:
    """Wrap Flask in RefusedBodies, HitCache, ProxyFix and ForwardedHeaders, from the inside out."""
    layers: WSGIApplication = RefusedBodies(app.wsgi_app, web.slots.refused_bodies)
    # Rate limits disable the hit cache, because the requests that it answers are not counted.
    if web.settings.hit_cache_bytes and not web.limits.counts_requests:
        layers = HitCache(layers, web)
    if hops := web.settings.trusted_proxies:
        # X-Forwarded-Prefix is ignored, because the portal works only at the root of a host. The
        # URLs in its pages, scripts and styles begin with "/" and contain no prefix.
        layers = ProxyFix(ClientAddress(layers), x_for=hops, x_proto=hops, x_host=hops)
    # Outermost, because ProxyFix replaces what the headers say.
    app.wsgi_app = ForwardedHeaders(layers, web.forwarded)  # type: ignore[method-assign]
