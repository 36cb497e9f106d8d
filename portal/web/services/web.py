"""The object that every route gets: the portal's components and what the web layer adds to them."""

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from flask import g, get_flashed_messages, request

from portal.access.gatekeeper import Gatekeeper
from portal.access.history import History
from portal.access.tokens import Identity, Tokens
from portal.batch.batches import Batches
from portal.batch.preview import RemainingPreviews
from portal.dossier.answers import Panels
from portal.dossiers.archive import DossierArchive
from portal.gateway.backend import StoreSize
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Allowance
from portal.gateway.lookup import Caller
from portal.gateway.usage_report import UsageLog
from portal.pdf import PdfProcess
from portal.presentation.operations.page import OriginBreaker
from portal.presentation.paper.dossier import Issuer
from portal.presentation.render_context import RenderContext
from portal.presentation.site.public_pages import SamplePlate
from portal.presentation.site.site import Site
from portal.presentation.vehicle.query import kept_query
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate
from portal.web.http.assets import Assets
from portal.web.http.cors import CrossOrigin
from portal.web.http.rate_limit_headers import DailyQuotas
from portal.web.http.rate_limits import RateLimits
from portal.web.http.upload_limits import UploadLimiter, UploadLimits
from portal.web.observability.access_log_buffer import AccessLogBuffer
from portal.web.observability.metrics import Metrics, MetricsAccess
from portal.web.services.dossier_code import DossierCodes
from portal.web.services.lookups import Lookups
from portal.web.services.page_cache import PageCache
from portal.web.services.sessions import SESSION_S, SHARED, Sessions
from portal.web.services.written_reports import WrittenReports

# A page's script waits ``longest_request_s`` plus this many seconds for an answer.
NETWORK_MARGIN_S = 10


@dataclass(eq=False, kw_only=True)
class Web:
    """The components and settings that ``portal.factory`` passes, and the web layer's own.

    ``paid`` takes a caller's name, plates and Renavams (vehicle register numbers), and a time in
    epoch seconds. It returns the R$ that the caller has paid for each of them since then.
    ``showcases`` returns the example plates of the demo mode, each with a caption and its answers.
    ``ask_sandbox(method, path, body)`` returns the body of the sandbox's answer.
    ``hit_cache_bytes`` limits the memory of ``HitCache``, and 0 disables it. ``pdf_span`` returns a
    context manager that traces one rendering of a PDF. The operator's page reads ``usage`` and the
    fields after it. Reading them may raise SQLAlchemyError.
    """

    gateway: Gateway
    gatekeeper: Gatekeeper
    history: History
    batches: Batches
    batch_limit: int  # plates in a batch
    allowance: Callable[[Caller], Allowance]
    paid: Callable[[str, Sequence[str], float], Mapping[str, Decimal]]
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
    hit_cache_bytes: int
    page_cache: PageCache
    access_log: AccessLogBuffer
    ready: Callable[[], bool]
    metrics: Metrics
    metrics_access: MetricsAccess
    usage: UsageLog
    tokens: Tokens
    breakers: Sequence[OriginBreaker]
    daily_limit: int
    store_size: Callable[[], StoreSize | None]
    database_bytes: Callable[[], int | None]
    purges: Callable[[], int]
    pdf_span: Callable[[], AbstractContextManager[object]] = nullcontext

    def __post_init__(self) -> None:
        uploads = UploadLimits.of(self.request_threads)
        secret, namespace, former = self.secret, self.namespace, self.former_secrets
        self.json_bodies = UploadLimiter(*uploads.json_bodies)
        self.refused_bodies = UploadLimiter(*uploads.refused)
        self.sessions = Sessions(
            self.gatekeeper, secret, UploadLimiter(*uploads.forms), namespace, former
        )
        self.codes = DossierCodes(secret, namespace, former)
        self.lookups = Lookups(self.gateway, self.pool, self.allowance)
        self.reports = WrittenReports(self.gateway)
        self.previews = RemainingPreviews(self.batches, self.gateway)
        self.daily = DailyQuotas(self.allowance)
        self.cors = CrossOrigin.of(self.cors_origins)
        self.assets = Assets.build(self.static)
        self.pdfs = PdfProcess(
            lambda: {name: (each.content_type, each.body) for name, each in self.assets.items()}
        )

    @property
    def session_s(self) -> int:
        """The seconds that a session lasts.

        In demo mode, only the session identifies a batch's owner. The session therefore lasts at
        least as long as the portal keeps a batch's results.
        """
        return max(SESSION_S, int(self.batches.longest_kept_s) if self.sessions.is_demo else 0)

    def render_context(self) -> RenderContext:
        return RenderContext(
            now=datetime.now(UTC),
            marker=self.hidden_marker,
            mask_names=self.mask_names,
            query=kept_query(request.args.items(multi=True)),
        )

    def site(self) -> Site:
        sessions = self.sessions
        page = Site(
            demo=sessions.is_demo,
            signed_in=None,
            sign_in_offered=False,
            request_id=g.get("request_id", ""),
            csrf_token=sessions.csrf_token,
            asset=self.assets.url,
            path=request.path,
            origin=request.url_root.rstrip("/"),
            panel_seconds=math.ceil(self.longest_request_s) + NETWORK_MARGIN_S,
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

    def prices(self, identity: Identity) -> dict[LookupName, Decimal]:
        """Return the price, in R$, of each lookup that the identity may make."""
        return {
            name: self.gateway.terms(name).price for name in LOOKUPS if identity.has_scope(name)
        }

    def render_pdf(self, html: str) -> bytes:
        with self.pdf_span():
            return self.pdfs.render(html)
