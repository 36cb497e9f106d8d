"""Pages that go through a list one vehicle at a time: to decide it, or to read its page.

They show stored answers alone. A decision is the tag that the lists show.
"""

from collections.abc import Callable
from dataclasses import replace

from flask import abort, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from portal.batch.model import UnknownBatch
from portal.desk.desk import Desk
from portal.desk.issuing import MOST_AT_ONCE
from portal.presentation.lists.deciding import DECISIONS, ENDING, deciding_page
from portal.presentation.lists.vehicle_list import ListChoice, VehicleList
from portal.presentation.walk import Walk
from portal.vehicle.plate import InvalidSubject, parse_subject
from portal.web.http.errors import page_error
from portal.web.routing.lists import vehicles_of_batch, vehicles_of_history
from portal.web.routing.responses import list_choice, page_response, whole_number
from portal.web.routing.routes import Routes, at_desk
from portal.web.web import Web
from portal.wording import counted

# The name of a list, and its vehicles.
Found = tuple[str, VehicleList]
Source = Callable[..., Found]

routes = Routes("deciding", robots="noindex", limited=True)


def _of_batch(web: Web, desk: Desk, batch: str) -> Found:
    shown, now = desk.lists.get(batch), web.render_context().now
    vehicles = vehicles_of_batch(desk, shown, desk.lists.items(batch), _choice(), now)
    counts = counted(shown.counts.total, "placa", "placas")
    return shown.name or f"Lote de {counts}", vehicles


def _of_history(web: Web, desk: Desk) -> Found:
    return "Histórico", vehicles_of_history(desk, _choice(), web.render_context().now)


def _choice() -> ListChoice:
    """Return the visitor's choice among all rows, whatever page of them the list shows."""
    return replace(list_choice(), number=1)


def _pages_of(path: str, source: Source) -> None:
    """Add the pages of the lists under a path."""

    @routes.get(f"{path}{ENDING}", f"decide{source.__name__}")
    @at_desk
    def decide(web: Web, desk: Desk, **parts: str) -> BaseResponse:
        name, vehicles = source(web, desk, **parts)
        if not vehicles.selected:
            return redirect(vehicles.url(), 303)
        asked = request.args
        page = deciding_page(name, vehicles, asked.get("carro", ""), at_end="fim" in asked)
        if page.row is None:
            bought = [row.subject for row in page.with_tag("comprar")]
            sent = desk.issuing.standing_among(bought)
            page = replace(page, sent=sent, at_once=MOST_AT_ONCE)
        return page_response(page)

    @routes.add(f"{path}{ENDING}", "POST", f"decided{source.__name__}")
    @at_desk
    def decided(web: Web, desk: Desk, **_: str) -> BaseResponse:
        """Tag a vehicle, and lead to the next. Its note stays as it is."""
        form = request.form
        tag = form.get("etiqueta", "")
        try:
            subject = parse_subject(form.get("carro", ""))
        except InvalidSubject:
            abort(400)
        if tag not in DECISIONS:
            abort(400)
        noted = desk.notes([subject.text]).get(subject.text, ("", ""))
        desk.annotate(subject, (noted[0], tag))
        next_one = form.get("seguinte", "")
        listed = VehicleList(request.path, (), {}, _choice(), web.render_context().now)
        following = {"carro": next_one} if next_one.isalnum() else {"fim": "1"}
        return redirect(listed.url(**following), 303)

    @routes.get(f"{path}/carro/<number>", f"step{source.__name__}")
    @at_desk
    def step(web: Web, desk: Desk, number: str, **parts: str) -> BaseResponse:
        """Lead to the page of the vehicle at a place of the list."""
        _, vehicles = source(web, desk, **parts)
        rows = vehicles.selected
        try:
            at = whole_number(number)
        except ValueError:
            return page_error(404)
        if not rows:
            return redirect(vehicles.url(), 303)
        at = min(at, len(rows))
        return redirect(Walk(vehicles.url(), at, len(rows)).url_of(rows[at - 1].subject), 303)


_pages_of("/lote/<batch>", _of_batch)
_pages_of("/historico", _of_history)


@routes.handle(UnknownBatch)
def _unknown(_: Web, __: UnknownBatch) -> BaseResponse:
    return page_error(404)
