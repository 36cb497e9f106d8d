"""Vehicle pages: plate, panels, dossier, negotiation, refresh and report.

All of them require an identity. A GET that no user initiated shows only stored answers, so that it
costs nothing. A page for a Renavam shows the lookups that need no plate.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from flask import abort, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import Identity
from portal.desk.lookups import rejection_sentence
from portal.desk.written_reports import NoRecords
from portal.dossier.changes import what_changed
from portal.dossier.dossier import Dossier
from portal.dossier.gaps import not_refreshed
from portal.gateway.lookup import Failure, Spend
from portal.gateway.operations import lookups_of
from portal.phrasebook.api_errors import INVALID_PLATE
from portal.phrasebook.failures import FAULTS, sentence_about
from portal.presentation.tools.negotiation import negotiation_page
from portal.presentation.vehicle.page import panel_fragment, renavam_page, vehicle_page
from portal.presentation.vehicle.panel_frame import PANEL_NAMES, panel_needs
from portal.system.local_time import local_time
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import InvalidSubject, Plate, Renavam
from portal.vehicle.typed import is_tax_number
from portal.web.http.errors import page_error, this_path
from portal.web.http.spending import first_spend, is_user_initiated, page_spend
from portal.web.pages.public import search_response
from portal.web.services.dossiers import draft_dossier, stored_deadlines
from portal.web.services.responses import (
    calendar_response,
    page_response,
    pdf_response,
    show_notice,
)
from portal.web.services.routes import Routes, View, signed_in
from portal.web.services.web import Web

NOT_REFRESHED = "Nem tudo foi atualizado"
REFRESHED = "Atualizado às {}"
NOT_STORED = (
    "A resposta não pôde ser guardada\n"
    "Ela está só nesta página: imprima ou salve o que precisar. Se for pedida de novo, pode ser "
    "cobrada de novo."
)
NO_REPORT = "A análise não pôde ser escrita"
NOTHING_TO_WRITE_ABOUT = (
    "Nenhum registro deste veículo está disponível agora, e sem registros não há em que "
    "basear a análise. Ela não foi pedida nem cobrada. Tente de novo daqui a pouco."
)

NO_DEADLINES = "Ainda não há prazos para o calendário"
NO_STORED_FINES = (
    "O calendário é feito das multas guardadas, e não há consulta de multas guardada para esta "
    "placa. Isto não significa que não haja multa: consulte o veículo e volte aqui."
)

routes = Routes("vehicle", robots="noindex", limited=True)


def for_subject(kind: type[Plate] | type[Renavam]) -> Callable[[View], View]:
    """Return a decorator of views that require a sign-in and a valid plate or Renavam in the URL.

    If the plate or Renavam is not in its canonical form, the decorated view redirects to the URL
    with the canonical form. Eleven zeros and a person's tax number are no Renavam here, although
    the JSON paths accept any eleven digits.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def checked(web: Web, identity: Identity, text: str, **parts: str) -> BaseResponse:
            try:
                subject = kind.parse(text)
                if isinstance(subject, Renavam) and (subject.is_invented or is_tax_number(subject)):
                    raise InvalidSubject(text)
            except InvalidSubject:
                return search_response(web, 400, text[:80], INVALID_PLATE)
            if subject.text != text:
                return redirect(this_path(text=subject.text), 308)
            return view(web, identity, subject, **parts)

        return signed_in(checked)

    return decorator


@routes.get("/placa/<text>")
@for_subject(Plate)
def vehicle(web: Web, identity: Identity, plate: Plate) -> BaseResponse:
    user_initiated = record_visit(web, plate)
    dossier = web.desk(identity).dossier(plate, first_spend())
    if user_initiated:
        web.desks.expect_lookups(len(dossier.answers.in_state("unasked")))
    context = web.render_context()
    html = web.page_cache.render(
        web.site(),
        vehicle_page,
        dossier,
        replace(context, now=context.now.replace(microsecond=0)),
        follow=user_initiated,
        **_permissions(web, identity),
    )
    return make_response(html)


@routes.get("/placa/<text>/painel/<name>")
@for_subject(Plate)
def panel(web: Web, identity: Identity, plate: Plate, name: str) -> BaseResponse:
    if name not in PANEL_NAMES:
        abort(404)
    dossier = web.desk(identity).dossier(plate, page_spend(), panel_needs(name))
    return page_response(panel_fragment(name, dossier, web.render_context()))


@routes.get("/renavam/<text>")
@for_subject(Renavam)
def renavam(web: Web, identity: Identity, number: Renavam) -> BaseResponse:
    record_visit(web, number)
    dossier = web.desk(identity).dossier(number, page_spend(), lookups_of(number))
    return page_response(renavam_page(dossier, web.render_context()))


@routes.get("/placa/<text>/dossie")
@for_subject(Plate)
def dossier(web: Web, identity: Identity, plate: Plate) -> BaseResponse:
    return page_response(draft_dossier(web, plate, identity))


@routes.get("/placa/<text>/dossie.pdf")
@for_subject(Plate)
def dossier_pdf(web: Web, identity: Identity, plate: Plate) -> BaseResponse:
    page = draft_dossier(web, plate, identity)
    html = render_template(page.template, page=page)
    if page.state != "ready":
        # Someone could show an empty PDF to others as a dossier. The response is therefore the HTML
        # page, which states what is missing.
        is_outage = page.gap is not None and page.gap.can_retry and page.state == "empty"
        return make_response(html, 503 if is_outage else 200)
    return pdf_response(web.render_pdf(html), plate.text)


@routes.get("/placa/<text>/prazos.ics")
@for_subject(Plate)
def deadlines(web: Web, identity: Identity, plate: Plate) -> BaseResponse:
    _, calendar = stored_deadlines(web, plate, identity)
    if calendar is None:
        return page_error(404, NO_DEADLINES, NO_STORED_FINES, plate.text)
    return calendar_response(calendar, plate.text, "inline")


@routes.get("/placa/<text>/negociacao")
@for_subject(Plate)
def negotiation(web: Web, identity: Identity, plate: Plate) -> BaseResponse:
    """Return the negotiation page from stored answers, without an upstream call."""
    dossier = web.desk(identity).dossier(plate, Spend.NEVER)
    asked = request.args.to_dict() | {"multas": ",".join(request.args.getlist("multas"))}
    page = negotiation_page(dossier, web.render_context().now, asked)
    return page_response(page, 400 if page.is_wrong else 200)


@routes.post("/placa/<text>/atualizar")
@for_subject(Plate)
def refresh(web: Web, identity: Identity, plate: Plate) -> BaseResponse:
    if not identity.has_scope("refresh"):
        abort(403)
    names = [name for name in LOOKUPS if identity.has_scope(name)]
    desk = web.desk(identity)
    before = desk.dossier(plate, Spend.NEVER, names)
    dossier = desk.dossier(plate, Spend.AGAIN, names)
    panels = dossier.answers
    failures = not_refreshed(panels, plate)
    if failures:
        show_notice(f"{NOT_REFRESHED}\n{failures}")
    elif names:
        notice = REFRESHED.format(f"{local_time(web.render_context().now):%H:%M}")
        changes = what_changed(before.answers, panels, dossier.today, dossier.marker)
        show_notice(f"{notice}: {changes}" if changes else notice)
    if any(panel.served and not panel.served.stored for panel in panels.all):
        # The paid answer was not stored, so a redirect would lose the answer.
        show_notice(NOT_STORED)
        return _unstored_page(web, identity, dossier)
    return redirect(url_for("vehicle.vehicle", text=plate.text), 303)


@routes.post("/placa/<text>/laudo")
@for_subject(Plate)
def report(web: Web, identity: Identity, plate: Plate) -> BaseResponse:
    # Without any lookup in scope, there is no record that a report could be about.
    if not identity.has_scope("report") or not any(map(identity.has_scope, LOOKUPS)):
        abort(403)
    last_purge = web.desks.gateway.last_purge()
    dossier = web.desk(identity).dossier(plate)
    try:
        served = web.desks.lookups.reports.write(plate, dossier.answers, identity, last_purge)
    except NoRecords:
        return page_error(503, NO_REPORT, NOTHING_TO_WRITE_ABOUT, plate.text)
    except Failure as failure:
        fault = FAULTS[failure.kind]
        sentence = sentence_about(failure.kind, failure.retry_after_s)
        return page_error(fault.status, NO_REPORT, sentence, plate.text)
    if served.status != 200:
        return page_error(502, NO_REPORT, rejection_sentence(served, plate), plate.text)
    if not served.stored:
        written = web.desks.lookups.reports.unstored_panel(served, dossier.answers)
        answers = replace(dossier.answers, report=written)
        return _unstored_page(web, identity, replace(dossier, answers=answers))
    return redirect(url_for("vehicle.vehicle", text=plate.text, _anchor="laudo"), 303)


def _unstored_page(web: Web, identity: Identity, dossier: Dossier) -> BaseResponse:
    """Return the vehicle page, showing paid answers that could not be stored."""
    permissions = _permissions(web, identity)
    return page_response(vehicle_page(dossier, web.render_context(), **permissions))


def _permissions(web: Web, identity: Identity) -> dict[str, Any]:
    return {
        "may_refresh": identity.has_scope("refresh"),
        "left_today": web.desks.lookups.cost(identity).left,
        "may_write": identity.has_scope("report") and identity.may_spend,
        "may_follow": identity.credential is None,
    }


def record_visit(web: Web, *subjects: Plate | Renavam) -> bool:
    """Return whether a user initiated the request. If so, add the vehicles to the history."""
    if not is_user_initiated():
        return False
    for subject in subjects:
        web.desks.history.record(web.sessions.history_key, subject.text)
    return True
