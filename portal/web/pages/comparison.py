"""The comparison of up to four vehicles.

A comparison costs as much as the vehicle pages of its plates. The first response contains only
stored answers. The page's script then fetches the columns with missing answers one by one. With
``?completo=1`` (complete), the first response contains the answers to all lookups.
"""

from collections.abc import Sequence
from typing import Any

from flask import redirect, request
from werkzeug.wrappers import Response as BaseResponse

from portal.desk.desk import Desk
from portal.dossier.dossier import Dossier
from portal.phrasebook.api_errors import INVALID_PLATE
from portal.presentation.lists.comparison import MOST_PLATES, comparison_page, comparison_path
from portal.presentation.typed_subject import plates_in, suggestions_for
from portal.vehicle.plate import Plate, Renavam, each_once
from portal.vehicle.typed import read_typed
from portal.web.http.spending import first_spend
from portal.web.routing.responses import batch_of, list_choice, page_response
from portal.web.routing.routes import Routes, at_desk
from portal.web.routing.search import recent
from portal.web.routing.vehicles import record_visit
from portal.web.web import Web

NONE_GIVEN = "Informe pelo menos uma placa."
TOO_MANY = f"Compare até {MOST_PLATES} placas por vez."

routes = Routes("comparison", robots="noindex", limited=True)


class _InvalidPlates(ValueError):
    """The plates cannot be compared. The text of the exception is shown to the visitor."""


@routes.get("/comparar")
@at_desk
def compare(web: Web, desk: Desk) -> BaseResponse:
    values = request.args.getlist("placas")
    typed = [text.strip() for part in values for text in part.split(",") if text.strip()]
    if not values:
        return _response(web, desk)
    if batch := batch_of(web, "\n".join(values)):
        return batch
    try:
        plates = _plates(typed)
    except _InvalidPlates as error:
        return _response(web, desk, status=400, typed=typed, problem=str(error))
    if values != [",".join(plate.text for plate in plates)]:
        return redirect(comparison_path(plates), 303)
    user_initiated = record_visit(desk, *plates)
    dossiers = desk.dossiers(plates, first_spend())
    return _response(web, desk, dossiers, follow=user_initiated)


def _response(
    web: Web,
    desk: Desk,
    dossiers: Sequence[Dossier] = (),
    status: int = 200,
    **options: Any,
) -> BaseResponse:
    page = comparison_page(
        dossiers,
        web.render_context().now,
        notes=desk.notes([dossier.subject.text for dossier in dossiers]),
        choice=list_choice(),
        recent=() if len(dossiers) == MOST_PLATES else recent(web, desk),
        **options,
    )
    return page_response(page, status)


def _plates(texts: list[str]) -> list[Plate]:
    """Return the plates of the typed vehicles, each once. Raises _InvalidPlates."""
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
            meant = suggestions_for(text)
            hint = f" {meant[0].question}" if meant else ""
            raise _InvalidPlates(f"“{text[:20]}” não é uma placa. {INVALID_PLATE}{hint}")
    vehicles = each_once(plates)
    if not vehicles:
        raise _InvalidPlates(NONE_GIVEN)
    if len(vehicles) > MOST_PLATES:
        raise _InvalidPlates(TOO_MANY)
    return list(vehicles)
