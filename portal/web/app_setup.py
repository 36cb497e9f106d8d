"""Registers routes, hooks and WSGI middleware on the Flask application."""

import logging
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from wsgiref.types import WSGIApplication

from flask import Flask, g, get_flashed_messages, request, session
from jinja2 import StrictUndefined
from werkzeug.middleware.proxy_fix import ProxyFix

from portal.access import Gatekeeper, History
from portal.batch import DRAFT_S, Batches, RemainingPreviews
from portal.dossiers import ENDED_KEPT_S, DossierArchive
from portal.gateway import OPERATIONS, Allowance, Caller, Gateway
from portal.presentation import formats
from portal.presentation.panels import Panels
from portal.presentation.paper.dossier import Issuer
from portal.presentation.render_context import RenderContext
from portal.presentation.site.api_reference import ReferenceFacts
from portal.presentation.site.privacy_page import KeptAnswer, PrivacyPage
from portal.presentation.site.public_pages import SamplePlate
from portal.presentation.site.site import Site
from portal.presentation.vehicle.query import kept_query
from portal.system.repeated_warning import RepeatedWarning
from portal.vehicle import Plate
from portal.web.http.assets import Assets
from portal.web.http.client_address import ClientAddress
from portal.web.http.compression import compress_html
from portal.web.http.cors import CrossOrigin
from portal.web.http.errors import register_errors
from portal.web.http.headers import register_headers
from portal.web.http.icons import icons_blueprint
from portal.web.http.rate_limit_headers import DailyQuotas, register_rate_limit_headers
from portal.web.http.rate_limits import SIGN_IN_WINDOW_S, RateLimits
from portal.web.http.refused_bodies import RefusedBodies
from portal.web.http.upload_limits import BODY_CAP, UploadLimiter, UploadLimits
from portal.web.json_api.access_log_buffer import AccessLogBuffer
from portal.web.json_api.hit_cache import HitCache
from portal.web.json_api.openapi import openapi_blueprint, resolved_document
from portal.web.json_api.own_routes import OwnApi, Requester
from portal.web.json_api.routes import JsonApi
from portal.web.observability.health import health_blueprint
from portal.web.observability.metrics import Metrics, MetricsAccess, metrics_blueprint
from portal.web.observability.request_log import register_request_log
from portal.web.pages.batches import BatchPages
from portal.web.pages.comparison import ComparisonPages
from portal.web.pages.dossier_code import DossierCodes
from portal.web.pages.history import HistoryPages, PaidSince
from portal.web.pages.issued import IssuedPages, SharedPages
from portal.web.pages.lookups import Lookups
from portal.web.pages.operations import OperationsPages, OperationsSources
from portal.web.pages.page_cache import PageCache
from portal.web.pages.pdf import pdf_process
from portal.web.pages.public import PublicPages
from portal.web.pages.reference import ReferencePage
from portal.web.pages.sessions import (
    SESSION_S,
    SHARED,
    DynamicSecureCookies,
    Sessions,
    limit_pages,
)
from portal.web.pages.vehicle import VehiclePages
from portal.web.pages.verification import Verification

# A page's script waits ``longest_request_s`` plus this many seconds for an answer.
NETWORK_MARGIN_S = 10

_warn = RepeatedWarning(logging.getLogger(__name__))


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The components and settings that ``portal.factory`` passes to the web layer."""

    gateway: Gateway
    gatekeeper: Gatekeeper
    history: History
    batches: Batches
    batch_limit: int  # plates in a batch
    allowance: Callable[[Caller], Allowance]
    paid: PaidSince
    dossiers: DossierArchive
    issuer: Issuer | None
    pool: Executor
    samples: Sequence[SamplePlate]
    showcases: Callable[[], Sequence[tuple[Plate, str, Panels]]]
    ask_sandbox: Callable[[str, str, bytes], bytes]
    secret: bytes = field(repr=False)
    former_secrets: Sequence[bytes] = field(repr=False)  # old keys, still accepted
    namespace: str
    hidden_marker: str
    mask_names: bool
    longest_request_s: float
    request_threads: int
    trusted_proxies: int
    limits: RateLimits
    cors_origins: Sequence[str]
    static: Path
    # The memory limit for the entries of ``HitCache``, or 0 to disable ``HitCache``.
    hit_cache_bytes: int
    page_cache: PageCache
    access_log: AccessLogBuffer
    ready: Callable[[], bool]
    metrics: Metrics
    metrics_access: MetricsAccess
    operations: OperationsSources
    pdf_span: Callable[[], AbstractContextManager[object]] = nullcontext


def init_app(app: Flask, portal: Dependencies) -> None:
    """Register routes, hooks, error handlers, filters and the template variable ``site``."""
    app.config.update(
        MAX_CONTENT_LENGTH=BODY_CAP,
        SESSION_COOKIE_NAME="portal",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=_session_s(portal),
        # With True, Flask would renew a permanent session's cookie in every response, even if the
        # page does not use the session. In demo mode, ``Sessions.history_key`` renews the cookie.
        SESSION_REFRESH_EACH_REQUEST=False,
        SECRET_KEY_FALLBACKS=list(portal.former_secrets),
    )
    app.session_interface = DynamicSecureCookies()
    # Before each call of a view or hook, Flask's ``ensure_sync`` checks whether the function is a
    # coroutine. The portal has no coroutines, and the checks take 2 % of a cache miss's time.
    app.ensure_sync = lambda func: func  # type: ignore[method-assign]
    app.url_map.merge_slashes = False
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    daily, cors = DailyQuotas(portal.allowance), CrossOrigin.of(portal.cors_origins)
    uploads = UploadLimits.of(portal.request_threads)
    forms, json_bodies = UploadLimiter(*uploads.forms), UploadLimiter(*uploads.json_bodies)
    _add_middleware(app, portal, daily, cors, UploadLimiter(*uploads.refused))
    sessions = Sessions(
        portal.gatekeeper, portal.secret, forms, portal.namespace, portal.former_secrets
    )
    assets = Assets.build(portal.static)
    codes = DossierCodes(portal.secret, portal.namespace, portal.former_secrets)
    lookups = Lookups(portal.gateway, portal.pool, portal.allowance)

    def render_context() -> RenderContext:
        return RenderContext(
            now=datetime.now(UTC),
            marker=portal.hidden_marker,
            mask_names=portal.mask_names,
            query=kept_query(request.args.items(multi=True)),
        )

    def site() -> Site:
        page = Site(
            demo=sessions.is_demo,
            signed_in=None,
            sign_in_offered=False,
            request_id=g.get("request_id", ""),
            csrf_token=sessions.csrf_token,
            asset=assets.url,
            path=request.path,
            origin=request.url_root.rstrip("/"),
            panel_seconds=math.ceil(portal.longest_request_s) + NETWORK_MARGIN_S,
        )
        if request.blueprint == SHARED:  # a shared dossier's page uses no session
            return page
        return replace(
            page,
            signed_in=sessions.signed_in_name,
            is_operator=sessions.is_operator,
            sign_in_offered=not sessions.is_demo,
            notices=lambda: map(str, get_flashed_messages()),
        )

    public_pages = PublicPages(
        sessions,
        portal.history,
        portal.limits,
        _privacy(portal),
        lookups,
        portal.showcases,
        render_context,
    )

    pdfs = pdf_process(assets)

    def as_pdf(html: str) -> bytes:
        with portal.pdf_span():
            return pdfs.render(html)

    vehicle_pages = VehiclePages(
        gateway=portal.gateway,
        lookups=lookups,
        sessions=sessions,
        history=portal.history,
        public_pages=public_pages,
        codes=codes,
        render_pdf=as_pdf,
        render_context=render_context,
        site=site,
        page_cache=portal.page_cache,
    )
    comparison_pages = ComparisonPages(
        lookups, sessions, portal.history, render_context, public_pages.recent
    )
    dossiers, limits = portal.dossiers, portal.limits
    issued_pages = IssuedPages(
        vehicle_pages, sessions, dossiers, limits, assets, as_pdf, portal.issuer
    )
    register_request_log(app, portal.metrics)
    # The rate-limit headers must follow the other headers, as in the responses of the hit cache.
    # Flask runs after-request functions in reverse order, so their function is registered first.
    register_rate_limit_headers(app, portal.limits, daily)
    register_headers(app, cors)
    app.after_request(compress_html)
    register_errors(app)
    app.before_request(sessions.check_csrf)
    limit_pages(app, portal.limits, sessions)

    previews = RemainingPreviews(portal.batches, portal.gateway)
    batch_pages = BatchPages(
        gateway=portal.gateway,
        batches=portal.batches,
        previews=previews,
        limit=portal.batch_limit,
        allowance=portal.allowance,
        lookups=lookups,
        sessions=sessions,
        render_context=render_context,
        recent=public_pages.recent,
    )
    history_pages = HistoryPages(
        portal.gateway,
        portal.history,
        portal.paid,
        lookups,
        sessions,
        render_context,
    )
    own_api = OwnApi(
        gateway=portal.gateway,
        gatekeeper=portal.gatekeeper,
        limits=portal.limits,
        uploads=json_bodies,
        batches=portal.batches,
        previews=previews,
        batch_limit=portal.batch_limit,
        allowance=portal.allowance,
        panels_of=lookups.panels,
        session=lambda: _session_requester(sessions),
        dossier=vehicle_pages.stored_dossier,
        pdfs=pdfs,
        pdf_span=portal.pdf_span,
        render_context=render_context,
    )
    reference = ReferenceFacts(
        document=resolved_document(),
        terms={name: portal.gateway.terms(name) for name in OPERATIONS},
        batch_limit=portal.batch_limit,
        allows_origins=bool(portal.cors_origins),
        samples=portal.samples,
    )
    for blueprint in (
        JsonApi(portal.gateway, portal.gatekeeper, portal.limits, json_bodies).blueprint(),
        own_api.blueprint(),
        public_pages.blueprint(),
        ReferencePage(reference, sessions, portal.ask_sandbox, render_context).blueprint(),
        vehicle_pages.blueprint(),
        comparison_pages.blueprint(),
        batch_pages.blueprint(),
        history_pages.blueprint(),
        OperationsPages(portal.operations, portal.gateway, sessions, limits).blueprint(),
        issued_pages.blueprint(),
        SharedPages(dossiers, limits, assets).blueprint(),
        Verification(codes, dossiers, limits).blueprint(),
        health_blueprint(portal.ready),
        metrics_blueprint(portal.metrics, portal.metrics_access),
        assets.blueprint(),
        icons_blueprint(assets),
        openapi_blueprint(),
    ):
        app.register_blueprint(blueprint)
    app.jinja_env.undefined = StrictUndefined
    formats.register(app.jinja_env)
    app.context_processor(lambda: {"site": site()})


def _session_requester(sessions: Sessions) -> Requester | None:
    """Return the session's visitor, or None if the request has no valid session.

    In demo mode, ``Sessions.current`` returns a visitor even without a session cookie. This
    function therefore checks ``session`` first.
    """
    identity = sessions.current() if session else None
    return None if identity is None else Requester(identity, sessions.history_key, by_session=True)


def _session_s(portal: Dependencies) -> int:
    """Return how many seconds a session lasts.

    In demo mode, only the session identifies a batch's owner. The session therefore lasts at least
    as long as the portal keeps a batch's results.
    """
    is_demo = portal.gatekeeper.mode == "demo"
    return max(SESSION_S, int(portal.batches.longest_kept_s)) if is_demo else SESSION_S


def _privacy(portal: Dependencies) -> PrivacyPage:
    gateway = portal.gateway
    return PrivacyPage(
        mode=portal.gatekeeper.mode,
        answers=tuple(
            KeptAnswer(
                name,
                gateway.retention_s(name),
                gateway.retention_s(name, empty=True) if operation.result_type is list else None,
            )
            for name, operation in OPERATIONS.items()
        ),
        rejected_s=gateway.retention_s("decode", status=400),
        history_s=portal.history.retention_s,
        session_s=_session_s(portal),
        tries_s=SIGN_IN_WINDOW_S,
        dossier_s=portal.dossiers.lifetime_s,
        ended_dossier_s=ENDED_KEPT_S,
        batch_s=int(portal.batches.longest_kept_s),
        draft_s=int(DRAFT_S),
        counts_requests=portal.limits.counts_requests,
        mask_names=portal.mask_names,
    )


def _warn_of_unconfigured_proxy() -> None:
    """Warn if the request came through a proxy although TRUSTED_PROXIES is 0.

    All clients of the proxy then seem to have one address, and share one sign-in limit. Only POST
    requests (such as a sign-in) are checked for this, so that lookups by GET stay fast.
    """
    if request.method == "POST" and "X-Forwarded-For" in request.headers:
        _warn("a request came through a proxy (X-Forwarded-For), but TRUSTED_PROXIES is 0")


def _add_middleware(
    app: Flask,
    portal: Dependencies,
    daily: DailyQuotas,
    cors: CrossOrigin | None,
    refused: UploadLimiter,
) -> None:
    """Wrap Flask in RefusedBodies, HitCache and ProxyFix, from the inside out."""
    layers: WSGIApplication = RefusedBodies(app.wsgi_app, refused)
    # Rate limits disable the hit cache, because the requests that it answers are not counted.
    if portal.hit_cache_bytes and not portal.limits.counts_requests:
        layers = HitCache(
            layers,
            portal.gateway,
            portal.gatekeeper,
            portal.access_log,
            portal.hit_cache_bytes,
            daily,
            cors,
        )
    if hops := portal.trusted_proxies:
        # X-Forwarded-Prefix is ignored, because the portal works only at the root of a host. The
        # URLs in its pages, scripts and styles begin with "/" and contain no prefix.
        layers = ProxyFix(ClientAddress(layers), x_for=hops, x_proto=hops, x_host=hops)
    else:
        app.before_request(_warn_of_unconfigured_proxy)
    app.wsgi_app = layers  # type: ignore[method-assign, assignment]
