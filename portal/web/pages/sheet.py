"""The shop's sheet of a vehicle, its PDF, and the forms that declare lines of the checklist.

All of them read stored answers alone: none ever causes an upstream call.
"""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Final

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.batch.typed_list import read_strings
from portal.desk.declared_lines import ContradictsRecord, seen_key
from portal.desk.desk import Desk
from portal.gateway.lookup import Spend
from portal.law.checklist import LINE_OF
from portal.phrasebook.declared import refusal
from portal.presentation.vehicle.declare_many import DeclareManyPage, Refused
from portal.vehicle.plate import Plate
from portal.web.http.errors import page_error
from portal.web.http.sessions import local_path
from portal.web.papers import sheet_page
from portal.web.routing.declared_input import (
    Changes,
    WrongDeclaration,
    form_members,
    read_declarations,
    read_seen,
)
from portal.web.routing.responses import file_response, page_response
from portal.web.routing.routes import Routes, at_desk
from portal.web.routing.vehicles import of_vehicle
from portal.web.web import Web, shown_name

_FIELDS: Final = ("line", "row", "state", "what", "amount")
# Each vehicle takes a transaction, which other writers wait for.
MOST_AT_ONCE: Final = 100
TOO_MANY: Final = (
    f"De uma vez vão até {MOST_AT_ONCE} placas: nada foi guardado, e aqui estão as primeiras."
)

routes = Routes("sheet", robots="noindex", limited=True)


@routes.get("/placa/<text>/folha")
@of_vehicle(Plate)
def sheet(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    chosen = request.args.get("linha", "")
    dossier = desk.dossier(plate, Spend.NEVER)
    return page_response(
        sheet_page(web, desk.identity, dossier, chosen if chosen in LINE_OF else "")
    )


@routes.get("/placa/<text>/folha.pdf")
@of_vehicle(Plate)
def sheet_pdf(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    page = sheet_page(web, desk.identity, desk.dossier(plate, Spend.NEVER), is_file=True)
    pdf = web.render_pdf(render_template(page.template, page=page))
    return file_response(pdf, "application/pdf", f"folha-{plate.text}.pdf", "inline")


@routes.post("/placa/<text>/declarar")
@of_vehicle(Plate)
def declare(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    """Declare lines of a vehicle or what was seen at it, and lead back to the page with the form.

    The fields of several lines are repeated in the same order. A field "row" names a row of "É este
    carro?" in place of a line. A line with a blank state is left as
    it is.
    """
    try:
        changes = _changes(web, desk, _rows())
        desk.declare(plate, changes)
    except WrongDeclaration as error:
        problem, status = str(error), 400
    except ContradictsRecord as error:
        problem, status = _refusal(web, error), 409
    else:
        path = local_path(request.form.get("next", ""))
        path = path if path != "/" else url_for(".sheet", text=plate.text)
        return redirect(f"{path}{_anchor(changes, path)}", 303)
    dossier = desk.dossier(plate, Spend.NEVER)
    return page_response(sheet_page(web, desk.identity, dossier, problem=problem), status)


@routes.get("/declarar")
@at_desk
def many_form(_: Web, __: Desk) -> BaseResponse:
    """Show the form that declares one line of the ticked vehicles of a list."""
    plates = _plates(request.args.getlist("placas"))
    if not plates:
        return page_error(400)
    problem = TOO_MANY if len(plates) > MOST_AT_ONCE else ""
    return page_response(DeclareManyPage(plates[:MOST_AT_ONCE], problem))


@routes.post("/declarar")
@at_desk
def many(web: Web, desk: Desk) -> BaseResponse:
    """Declare the same line of several vehicles, but not where a record says otherwise."""
    plates = _plates(request.form.getlist("placas"))
    if not plates:
        return page_error(400)
    if len(plates) > MOST_AT_ONCE:
        return page_response(DeclareManyPage(plates[:MOST_AT_ONCE], TOO_MANY), 400)
    try:
        changes = _changes(web, desk, [request.form])
    except WrongDeclaration as error:
        return page_response(DeclareManyPage(plates, problem=str(error)), 400)
    refused = []
    desk.prepare(plates)
    for plate in plates:
        try:
            desk.declare(plate, changes)
        except ContradictsRecord as error:
            refused.append(Refused(plate, _refusal(web, error)))
    page = DeclareManyPage(plates, refused=refused, is_done=True)
    return page_response(page, 409 if len(refused) == len(plates) else 200)


def _anchor(changes: Changes, path: str) -> str:
    """Return the anchor of the one line that was declared, or ""."""
    if len(changes) != 1:
        return ""
    key = next(iter(changes))
    if key not in LINE_OF:
        return f"#carro-{key.removeprefix(seen_key(''))}"
    return f"#{'linha' if path.endswith('/folha') else 'verificar'}-{key}"


def _refusal(web: Web, error: ContradictsRecord) -> str:
    return refusal(error.declaration, error.record, web.render_context().today)


def _plates(texts: Sequence[str]) -> list[Plate]:
    return [subject for subject in read_strings(texts).subjects if isinstance(subject, Plate)]


def _rows() -> list[Mapping[str, str]]:
    """Return the fields of each line. Those that all lines share stand once."""
    columns = (request.values.getlist(name) for name in _FIELDS)
    shared = {name: request.form.get(name, "") for name in ("source", "on")}
    rows = (dict(zip(_FIELDS, row, strict=True)) for row in zip_longest(*columns, fillvalue=""))
    return [row | shared for row in rows if row["state"]]


def _changes(web: Web, desk: Desk, rows: Sequence[Mapping[str, str]]) -> Changes:
    """Return the declarations of a form. Raises WrongDeclaration."""
    today, who = web.render_context().today, shown_name(desk.identity)
    members = [form_members(row) for row in rows]
    lines = [member for member in members if "row" not in member]
    return {
        **read_declarations(lines, who, today),
        **read_seen([member for member in members if "row" in member], who, today),
    }
