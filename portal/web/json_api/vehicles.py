"""One vehicle's dossier as JSON, its tables and the calendar of its deadlines."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from flask import Response

from portal.gateway.lookup import Spend
from portal.presentation.exports.calendar import vehicle_calendar
from portal.presentation.exports.explained import explained
from portal.presentation.exports.tables import Dialect, Format
from portal.presentation.exports.vehicle_tables import NEEDS, TableName, vehicle_table
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate
from portal.web.json_api.calls import Call, get, json_response, without_answer
from portal.web.json_api.files import RECORD_FILES, download
from portal.web.json_api.routes import success_headers
from portal.web.routing.responses import calendar_response

VEHICLE: Final = "/api/v1/vehicles/<plate>"


@get(VEHICLE)
def vehicle(call: Call, plate: Plate, ask: Sequence[LookupName] = LOOKUPS) -> Response:
    dossier = call.desk.dossier(plate, call.spend, ask, ask)
    now = call.web.render_context().now
    # A script sees no page, so only a session has something that it last saw.
    since = call.desk.last_seen.since(dossier, now) if call.caller.by_session else None
    return json_response(explained(dossier, now, since))


@get(f"{VEHICLE}/deadlines.ics", "vehicle_deadlines", "renainf")
def deadlines(call: Call, plate: Plate) -> Response:
    dossier = call.desk.dossier(plate, Spend.NEVER, ["renainf"])
    panel, calendar = dossier.answers.fines, vehicle_calendar(dossier)
    if calendar is None or panel.served is None:
        raise without_answer(panel)
    call.desk.witness.exported([plate])
    response = calendar_response(calendar, plate.text, "attachment")
    response.headers.extend(success_headers(panel.served))
    return response


def _table(
    call: Call, plate: Plate, name: TableName, kind: Format, dialect: Dialect = "brazil"
) -> Response:
    dossier = call.desk.dossier(plate, call.spend, [NEEDS[name]])
    table, panel = vehicle_table(name, dossier), dossier.answers.of(NEEDS[name])
    if table is None or panel.served is None:
        raise without_answer(panel)
    call.desk.witness.exported([plate])
    response = download(call, table, kind, dialect, f"{plate.text}-{name}")
    response.headers.extend(success_headers(panel.served))
    return response


for _name, _need in NEEDS.items():
    for _kind in RECORD_FILES:
        get(f"{VEHICLE}/{_name}.{_kind}", f"{_name}_{_kind}", _need)(
            partial(_table, name=_name, kind=_kind)
        )
