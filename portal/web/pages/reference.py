"""The API reference page. Its examples are answers of the sandbox, which imitates the upstream."""

from collections.abc import Callable
from datetime import date

from flask import Blueprint, render_template, request

from portal.access import DEMO_TOKEN
from portal.presentation.render_context import RenderContext
from portal.presentation.site.api_answers import reference_answers
from portal.presentation.site.api_reference import ApiPage, ReferenceFacts, api_page
from portal.web.pages.sessions import Sessions

TOKEN_PLACEHOLDER = "SEU_TOKEN"  # noqa: S105


class ReferencePage:
    """The route ``/api``.

    The page is rebuilt only if the date or the portal's base URL changes. The page depends on the
    date, because the examples contain dates relative to today. ``ask(method, path, body)`` sends a
    request to the sandbox and returns the body of the answer.
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
        answers = reference_answers(self._facts.document, self._ask, context)
        token = DEMO_TOKEN if self._sessions.is_demo else TOKEN_PLACEHOLDER
        return api_page(self._facts, answers, base_url, token)
