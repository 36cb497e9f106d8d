"""Vehicle pages: plate, panels, dossier, negotiation, refresh and report.

All of them require an identity. A GET that no user initiated shows only stored answers, so that it
costs nothing. A page for a Renavam shows the lookups that need no plate.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from flask import abort, make_response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.desk.desk import Desk, ReportRejected
from portal.desk.written_reports import NoRecords
from portal.dossier.dossier import Dossier
from portal.gateway.lookup import Failure, Spend
from portal.gateway.operations import lookups_of
from portal.law.last_seen import SinceLastSeen
from portal.phrasebook.failures import FAULTS, sentence_about
from portal.presentation.exports.calendar import vehicle_calendar
from portal.presentation.vehicle.negotiation import negotiation_page
from portal.presentation.vehicle.page import panel_fragment, renavam_page, vehicle_page
from portal.presentation.vehicle.panel_frame import PANEL_NAMES, panel_needs
from portal.system.local_time import local_time
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import Plate, Renavam
from portal.web.http.errors import page_error
from portal.web.http.spending import first_spend, is_user_initiated, page_spend
from portal.web.papers import data_of, paper_of
from portal.web.routing.responses import (
    calendar_response,
    page_response,
    pdf_response,
    show_notice,
    ticked_lookups,
)
from portal.web.routing.routes import Routes
from portal.web.routing.vehicles import of_vehicle, record_visit
from portal.web.web import Web

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


@routes.get("/placa/<text>")
@of_vehicle(Plate)
def vehicle(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    user_initiated = record_visit(desk, plate)
    dossier = desk.dossier(plate, first_spend())
    if user_initiated:
        desk.expect_lookups(dossier)
    context = web.render_context()
    html = web.page_cache.render(
        web.site(),
        vehicle_page,
        dossier,
        replace(context, now=context.now.replace(microsecond=0)),
        follow=user_initiated,
        since=_since(desk, dossier, context.now, is_look=user_initiated),
        **_permissions(desk),
    )
    return make_response(html)


@routes.get("/placa/<text>/painel/<name>")
@of_vehicle(Plate)
def panel(web: Web, desk: Desk, plate: Plate, name: str) -> BaseResponse:
    if name not in PANEL_NAMES:
        abort(404)
    dossier = desk.dossier(plate, page_spend(), panel_needs(name))
    context = web.render_context()
    is_summary = name == "resumo"
    since = _since(desk, dossier, context.now, is_look=is_user_initiated()) if is_summary else None
    return page_response(panel_fragment(name, dossier, context, since))


@routes.get("/renavam/<text>")
@of_vehicle(Renavam)
def renavam(web: Web, desk: Desk, number: Renavam) -> BaseResponse:
    is_look = record_visit(desk, number)
    dossier = desk.dossier(number, page_spend(), lookups_of(number))
    context = web.render_context()
    since = _since(desk, dossier, context.now, is_look=is_look)
    return page_response(renavam_page(dossier, context, since))


@routes.get("/placa/<text>/dossie")
@of_vehicle(Plate)
def dossier(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    return page_response(paper_of(web, desk.dossier(plate, page_spend())))


@routes.get("/placa/<text>/dossie.pdf")
@of_vehicle(Plate)
def dossier_pdf(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    page = paper_of(web, desk.dossier(plate, page_spend()))
    html = render_template(page.template, page=page)
    if page.state != "ready":
        # Someone could show an empty PDF to others as a dossier. The response is therefore the HTML
        # page, which states what is missing.
        is_outage = page.gap is not None and page.gap.can_retry and page.state == "empty"
        return make_response(html, 503 if is_outage else 200)
    pdf = web.render_pdf(html, data_of(page))
    desk.witness.exported([plate])
    return pdf_response(pdf, plate.text)


@routes.get("/placa/<text>/prazos.ics")
@of_vehicle(Plate)
def deadlines(_: Web, desk: Desk, plate: Plate) -> BaseResponse:
    calendar = vehicle_calendar(desk.dossier(plate, Spend.NEVER, ["renainf"]))
    if calendar is None:
        return page_error(404, NO_DEADLINES, NO_STORED_FINES, plate.text)
    desk.witness.exported([plate])
    return calendar_response(calendar, plate.text, "inline")


@routes.get("/placa/<text>/negociacao")
@of_vehicle(Plate)
def negotiation(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    """Return the negotiation page from stored answers, without an upstream call."""
    asked = request.args.to_dict() | {"multas": ",".join(request.args.getlist("multas"))}
    dossier, now = desk.dossier(plate, Spend.NEVER), web.render_context().now
    page = negotiation_page(dossier, now, asked, may_ask=desk.identity.may_spend)
    return page_response(page, 400 if page.is_wrong else 200)


@routes.post("/placa/<text>/atualizar")
@of_vehicle(Plate)
def refresh(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    if not desk.caller.may("refresh"):
        abort(403)
    ask = ticked_lookups()
    renewed = desk.renew(plate, ask or LOOKUPS)
    if failures := renewed.failures:
        show_notice(f"{NOT_REFRESHED}\n{failures}")
    elif desk.prices():
        notice = REFRESHED.format(f"{local_time(web.render_context().now):%H:%M}")
        show_notice(f"{notice}: {renewed.changes}" if renewed.changes else notice)
    if not renewed.is_stored:
        # A redirect would lose the answer, which was paid.
        show_notice(NOT_STORED)
        return _unstored_page(web, desk, renewed.dossier)
    return redirect(url_for("vehicle.vehicle", text=plate.text), 303)


@routes.post("/placa/<text>/laudo")
@of_vehicle(Plate)
def report(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    if not desk.may_report:
        abort(403)
    try:
        renewed = desk.report(plate)
    except NoRecords:
        return page_error(503, NO_REPORT, NOTHING_TO_WRITE_ABOUT, plate.text)
    except Failure as failure:
        fault = FAULTS[failure.kind]
        sentence = sentence_about(failure.kind, failure.retry_after_s)
        return page_error(fault.status, NO_REPORT, sentence, plate.text)
    except ReportRejected as error:
        return page_error(502, NO_REPORT, str(error), plate.text)
    if not renewed.is_stored:
        return _unstored_page(web, desk, renewed.dossier)
    return redirect(url_for("vehicle.vehicle", text=plate.text, _anchor="laudo"), 303)


def _unstored_page(web: Web, desk: Desk, dossier: Dossier) -> BaseResponse:
    """Return the vehicle page, showing paid answers that could not be stored."""
    return page_response(vehicle_page(dossier, web.render_context(), **_permissions(desk)))


def _since(desk: Desk, dossier: Dossier, now: datetime, *, is_look: bool) -> SinceLastSeen | None:
    """Return what differs from what the caller last saw.

    A request that no user initiated notes nothing.
    """
    last_seen = desk.last_seen
    return last_seen.look(dossier, now) if is_look else last_seen.since(dossier, now)


def _permissions(desk: Desk) -> dict[str, Any]:
    return {
        "may_refresh": desk.caller.may("refresh"),
        "left_today": desk.cost().left,
        "may_write": desk.may_report,
        "may_follow": not desk.caller.pays_alone,
    }
