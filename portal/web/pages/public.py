"""Pages that never need a sign-in: search, sign-in, glossary and privacy."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime

from flask import (
    Blueprint,
    Response,
    flash,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as BaseResponse

from portal.access import (
    History,
    Identity,
    RefusedToken,
    TokensUnavailable,
    UnknownToken,
    is_token,
)
from portal.presentation.failure_texts import INVALID_PLATE
from portal.presentation.panels import Panels
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.site.privacy_page import PrivacyPage
from portal.presentation.site.public_pages import GlossaryPage, SignInPage
from portal.presentation.site.recent_lookup import RecentLookup, recent_lookup
from portal.presentation.site.search_page import LONGEST_QUERY, SearchPage
from portal.presentation.tools.comparison import MOST_PLATES, comparison_path
from portal.presentation.typed_subject import plates_in
from portal.vehicle import (
    InvalidSubject,
    Plate,
    Renavam,
    is_tax_number,
    parse_subject,
    read_typed,
    visible,
)
from portal.web.http.rate_limits import RateLimits, seconds
from portal.web.pages.lookups import Lookups
from portal.web.pages.responses import page_response
from portal.web.pages.sessions import Sessions, local_path

WRONG_TOKEN = "Este token não foi aceito."  # noqa: S105
EXPIRED_TOKEN = "Este token foi revogado ou venceu."  # noqa: S105
TOO_MANY_TRIES = "Tentativas demais com tokens errados. Espere {} e tente de novo."
SEVERAL_PLATES = "{} placas no que você colou: aqui estão lado a lado."


def check_possible(subject: Plate | Renavam) -> None:
    """Raise InvalidSubject for a Renavam (vehicle register number) that no vehicle has.

    These are eleven zeros, and a person's tax number. Only the HTML pages reject them. The JSON
    paths accept any eleven digits.
    """
    if isinstance(subject, Renavam) and (subject.is_invented or is_tax_number(subject)):
        raise InvalidSubject(subject.text)


class PublicPages:
    """The pages that never need a sign-in.

    ``showcases`` returns the example plates of the demo mode, each with a caption and its answers.
    PublicPages reuses the result until the next day.
    """

    def __init__(
        self,
        sessions: Sessions,
        history: History,
        limits: RateLimits,
        privacy: PrivacyPage,
        lookups: Lookups,
        showcases: Callable[[], Sequence[tuple[Plate, str, Panels]]],
        render_context: Callable[[], RenderContext],
    ) -> None:
        self._lookups = lookups
        self._load_showcases = showcases
        self._render_context = render_context
        self._showcases: tuple[date, tuple[RecentLookup, ...]] | None = None
        self._sessions = sessions
        self._history = history
        self._limits = limits
        self._privacy = privacy

    def blueprint(self) -> Blueprint:
        pages = Blueprint("open", __name__)
        pages.add_url_rule("/", "search", self.search)
        pages.add_url_rule("/buscar", "find", self.find)
        pages.add_url_rule("/entrar", "sign_in", self.sign_in_form)
        pages.add_url_rule("/entrar", "sign_in_post", self.sign_in, methods=["POST"])
        pages.add_url_rule("/sair", "sign_out", self.sign_out, methods=["POST"])
        pages.add_url_rule("/glossario", "glossary", self.glossary)
        pages.add_url_rule("/privacidade", "privacy", self.privacy)
        pages.add_url_rule("/robots.txt", "robots", self.robots)
        return pages

    def search(self) -> Response:
        return self.search_response(200)

    def search_response(self, status: int, query: str = "", problem: str = "") -> Response:
        identity = self._identity()
        page = SearchPage(
            query=query,
            problem=problem,
            cost=self._lookups.cost(identity) if identity else None,
            recent=self.recent(identity) if identity else (),
            showcases=self._showcases_of_today() if self._sessions.is_demo else (),
        )
        return page_response(page, status)

    def find(self) -> BaseResponse:
        query = request.args.get("q", "")[:LONGEST_QUERY]
        typed = read_typed(query)
        if typed.subject is not None and not typed.doubt:
            return redirect(subject_path(typed.subject), 303)
        if typed.doubt:  # the visitor must accept the suggestion
            return self.search_response(400, query.strip(), INVALID_PLATE)
        return self._find_in_text(query)

    def _find_in_text(self, query: str) -> BaseResponse:
        """Redirect to the vehicle page if the text has one plate, else to a comparison."""
        plates = plates_in(query)
        if not 0 < len(plates) <= MOST_PLATES:
            return self.search_response(400, query.strip(), INVALID_PLATE)
        if len(plates) == 1:
            return redirect(subject_path(plates[0]), 303)
        flash(SEVERAL_PLATES.format(len(plates)))
        return redirect(comparison_path(plates), 303)

    def sign_in_form(self, problem: str = "", status: int = 200) -> Response:
        page = SignInPage(
            pass_through=self._sessions.is_pass_through,
            next_path=local_path(request.values.get("next", "/")),
            problem=problem,
        )
        return page_response(page, status)

    def sign_in(self) -> BaseResponse:
        token = visible(request.form.get("token", "")).strip()
        wait_s = self._limits.sign_in(request.remote_addr)
        if wait_s is not None:
            response = self.sign_in_form(TOO_MANY_TRIES.format(seconds(wait_s)), 429)
            response.headers["Retry-After"] = str(wait_s)
            return response
        try:
            if not is_token(token):
                raise UnknownToken
            self._sessions.sign_in(token)
        except UnknownToken:
            return self.sign_in_form(WRONG_TOKEN, 401)
        except RefusedToken:
            return self.sign_in_form(EXPIRED_TOKEN, 403)
        self._limits.reset_sign_in(request.remote_addr)
        return redirect(local_path(request.form.get("next", "/")), 303)

    def sign_out(self) -> BaseResponse:
        self._sessions.sign_out()
        return redirect(url_for("open.search"), 303)

    def glossary(self) -> str:
        page = GlossaryPage()
        return render_template(page.template, page=page)

    def privacy(self) -> str:
        return render_template(self._privacy.template, page=self._privacy)

    def robots(self) -> Response:
        # Vehicle pages are allowed, because only a crawler that fetches a page sees its noindex
        # header.
        return Response("User-agent: *\nDisallow: /detran/\n", content_type="text/plain")

    def _identity(self) -> Identity | None:
        """Return the visitor's identity, or None if there is none or the database fails."""
        try:
            return self._sessions.current()
        except TokensUnavailable:
            return None

    def recent(self, identity: Identity) -> list[RecentLookup]:
        entries = self._history.recent(self._sessions.history_key)
        subjects = [parse_subject(entry.subject) for entry in entries]
        context = self._render_context()
        return [
            recent_lookup(subject, panels, datetime.fromtimestamp(entry.asked_at, UTC), context)
            for entry, subject, panels in zip(
                entries, subjects, self._lookups.stored(subjects, identity), strict=True
            )
        ]

    def _showcases_of_today(self) -> tuple[RecentLookup, ...]:
        context = self._render_context()
        if self._showcases is None or self._showcases[0] != context.today:
            rows = tuple(
                recent_lookup(plate, panels, None, context, note=caption)
                for plate, caption, panels in self._load_showcases()
            )
            self._showcases = (context.today, rows)
        return self._showcases[1]
