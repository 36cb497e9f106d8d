"""The operator's page of the trail, and its file. Both require the scope ``admin``."""

from collections.abc import Sequence

from flask import request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import Identity
from portal.phrasebook.api_errors import INVALID_PLATE
from portal.presentation.exports.tables import csv_lines
from portal.presentation.operations.trail import (
    LONGEST_WHO,
    PAGE_SIZE,
    TrailPage,
    trail_table,
)
from portal.vehicle.plate import InvalidSubject, Plate
from portal.vehicle.typed import parse_typed
from portal.web.http.errors import page_error
from portal.web.routing.operator import operator
from portal.web.routing.responses import file_response, page_response, whole_number
from portal.web.routing.routes import Routes
from portal.web.web import Web
from portal.wording import sanitise_echo

_LONGEST_PLATE = 20
_MOST_ROWS = 2**31 - 1

routes = Routes("trail", robots="noindex", limited=True)


@routes.handle(SQLAlchemyError)
def _database_away(_: Web, __: SQLAlchemyError) -> BaseResponse:
    return page_error(503, retry_after_s=1)


@routes.get("/operacao/trilha")
@operator
def trail(web: Web, _: Identity) -> BaseResponse:
    who, typed = _searched()
    before = request.args.get("antes", type=lambda text: whole_number(text, most=_MOST_ROWS))
    days = web.operator.trail.days
    try:
        vehicles = _vehicles(typed)
    except InvalidSubject:
        page = TrailPage(found=(), days=days, who=who, plate=typed, problem=INVALID_PLATE)
        return page_response(page, 400)
    rows = web.operator.trail_page(PAGE_SIZE + 1, before, who, vehicles)
    return page_response(TrailPage(found=rows, days=days, who=who, plate=typed))


@routes.get("/operacao/trilha.csv")
@operator
def trail_file(web: Web, identity: Identity) -> BaseResponse:
    who, typed = _searched()
    try:
        vehicles = _vehicles(typed)
    except InvalidSubject:
        return page_error(400, INVALID_PLATE)
    rows = web.operator.trail_file(identity, who, vehicles)
    body = (line.encode() for line in csv_lines(trail_table(rows)))
    return file_response(b"".join(body), "text/csv; charset=utf-8", "trilha.csv")


def _searched() -> tuple[str, str]:
    """Return the person and the plate or Renavam that the query names, each "" for all."""
    who = request.args.get("quem", "").strip()
    plate = request.args.get("placa", "").strip()
    return sanitise_echo(who, LONGEST_WHO), sanitise_echo(plate, _LONGEST_PLATE)


def _vehicles(typed: str) -> Sequence[str] | None:
    """Return both forms of a plate, or a Renavam, or None for all. Raises InvalidSubject."""
    if not typed:
        return None
    subject = parse_typed(typed)
    twin = subject.twin if isinstance(subject, Plate) else None
    return [subject.text] if twin is None else [subject.text, twin.text]
