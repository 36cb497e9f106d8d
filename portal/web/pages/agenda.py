"""``/agenda``: the address of a calendar with the deadlines of all the visitor's vehicles."""

from dataclasses import dataclass
from typing import ClassVar

from flask import Response, abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.desk.desk import Desk
from portal.presentation.exports.calendar import agenda_calendar
from portal.web.http.sessions import SHARED_CALENDAR
from portal.web.routing.responses import calendar_response, page_response, show_notice
from portal.web.routing.routes import Routes, at_desk
from portal.web.web import Web

MADE = "O endereço foi criado. Assine-o no seu calendário; quem o tiver vê os prazos."
REVOKED = "O endereço foi revogado: os calendários que o assinam deixam de receber prazos."

routes = Routes("agenda", robots="noindex, nofollow", limited=True)
# The feed is read by programs without a session.
feed_routes = Routes(SHARED_CALENDAR, robots="noindex, nofollow", limited=True)


@dataclass(frozen=True, slots=True)
class AgendaPage:
    """The page that makes and revokes the address. ``address`` is "" without one."""

    template: ClassVar[str] = "pages/agenda.html"
    address: str
    is_offered: bool

    @property
    def webcal(self) -> str:
        """The address under which calendar programs subscribe, instead of downloading."""
        return "webcal:" + self.address.partition(":")[2]


@routes.get("/agenda")
@at_desk
def agenda(_: Web, desk: Desk) -> BaseResponse:
    key = desk.calendar_address.key
    address = url_for(f"{SHARED_CALENDAR}.feed", key=key, _external=True) if key else ""
    return page_response(AgendaPage(address, desk.calendar_address.is_offered))


@routes.post("/agenda")
@at_desk
def change(_: Web, desk: Desk) -> BaseResponse:
    """Make an address, which ends a former one, or revoke it (``revogar``)."""
    if request.form.get("revogar"):
        desk.calendar_address.revoke()
        show_notice(REVOKED)
    elif not desk.calendar_address.is_offered:
        abort(403)
    else:
        desk.calendar_address.make()
        show_notice(MADE)
    return redirect(url_for("agenda.agenda"), 303)


@feed_routes.get("/agenda/<key>.ics")
def feed(web: Web, key: str) -> Response:
    dossiers = web.desks.agenda_of(key)
    if dossiers is None:
        abort(404)
    calendar = agenda_calendar(dossiers, web.render_context().today)
    return calendar_response(calendar, "prazos", "inline")
