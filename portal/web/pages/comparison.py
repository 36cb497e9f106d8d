"""The comparison of up to four plates: spends like their vehicle pages, all lookups at once."""

from collections.abc import Callable

from flask import make_response, redirect, render_template, request
from werkzeug.wrappers import Response as BaseResponse

from portal.access import Identity
from portal.gateway import DECODE, RENAINF, RENAJUD, Directive
from portal.presentation import MOST_PLATES, RenderContext, comparison_page, comparison_path
from portal.presentation.failure_texts import INVALID_PLATE
from portal.vehicle import InvalidPlate, Plate, Renavam, parse_subject
from portal.web.pages.lookups import Lookups
from portal.web.pages.public import plain_query
from portal.web.pages.sessions import is_user_initiated

NONE_GIVEN = "Informe pelo menos uma placa."
TOO_MANY = f"Compare até {MOST_PLATES} placas por vez."


class _Refused(ValueError):
    """The plates cannot be compared; ``str()`` is the sentence to show."""


class ComparisonPages:
    """``remember`` writes a plate into the person's own history."""

    def __init__(
        self,
        lookups: Lookups,
        reading: Callable[[], RenderContext],
        remember: Callable[[Plate | Renavam], None],
    ) -> None:
        self._lookups = lookups
        self._reading = reading
        self._remember = remember

    def compare(self, identity: Identity) -> BaseResponse:
        given = request.args.getlist("placas")
        typed = [text.strip() for part in given for text in part.split(",") if text.strip()]
        try:
            plates = _plates(typed)
        except _Refused as refused:
            page = comparison_page((), (), self._reading(), typed=typed, problem=str(refused))
            return make_response(render_template(page.template, page=page), 400)
        if given != [",".join(plate.text for plate in plates)]:
            return redirect(comparison_path(plates), 303)
        person = is_user_initiated()
        if person:
            for plate in plates:
                self._remember(plate)
        panels = self._lookups.side_by_side(
            plates,
            (DECODE, RENAINF, RENAJUD),
            identity,
            Directive.NORMAL if person else Directive.PEEK,
        )
        page = comparison_page(plates, panels, self._reading())
        return make_response(render_template(page.template, page=page))


def _plates(typed: list[str]) -> list[Plate]:
    """The plates in their order, each once; raises _Refused."""
    plates: dict[Plate, None] = {}
    for text in typed:
        try:
            subject = parse_subject(plain_query(text))
        except InvalidPlate:
            raise _Refused(f"“{text[:20]}” não é uma placa. {INVALID_PLATE}") from None
        if not isinstance(subject, Plate):
            raise _Refused(f"“{text[:20]}” é um Renavam: a comparação é feita por placa.")
        plates[subject] = None
    if not plates:
        raise _Refused(NONE_GIVEN)
    if len(plates) > MOST_PLATES:
        raise _Refused(TOO_MANY)
    return list(plates)
