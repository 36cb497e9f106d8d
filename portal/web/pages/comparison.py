"""The comparison of up to four plates.

It costs as much as the vehicle pages of its plates, and runs all lookups in parallel.
"""

from collections.abc import Callable

from flask import make_response, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from portal.access import Identity
from portal.gateway import DECODE, RENAINF, RENAJUD, Directive
from portal.presentation import MOST_PLATES, RenderContext, comparison_page, comparison_path
from portal.presentation.failure_texts import INVALID_PLATE
from portal.presentation.site.typed_subject import normalise_query
from portal.vehicle import InvalidPlate, Plate, Renavam, parse_subject
from portal.web.pages.lookups import Lookups
from portal.web.pages.sessions import is_user_initiated

NONE_GIVEN = "Informe pelo menos uma placa."
TOO_MANY = f"Compare até {MOST_PLATES} placas por vez."


class _InvalidPlates(ValueError):
    """The plates cannot be compared; ``str()`` is the message to show."""


class ComparisonPages:
    """``record_history`` stores a plate in the visitor's own history."""

    def __init__(
        self,
        lookups: Lookups,
        render_context: Callable[[], RenderContext],
        record_history: Callable[[Plate | Renavam], None],
    ) -> None:
        self._lookups = lookups
        self._render_context = render_context
        self._record_history = record_history

    def compare(self, identity: Identity) -> BaseResponse:
        values = request.args.getlist("placas")
        typed = [text.strip() for part in values for text in part.split(",") if text.strip()]
        try:
            plates = _plates(typed)
        except _InvalidPlates as error:
            page = comparison_page((), (), self._render_context(), typed=typed, problem=str(error))
            return make_response(render_template(page.template, page=page), 400)
        if values != [",".join(plate.text for plate in plates)]:
            return redirect(comparison_path(plates), 303)
        user_initiated = is_user_initiated()
        if user_initiated:
            for plate in plates:
                self._record_history(plate)
        panels = self._lookups.panels_of_all(
            plates,
            (DECODE, RENAINF, RENAJUD),
            identity,
            Directive.NORMAL if user_initiated else Directive.PEEK,
        )
        page = comparison_page(plates, panels, self._render_context())
        return make_response(render_template(page.template, page=page))


def _plates(typed: list[str]) -> list[Plate]:
    """The distinct plates in the order given; raises _InvalidPlates."""
    plates: dict[Plate, None] = {}
    for text in typed:
        try:
            subject = parse_subject(normalise_query(text))
        except InvalidPlate:
            raise _InvalidPlates(f"“{text[:20]}” não é uma placa. {INVALID_PLATE}") from None
        if not isinstance(subject, Plate):
            raise _InvalidPlates(f"“{text[:20]}” é um Renavam: a comparação é feita por placa.")
        plates[subject] = None
    if not plates:
        raise _InvalidPlates(NONE_GIVEN)
    if len(plates) > MOST_PLATES:
        raise _InvalidPlates(TOO_MANY)
    return list(plates)
