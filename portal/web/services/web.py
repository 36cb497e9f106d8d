"""The object that every route gets: the portal's components and what the web layer adds to them."""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Protocol, cast

from flask import g, get_flashed_messages, request

from portal.access.history import History
from portal.access.idempotency import IdempotencyKeys
from portal.access.sealing import SubjectKeys
from portal.access.tokens import Gatekeeper, Identity, Tokens
from portal.batch.batches import Batches
from portal.batch.pricing import BatchPricing
from portal.desk.desk import Desk, Reading
from portal.desk.lookups import Lookups
from portal.dossier.answers import Panels
from portal.gateway.gateway import Gateway
from portal.gateway.ledger import Ledger
from portal.gateway.store import Store
from portal.gateway.usage_report import UsageLog
from portal.issued.archive import DossierArchive
from portal.pdf.process import PdfProcess
from portal.presentation.caller_name import shown_caller
from portal.presentation.operations.page import OriginBreaker
from portal.presentation.paper.dossier import Issuer
from portal.presentation.render_context import RenderContext
from portal.presentation.site.public_pages import SamplePlate
from portal.presentation.site.site import Site
from portal.presentation.vehicle.query import kept_query
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate
from portal.web.http.assets import Assets
from portal.web.http.headers import CrossOrigin
from portal.web.http.rate_limits import DailyQuotas, RateLimits
from portal.web.http.slot_limits import SlotLimiter, SlotLimits
from portal.web.http.streams import TooManyStreams
from portal.web.observability.metrics import Metrics
from portal.web.observability.request_log import AccessLogBuffer
from portal.web.services.page_cache import PageCache
from portal.web.services.sessions import SESSION_S, SHARED, Sessions

# Requests of a process that wait for a batch to change. Each holds a thread.
MAX_WAITS = 32
MAX_WAITS_PER_SENDER = 8
# Tables and calendars of batches that a process writes. A large one occupies the processor for
# seconds.
MAX_WRITES = 4
MAX_WRITES_PER_SENDER = 2
# A page's script waits ``longest_request_s`` plus this many seconds for an answer.
NETWORK_MARGIN_S = 10


class Parts(Protocol):
    """The parts and settings of ``portal.factory.Portal`` that the web layer uses.

    ``hit_cache_bytes`` limits the memory of ``HitCache``, and 0 disables it. The operator's page
    reads ``usage`` and calls ``database_bytes``, which may raise SQLAlchemyError.
    """

    batch_limit: int  # plates in a batch
    cors_origins: Sequence[str]
    daily_limit: int
    hidden_marker: str
    hit_cache_bytes: int
    longest_request_s: float
    mask_names: bool
    metrics_token: str | None
    namespace: str
    request_threads: int
    static: Path
    trusted_proxies: int

    @property
    def access_log(self) -> AccessLogBuffer: ...
    @property
    def batches(self) -> Batches: ...
    @property
    def breakers(self) -> Sequence[OriginBreaker]: ...
    @property
    def dossiers(self) -> DossierArchive: ...
    @property
    def gatekeeper(self) -> Gatekeeper: ...
    @property
    def gateway(self) -> Gateway: ...
    @property
    def history(self) -> History: ...
    @property
    def idempotency(self) -> IdempotencyKeys: ...
    @property
    def issuer(self) -> Issuer | None: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def limits(self) -> RateLimits: ...
    @property
    def metrics(self) -> Metrics: ...
    @property
    def pool(self) -> Executor: ...
    @property
    def samples(self) -> Sequence[SamplePlate]: ...
    @property
    def store(self) -> Store: ...
    @property
    def keys(self) -> SubjectKeys: ...
    @property
    def tokens(self) -> Tokens: ...
    @property
    def usage(self) -> UsageLog: ...

    def showcases(self) -> Sequence[tuple[Plate, str, Panels]]:
        """Return the example plates of the demo mode, each with a caption and its answers."""

    def ask_sandbox(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Return the body of the sandbox's answer."""

    def paid(
        self, caller: str, subjects: Sequence[str], since: float
    ) -> Mapping[str, Decimal | None]:
        """Return the R$ that a caller has paid for plates and Renavams since a time (epoch s)."""

    def expect_lookups(self, count: int) -> None:
        """Open connections to the upstream for lookups that will be made in a moment."""

    def pdf_span(self) -> AbstractContextManager[object]:
        """Return a context manager that traces one rendering of a PDF."""

    def ready(self) -> bool: ...

    def database_bytes(self) -> int | None: ...


class Web(Parts):
    """A portal with what the web layer adds to its parts. ``Portal`` is the subclass."""

    def set_up(self) -> None:
        """Build the web layer's own parts, before the threads of requests use them."""
        slots = SlotLimits.of(self.request_threads)
        self.json_bodies = SlotLimiter(*slots.json_bodies)
        self.refused_bodies = SlotLimiter(*slots.refused)
        self.table_writes = SlotLimiter(MAX_WRITES, MAX_WRITES_PER_SENDER, TooManyStreams)
        self.streams = SlotLimiter(*slots.streams, TooManyStreams)
        self.batch_waits = SlotLimiter(
            min(MAX_WAITS, self.request_threads // 16), MAX_WAITS_PER_SENDER
        )
        forms = SlotLimiter(*slots.forms)
        self.sessions = Sessions(self.gatekeeper, self.keys, forms)
        self.daily = DailyQuotas(self.ledger.allowance)
        self.cors = CrossOrigin(self.cors_origins) if self.cors_origins else None
        self.assets = Assets(self.static)
        self.pdfs = PdfProcess(
            lambda: {
                name: (each.content_type, each.body) for name, each in self.assets.files.items()
            }
        )

    @cached_property
    def page_cache(self) -> PageCache:
        return PageCache() if self.hit_cache_bytes else PageCache(most=0)

    @cached_property
    def pricing(self) -> BatchPricing:
        return BatchPricing(self.batches, self.gateway)

    @cached_property
    def lookups(self) -> Lookups:
        return Lookups(self.gateway, self.pool, self.ledger.allowance)

    @cached_property
    def reading(self) -> Reading:
        return Reading(self.hidden_marker, self.mask_names)

    def desk(self, identity: Identity, *, mask_names: bool = False) -> Desk:
        """Return the desk of a caller. ``mask_names`` masks names whatever the setting."""
        reading = replace(self.reading, mask_names=True) if mask_names else self.reading
        return Desk(self.lookups, identity, reading)

    @property
    def session_s(self) -> int:
        """The seconds that a session lasts.

        In demo mode, only the session identifies a batch's owner. The session therefore lasts at
        least as long as the portal keeps a batch's results.
        """
        return max(SESSION_S, int(self.batches.longest_kept_s) if self.sessions.is_demo else 0)

    def render_context(self) -> RenderContext:
        return RenderContext(datetime.now(UTC), kept_query(request.args.items(multi=True)))

    def site(self) -> Site:
        """Return the request's values for templates. Only the first call computes them."""
        if "site" not in g:
            g.site = self._site()
        return cast("Site", g.site)

    def _site(self) -> Site:
        # A shared dossier's page uses no session.
        sessions, has_session = self.sessions, request.blueprint != SHARED
        identity = sessions.signed_in_if_known if has_session else None
        return Site(
            demo=sessions.is_demo,
            signed_in=None if identity is None else _shown_name(identity),
            is_operator=identity is not None and identity.has_scope("admin"),
            sign_in_offered=has_session and not sessions.is_demo,
            request_id=g.get("request_id", ""),
            csrf_token=sessions.csrf_token,
            asset=self.assets.url,
            path=request.path,
            origin=request.url_root.rstrip("/"),
            panel_seconds=math.ceil(self.longest_request_s) + NETWORK_MARGIN_S,
            notices=(lambda: map(str, get_flashed_messages())) if has_session else tuple,
        )

    def prices(self, identity: Identity) -> dict[LookupName, Decimal | None]:
        """Return the price, in R$, of each lookup that the identity may make.

        None is an unknown price. An identity that never spends reads stored answers, for 0.
        """
        terms = self.gateway.terms
        return {
            name: terms[name].price if identity.may_spend else Decimal(0)
            for name in LOOKUPS
            if identity.has_scope(name)
        }

    def render_pdf(self, html: str) -> bytes:
        with self.pdf_span():
            return self.pdfs.render(html)


def _shown_name(identity: Identity) -> str:
    return "credencial própria" if identity.credential is not None else shown_caller(identity.name)
