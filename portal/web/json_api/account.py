"""What the sender has used, and the check of an issued dossier."""

from flask import Response

from portal.presentation.exports.limits import limits_object
from portal.system.local_time import local_time
from portal.vehicle.operation_name import OPERATION_NAMES
from portal.web.json_api.calls import Call, get, json_response
from portal.web.json_api.routes import Refusal
from portal.web.verifications import shown, verify_code


@get("/api/v1/dossiers/<code>")
def issued(call: Call, code: str) -> Response:
    """Say whether a dossier was issued, as ``/verificar`` does for a number or a link's key."""
    dossier = shown(verify_code(call.web, code))
    if dossier is None:
        raise Refusal("dossier_unknown")
    return json_response(
        {
            "number": dossier.number,
            "state": dossier.state,
            "issued_at": local_time(dossier.issued_at),
            "ended_at": local_time(dossier.ended_at),
            "superseded_by": dossier.superseded_by or None,
            "plate": dossier.plate or None,
            "issuer": dossier.issuer or None,
            "finding": dossier.summary.finding if dossier.summary else None,
        }
    )


@get("/api/v1/usage")
def usage(call: Call) -> Response:
    """Return what the sender's token has used in the present month, and what a call costs."""
    today, used = call.desk.month()
    return json_response(
        {
            "month": f"{today:%Y-%m}",
            "calls": used.calls,
            "hits": used.hits,
            "spent": used.spent,
            "saved": used.saved,
            "daily_limit": call.identity.least_daily_limit or None,
            "calls_left_today": call.desk.allowance().left,
            "monthly_budget": call.identity.least_monthly_budget or None,
            **limits_object(call.desk.uses(), call.desk.batch_uses()),
            "prices": {name: call.web.desks.terms[name].price for name in OPERATION_NAMES},
            "batch_limit": call.web.desks.batch_limit,
        }
    )
