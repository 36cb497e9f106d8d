"""A vehicle's checklist and what was seen at it, read and written. No call is made."""

from collections.abc import Collection
from typing import Any, Final

from flask import Response

from portal.desk.declared_lines import ContradictsRecord
from portal.gateway.lookup import Spend
from portal.phrasebook.declared import refusal
from portal.presentation.exports.declared import declared_object
from portal.vehicle.plate import Plate
from portal.web.http.errors import message_response
from portal.web.json_api.calls import (
    UNKNOWN_MEMBER,
    Call,
    body_of,
    get,
    json_response,
    put,
    refuse_unknown,
    routes,
)
from portal.web.json_api.routes import Refusal
from portal.web.json_api.vehicles import VEHICLE
from portal.web.routing.declared_input import (
    MEMBERS,
    SEEN_MEMBERS,
    Changes,
    WrongDeclaration,
    read_declarations,
    read_seen,
)
from portal.web.web import Web, shown_name

INVALID_LINES: Final = (
    'O corpo deve ser um objeto JSON com "lines", "seen" ou ambas, cada uma uma lista de objetos.'
)


def _changes(call: Call) -> Changes:
    """Return the declarations in the body. Raises Refusal (400)."""
    document = body_of(call, INVALID_LINES)
    if not document:
        raise Refusal("body_invalid", INVALID_LINES)
    lines = _objects(document.get("lines", []), MEMBERS)
    seen = _objects(document.get("seen", []), SEEN_MEMBERS)
    today, who = call.web.render_context().today, shown_name(call.identity)
    try:
        return {**read_declarations(lines, who, today), **read_seen(seen, who, today)}
    except WrongDeclaration as error:
        raise Refusal("body_invalid", str(error)) from None


def _objects(given: object, members: Collection[str]) -> list[dict[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(line, dict) for line in given):
        raise Refusal("body_invalid", INVALID_LINES)
    for line in given:
        refuse_unknown(line, members, UNKNOWN_MEMBER)
    return given


@get(f"{VEHICLE}/declared")
def declared_lines(call: Call, plate: Plate) -> Response:
    return json_response(declared_object(call.desk.dossier(plate, Spend.NEVER)))


@put(f"{VEHICLE}/declared", body=_changes)
def declare(call: Call, plate: Plate, body: Changes) -> Response:
    return json_response(declared_object(call.desk.declare(plate, body)))


@routes.handle(ContradictsRecord)
def _contradicts_record(web: Web, error: ContradictsRecord) -> Response:
    message = refusal(error.declaration, error.record, web.render_context().today)
    return message_response("contradicts_record", message)
