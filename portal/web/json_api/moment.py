"""The proof of the moment of payment, for programs."""

from decimal import ROUND_DOWN, Decimal
from typing import Final, NamedTuple

from flask import Response, request, url_for

from portal.desk.issuing import NothingToIssue
from portal.desk.moments import USUAL, Terms, TooDear, Unanswered, UnknownFormer
from portal.issued.identifiers import display_number
from portal.presentation.issued.moment import moment_document
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate
from portal.web.http.errors import message_response
from portal.web.http.rate_limits import refuse
from portal.web.json_api.batches import INVALID_ASK_LIST
from portal.web.json_api.calls import (
    Call,
    asked,
    body_of,
    json_response,
    post,
    sent_key,
    without_answer,
)
from portal.web.json_api.routes import Refusal
from portal.web.papers import moment_paper

INVALID: Final = (
    'O corpo é opcional: um objeto JSON com "ask", uma lista de consultas, "number", o número do '
    'dossiê a comparar, e "max_cost", em reais, como 0.10.'
)
PURGED: Final = "Os dados deste veículo foram excluídos durante o pedido. Nada foi emitido."
_HIGHEST_COST: Final = 10**9  # R$
_SMALLEST_PRICE: Final = Decimal("0.000001")  # R$


class Sent(NamedTuple):
    ask: tuple[LookupName, ...]
    number: str
    max_cost: Decimal | None
    key: str | None


def _sent(call: Call) -> Sent:
    document = body_of(call, INVALID, may_be_absent=True)
    names, number = document.get("ask"), document.get("number")
    if names is None:
        ask = USUAL
    elif isinstance(names, list) and names:
        ask = asked(names, call.caller, "body_invalid", INVALID_ASK_LIST)
    else:
        raise Refusal("body_invalid", INVALID_ASK_LIST)
    if not call.desk.moments.may(ask):
        raise Refusal("scope_missing")
    if number is not None and not isinstance(number, str):
        raise Refusal("body_invalid", INVALID)
    key = sent_key()
    return Sent(ask, number or "", _max_cost(document.get("max_cost")), key)


def _max_cost(value: object) -> Decimal | None:
    if value is None:
        return None
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        raise Refusal("body_invalid", INVALID)
    if not 0 <= value <= _HIGHEST_COST:
        raise Refusal("body_invalid", INVALID)
    return Decimal(value).quantize(_SMALLEST_PRICE, ROUND_DOWN)


@post("/api/v1/vehicles/<plate>/moment", body=_sent)
def moment(call: Call, plate: Plate, body: Sent) -> Response:
    """Make lookups again, compare them, and issue a dossier of this moment."""
    terms = Terms(plate, body.ask, body.number, body.max_cost)
    refuse(call.web.limits.issue_wait(request.remote_addr))
    try:
        number = call.desk.moments.issue(terms, moment_paper(call.web), body.key)
        call.web.limits.count_issued(request.remote_addr)
    except UnknownFormer:
        raise Refusal("dossier_unknown") from None
    except TooDear:
        raise Refusal("cost_above_limit") from None
    except NothingToIssue:
        return message_response("portal_unavailable", PURGED, 1)
    except Unanswered as error:
        raise without_answer(error.panel) from None
    issued = call.desk.issuing.owned(number)
    assert issued is not None  # it was issued, and only its owner revokes it
    response = json_response(moment_document(issued))
    response.status_code = 201
    response.headers["Location"] = url_for("dossiers.dossier", text=display_number(number))
    return response
