"""The pages that list, annotate and erase the visitor's own history of lookups.

The list shows only stored answers, so it never causes an upstream call.
"""

from collections.abc import Mapping
from decimal import Decimal

from flask import redirect, request
from werkzeug.wrappers import Response as BaseResponse

from portal.access.history import CHOICES_DAYS
from portal.desk.desk import Desk
from portal.dossier.row import listed_row
from portal.formats import day_words
from portal.presentation.lists.vehicle_list import LONGEST_NOTE, TAGS, VehicleList
from portal.presentation.site.history_page import PAGE_SIZE, HistoryLine, HistoryPage
from portal.system.local_time import utc_time
from portal.vehicle.plate import parse_subject
from portal.web.http.sessions import local_path
from portal.web.routing.lists import recent_part
from portal.web.routing.responses import list_choice, one_of, page_response
from portal.web.routing.routes import Routes, at_desk
from portal.web.web import Web
from portal.wording import sanitise_echo

routes = Routes("history", robots="noindex", limited=True)


@routes.get("/historico")
@at_desk
def history(web: Web, desk: Desk) -> BaseResponse:
    choice = list_choice()
    shown, dossiers, total = recent_part(desk, choice)
    prices, now = desk.prices(), web.render_context().now
    # Payments are recorded under the caller's name, which all demo visitors share.
    paid: Mapping[str, Decimal | None] = {}
    if has_account := not web.sessions.is_demo:
        paid = desk.paid([entry.subject for entry in shown])
    rows = [*map(listed_row, dossiers)]
    page = HistoryPage(
        VehicleList(
            path="/historico",
            rows=rows,
            changed=desk.last_seen.changed(rows, now),
            notes=desk.notes([entry.subject for entry in shown]),
            choice=choice,
            now=now,
            total=total,
            page_size=PAGE_SIZE,
            days={entry.subject: day_words(utc_time(entry.asked_at), now) for entry in shown},
        ),
        entries={
            entry.subject: HistoryLine(
                dossier.subject,
                dossier.answers,
                utc_time(entry.asked_at),
                prices,
                paid.get(entry.subject, Decimal(0)),
                has_account,
            )
            for entry, dossier in zip(shown, dossiers, strict=True)
        },
        batches=desk.lists.all(),
        kept_s=desk.history_kept_s,
        choices_days=CHOICES_DAYS,
    )
    return page_response(page)


@routes.post("/historico")
@at_desk
def keep(_: Web, desk: Desk) -> BaseResponse:
    """Keep the visitor's history for as many days as the form says."""
    days = request.form.get("dias", 0, type=int)
    if days in CHOICES_DAYS:
        desk.keep_history(days)
    return redirect("/historico", 303)


@routes.post("/historico/nota")
@at_desk
def annotate(_: Web, desk: Desk) -> BaseResponse:
    """Replace the visitor's note and tag of a vehicle, which may be in any list."""
    form = request.form
    if subject := form.get("consulta", type=parse_subject):
        text = sanitise_echo(form.get("nota", "").strip(), LONGEST_NOTE)
        note = text, form.get("etiqueta", "", type=one_of(TAGS))
        desk.annotate(subject, note)
    return redirect(local_path(form.get("next", "/historico")), 303)


# This route needs no sign-in. Without a session there is no history, so nothing is erased.
@routes.post("/historico/apagar")
def erase(web: Web) -> BaseResponse:
    """Erase one vehicle from the visitor's history.

    If the form names no vehicle, erase the whole history.
    """
    form = request.form
    subject = form.get("consulta", type=parse_subject)
    if subject or not form.get("consulta"):
        web.desks.erase_history(web.sessions.history_key, subject.text if subject else None)
    return redirect(local_path(form.get("next", "/")), 303)
