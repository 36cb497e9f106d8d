"""The API reference page. Its examples are answers of the sandbox, which imitates the upstream."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from flask import Blueprint, render_template, request

from portal.access import DEMO_TOKEN
from portal.presentation.site.api_answers import reference_answers
from portal.presentation.site.api_reference import ApiPage, LookupTerms, api_page
from portal.presentation.site.public_pages import SamplePlate
from portal.presentation.vehicle.panel import RenderContext
from portal.web.pages.sessions import Sessions

TOKEN_PLACEHOLDER = "SEU_TOKEN"  # noqa: S105


@dataclass(frozen=True, slots=True)
class ReferenceFacts:
    """What the page states about this portal. ``document`` is the OpenAPI document."""

    document: Mapping[str, Any]
    terms: Sequence[LookupTerms]
    batch_limit: int
    allows_origins: bool
    samples: Sequence[SamplePlate]


class ReferencePage:
    """The route ``/api``. It rebuilds the page only if the date or the portal's base URL changes.

    The examples contain dates relative to today. ``ask(method, path, body)`` sends a request to the
    sandbox and returns the body of the answer.
    """

    def __init__(
        self,
        facts: ReferenceFacts,
        sessions: Sessions,
        ask: Callable[[str, str, bytes], bytes],
        render_context: Callable[[], RenderContext],
    ) -> None:
        self._facts = facts
        self._sessions = sessions
        self._ask = ask
        self._render_context = render_context
        self._latest: tuple[date, str, ApiPage] | None = None

    def blueprint(self) -> Blueprint:
        pages = Blueprint("reference", __name__)
        pages.add_url_rule("/api", "reference", self.reference)
        return pages

    def reference(self) -> str:
        base_url, context = request.url_root.rstrip("/"), self._render_context()
        latest = self._latest
        if latest is None or latest[:2] != (context.today, base_url):
            latest = (context.today, base_url, self._page(base_url, context))
            self._latest = latest
        return render_template(ApiPage.template, page=latest[2])

    def _page(self, base_url: str, context: RenderContext) -> ApiPage:
        facts = self._facts
        return api_page(
            facts.document,
            reference_answers(facts.document, self._ask, context),
            base_url=base_url,
            token=DEMO_TOKEN if self._sessions.is_demo else TOKEN_PLACEHOLDER,
            terms=facts.terms,
            batch_limit=facts.batch_limit,
            allows_origins=facts.allows_origins,
            samples=facts.samples,
        )
