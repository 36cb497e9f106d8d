"""The comparison of up to four vehicles.

A comparison costs as much as the vehicle pages of its plates. The first response contains only
stored answers. The page's script then fetches the columns with missing answers one by one. With
``?completo=1`` (complete), the first response contains the answers to all lookups.
"""

from collections.abc import Callable, Sequence

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from portal.access import History, Identity
from portal.gateway import LOOKUP_OPERATIONS, Directive
from portal.presentation.failure_texts import INVALID_PLATE
from portal.presentation.panels import Panels
from portal.presentation.render_context import RenderContext
from portal.presentation.site.recent_lookup import RecentLookup
from portal.presentation.tools.comparison import MOST_PLATES, comparison_page, comparison_path
from portal.presentation.typed_subject import plates_in, suggestion_for
from portal.vehicle import Plate, Renavam, read_typed
from portal.web.http.user_initiated import is_user_initiated
from portal.web.pages.lookups import Lookups
from portal.web.pages.responses import keep_out_of_indexes, page_response
from portal.web.pages.sessions import Sessions

NONE_GIVEN = "Informe pelo menos uma placa."
TOO_MANY = f"Compare até {MOST_PLATES} placas por vez."


class _InvalidPlates(ValueError):
    """The plates cannot be compared. The text of the exception is shown to the visitor."""


class ComparisonPages:
    """The route ``/comparar``. ``recent`` returns the visitor's latest lookups."""

    def __init__(
        self,
        lookups: Lookups,
        sessions: Sessions,
        history: History,
        render_context: Callable[[], RenderContext],
        recent: Callable[[Identity], Sequence[RecentLookup]],
    ) -> None:
        self._recent = recent
        self._lookups = lookups
        self._sessions = sessions
        self._history = history
        self._render_context = render_context

    def blueprint(self) -> Blueprint:
        pages = Blueprint("comparison", __name__)
        pages.add_url_rule("/comparar", "compare", self._sessions.require_sign_in(self.compare))
        pages.after_request(keep_out_of_indexes)
        return pages

    def compare(self, identity: Identity) -> BaseResponse:
        values = request.args.getlist("placas")
        typed = [text.strip() for part in values for text in part.split(",") if text.strip()]
        with_lookups = request.args.get("completo") == "1"
        if not values:
            return self._page(identity, (), ())
        try:
            plates = _plates(typed)
        except _InvalidPlates as error:
            return self._page(identity, (), (), 400, typed=typed, problem=str(error))
        if values != [",".join(plate.text for plate in plates)]:
            return redirect(comparison_path(plates), 303)
        directive = Directive.PEEK
        user_initiated = is_user_initiated()
        if user_initiated:
            for plate in plates:
                self._history.record(self._sessions.history_key, plate.text)
            directive = Directive.NORMAL if with_lookups else Directive.ONLY_IF_CACHED
        panels = self._lookups.panels_of_all(plates, LOOKUP_OPERATIONS, identity, directive)
        return self._page(identity, plates, panels, follow=user_initiated)

    def _page(
        self,
        identity: Identity,
        plates: Sequence[Plate],
        panels: Sequence[Panels],
        status: int = 200,
        *,
        follow: bool = False,
        typed: Sequence[str] = (),
        problem: str = "",
    ) -> Response:
        page = comparison_page(
            plates,
            panels,
            self._render_context(),
            follow=follow,
            recent=self._recent(identity),
            typed=typed,
            problem=problem,
        )
        return page_response(page, status)


def _plates(texts: list[str]) -> list[Plate]:
    """Return the typed plates without repetitions. Raises _InvalidPlates."""
    plates: dict[Plate, None] = {}
    for text in texts:
        typed = read_typed(text)
        if isinstance(typed.subject, Plate) and not typed.doubt:
            plates[typed.subject] = None
        elif isinstance(typed.subject, Renavam):
            raise _InvalidPlates(f"“{text[:20]}” é um Renavam: a comparação é feita por placa.")
        elif not typed.doubt and (several := plates_in(text)):
            plates |= dict.fromkeys(several)
        else:
            meant = suggestion_for(text)
            hint = f" {meant.question}" if meant else ""
            raise _InvalidPlates(f"“{text[:20]}” não é uma placa. {INVALID_PLATE}{hint}")
    if not plates:
        raise _InvalidPlates(NONE_GIVEN)
    if len(plates) > MOST_PLATES:
        raise _InvalidPlates(TOO_MANY)
    return list(plates)
