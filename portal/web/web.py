"""The object that every view gets: the desks, and what is the web's own."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import cast

from flask import g, get_flashed_messages, request

from portal.access.own_sessions import SESSION_S
from portal.access.sealing import SubjectKeys
from portal.access.tokens import Gatekeeper, Identity
from portal.desk.caller import Caller
from portal.desk.desk import Desk
from portal.desk.desks import Desks
from portal.desk.examples import Examples
from portal.desk.operator import OperatorDesk
from portal.gateway.gateway import Gateway
from portal.gateway.limits import Allowance
from portal.pdf.archival import Embedded
from portal.pdf.process import PdfProcess
from portal.pdf.signing import SignedPdf, SigningKey
from portal.presentation.caller_name import shown_caller
from portal.presentation.query import kept_query
from portal.presentation.render_context import RenderContext
from portal.presentation.site.account import SOON_DAYS
from portal.presentation.site.site import Site
from portal.system.local_time import from_epoch
from portal.web.http.assets import Assets
from portal.web.http.company import Company
from portal.web.http.forwarded import ForwardedMemory
from portal.web.http.headers import CrossOrigin
from portal.web.http.page_cache import PageCache
from portal.web.http.rate_limits import DailyQuotas, RateLimits
from portal.web.http.sessions import WITHOUT_SESSION, Sessions
from portal.web.http.slots import Slots
from portal.web.observability.metrics import Metrics
from portal.web.observability.request_log import AccessLogBuffer

# A page's script waits ``longest_request_s`` plus this many seconds for an answer.
NETWORK_MARGIN_S = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSettings:
    """What the web layer knows of the settings.

    ``hit_cache_bytes`` limits the memory of ``HitCache``, and 0 disables it. ``static`` is the
    folder of the static files. ``purposes`` are those of which one is picked at each sign-in.
    ``longest_request_s`` is the longest time that a request takes. ``privacy_contact`` is the
    encarregado's where it is not the issuer's, or "".
    """

    cors_origins: Sequence[str]
    hit_cache_bytes: int
    longest_request_s: float
    metrics_token: str | None
    privacy_contact: str
    purposes: Sequence[str]
    request_threads: int
    static: Path
    trusted_proxies: int


class Web:
    """What every view gets: the desks, and what is the web's own.

    ``pdf_span`` returns a context manager that traces one rendering of a PDF. ``signing_key`` is
    the key that signs issued dossiers, or None. Only the contract's
    JSON paths use ``gateway``: all other views ask a desk.
    """

    def __init__(
        self,
        settings: WebSettings,
        desks: Desks,
        operator: OperatorDesk,
        *,
        access_log: AccessLogBuffer,
        company: Company | None = None,
        allowance: Callable[[Identity], Allowance],
        examples: Examples,
        forwarded: ForwardedMemory,
        gatekeeper: Gatekeeper,
        gateway: Gateway,
        keys: SubjectKeys,
        limits: RateLimits,
        metrics: Metrics,
        page_cache: PageCache,
        pdf_span: Callable[[], AbstractContextManager[object]],
        signing_key: SigningKey | None = None,
    ) -> None:
        self.settings = settings
        self.desks = desks
        self.operator = operator
        self.access_log = access_log
        self.examples = examples
        self.forwarded = forwarded
        self.gatekeeper = gatekeeper
        self.gateway = gateway
        self.limits = limits
        self.metrics = metrics
        self.page_cache = page_cache
        self.pdf_span = pdf_span
        self.signing_key = signing_key
        self.slots = Slots.of(settings.request_threads)
        self.company = company
        self.sessions = Sessions(gatekeeper, keys, self.slots.forms, company=company)
        self.daily = DailyQuotas(allowance)
        self.cors = CrossOrigin(settings.cors_origins) if settings.cors_origins else None
        self.assets = Assets(settings.static)
        self.pdfs = PdfProcess(self._static_files, signing_key)

    def _static_files(self) -> Mapping[str, tuple[str, bytes]]:
        files = self.assets.files
        return {name: (file.content_type, file.body) for name, file in files.items()}

    def visitor_desk(self) -> Desk | None:
        """Return the desk of the session's visitor, or None if nobody has signed in.

        Raises TokensUnavailable.
        """
        identity = self.sessions.current()
        if identity is None:
            return None
        purpose = self.sessions.purpose if self.settings.purposes else ""
        owners = self._find_owner, self._find_known_owner
        return self.desks.of(Caller.of_session(identity, *owners, purpose))

    def _find_owner(self) -> str:
        return self.sessions.history_key

    def _find_known_owner(self) -> str:
        return self.sessions.known_history_key

    @property
    def session_s(self) -> int:
        """The seconds that a session lasts.

        In demo mode, only the session identifies a batch's owner. The session therefore lasts at
        least as long as the portal keeps a batch's results.
        """
        return max(SESSION_S, self.desks.retention.batch_s if self.sessions.is_demo else 0)

    def render_context(self) -> RenderContext:
        return RenderContext(datetime.now(UTC), kept_query(request.args.items(multi=True)))

    def site(self) -> Site:
        """Return the request's values for templates. Only the first call computes them."""
        if "site" not in g:
            g.site = self._site()
        return cast("Site", g.site)

    def _site(self) -> Site:
        # A shared dossier's page uses no session.
        sessions, has_session = self.sessions, request.blueprint not in WITHOUT_SESSION
        identity = sessions.signed_in_if_known if has_session else None
        return Site(
            demo=sessions.is_demo,
            signed_in=None if identity is None else shown_name(identity),
            is_operator=identity is not None and identity.has_scope("admin"),
            sign_in_offered=has_session and not sessions.is_demo,
            token_ends_on=None if identity is None else self._ends_soon(identity),
            request_id=g.get("request_id", ""),
            csrf_token=sessions.csrf_token,
            asset=self.assets.url,
            path=request.path,
            origin=request.url_root.rstrip("/"),
            contact=self.contact,
            panel_seconds=math.ceil(self.settings.longest_request_s) + NETWORK_MARGIN_S,
            notices=(lambda: map(str, get_flashed_messages())) if has_session else tuple,
        )

    @property
    def contact(self) -> str:
        """Name who gives access to the portal, or return ""."""
        issuer = self.desks.issuer
        return ", ".join(filter(None, (issuer.name, issuer.contact))) if issuer else ""

    def _ends_soon(self, identity: Identity) -> date | None:
        """Return the day on which the visitor's token ends, if that is soon."""
        ends_at = self.gatekeeper.expires_at(identity)
        if ends_at is None or ends_at - time.time() > SOON_DAYS * 86400:
            return None
        return from_epoch(ends_at).date()

    def render_pdf(self, html: str, embedded: Embedded | None = None) -> bytes:
        with self.pdf_span():
            return self.pdfs.render(html, embedded)

    def render_signed_pdf(self, html: str, embedded: Embedded) -> SignedPdf:
        """Return the PDF of an issued dossier, signed if the operator has set a key."""
        with self.pdf_span():
            return self.pdfs.render_signed(html, embedded)


def shown_name(identity: Identity) -> str:
    """Return the name under which pages show a caller."""
    return "credencial própria" if identity.credential is not None else shown_caller(identity.name)
