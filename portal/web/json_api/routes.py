"""Serves the upstream's five JSON paths, with the response bodies unchanged."""

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, Response, abort, current_app, g, request

from portal.access.tokens import Gatekeeper, Identity, RefusedToken, UnknownToken
from portal.gateway.gateway import Snapshot
from portal.gateway.lookup import Failure, Lookup, Served, report_lookup
from portal.gateway.operations import LOOKUP_OPERATIONS, RENAINF, REPORT, Operation
from portal.gateway.strict_json import NotStrictJSON, parse_exact
from portal.phrasebook.api_errors import API_ERRORS
from portal.phrasebook.failures import FAULTS
from portal.system.caller_credentials import NoCredential, read_credential
from portal.vehicle.plate import STATES, InvalidSubject, Plate, Renavam, parse_subject
from portal.web.http.errors import message_response
from portal.web.http.rate_limits import network, refuse
from portal.web.http.slot_limits import BODY_CAP
from portal.web.http.spending import header_spend
from portal.web.routing.routes import Routes
from portal.web.web import Web

INVALID_UF = "Por favor, informe uma UF válida."
INVALID_BODY = 'O corpo deve ser um objeto JSON com "plate" e "data".'
INVALID_DATA = 'O membro "data" deve ser um objeto JSON.'
# The hit cache stores its Snapshot under this key in the WSGI environment. No client can set the
# key, because the keys of request headers begin with "HTTP_".
CHECKED: Final = "portal.checked_request"


class Refusal(Exception):
    """Ends a request with the error of a code in API_ERRORS.

    ``message`` replaces the message of the table.
    """

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


# The codes of exceptions that authentication and the reading of paths raise.
_CODES: Final[Mapping[type[Exception], str]] = {
    NoCredential: "credential_missing",
    RefusedToken: "token_ended",
    InvalidSubject: "plate_invalid",
}
REFUSED_BY: Final[tuple[type[Exception], ...]] = (Refusal, UnknownToken, *_CODES)


class JsonRoutes(Routes):
    """Routes whose errors are JSON, and which answer OPTIONS with the header Allow alone."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.handle(Refusal)(lambda _, error: message_response(error.code, error.message))
        self.handle(Failure)(_failed)
        self.handle(UnknownToken)(_unknown_token)
        for error, code in _CODES.items():
            self.answer(error, code)

    def answer(self, error: type[Exception], code: str) -> None:
        """Answer an exception with the error ``code`` of API_ERRORS."""
        self.handle(error)(lambda *_: message_response(code))

    def blueprint(self, web: Web) -> Blueprint:
        paths = super().blueprint(web)
        paths.before_request(_answer_options)
        return paths


def _unknown_token(web: Web, _: UnknownToken) -> Response:
    """Return status 401, or 429 after too many unknown tokens from one address."""
    wait_s = web.limits.wrong_token(request.remote_addr)
    code = "credential_unknown" if wait_s is None else "too_many_requests"
    return message_response(code, retry_after_s=wait_s)


def _failed(web: Web, failure: Failure) -> Response:
    fault = FAULTS[failure.kind]
    code, status = fault.code, fault.status
    if failure.kind == "busy" and web.gatekeeper.mode == "pass-through":
        code, status = "upstream_limit", API_ERRORS["upstream_limit"].status
    wait_s = 1.0 if failure.retry_after_s is None else failure.retry_after_s
    message = fault.sentence if fault.own_status else ""
    wait = wait_s if status in (429, 503) else None
    return message_response(code, message, wait, status)


def _answer_options() -> Response | None:
    if request.method != "OPTIONS":
        return None
    allowed = {*current_app.make_default_options_response().allow} - {"OPTIONS"}
    response = Response(status=204, headers={"Allow": ", ".join([*sorted(allowed), "OPTIONS"])})
    del response.headers["Content-Type"]  # a 204 has no content
    return response


# The routes check for errors in the order 404/405, 401, 403, 413/415/400, 429.
routes = JsonRoutes("api")


def _vehicle_view(operation: Operation) -> Callable[..., Response]:
    def view(web: Web, **parts: str) -> Response:
        return _answer(web, operation, lambda _: vehicle_lookup(operation, **parts))

    return view


for _operation in LOOKUP_OPERATIONS:
    routes.get(f"{_operation.path}/<plate>", _operation.name)(_vehicle_view(_operation))
routes.get(f"{RENAINF.path}/<plate>/<uf>", "renainf_uf")(_vehicle_view(RENAINF))


@routes.post(REPORT.path)
def report(web: Web) -> Response:
    def lookup(identity: Identity) -> Lookup:
        document = read_object(web, identity, INVALID_BODY)
        plate_text = document.get("plate")
        plate = Plate.parse(plate_text if isinstance(plate_text, str) else "")
        data = document.get("data")
        if not isinstance(data, dict):
            raise Refusal("body_invalid", INVALID_DATA)
        return report_lookup(plate, data)

    return _answer(web, REPORT, lookup)


def _answer(web: Web, operation: Operation, parse: Callable[[Identity], Lookup]) -> Response:
    snapshot: Snapshot | None = request.environ.get(CHECKED)
    if snapshot is None:
        authorization = request.headers.getlist("Authorization")
        caller = authorise(web.gatekeeper, operation, authorization, request.query_string)
        lookup = parse(caller)
    else:
        lookup, caller = snapshot.lookup, snapshot.caller
    count(web, caller)
    served = web.gateway.fetch(lookup, caller, header_spend(caller), snapshot)
    web.desks.note_lookup(caller, lookup, served)
    return _relay(served)


def count(web: Web, identity: Identity) -> None:
    """Count a request towards the limits, whose state its response has. Aborts with 429."""
    g.counted = identity
    if web.limits.counts_requests:
        refuse(web.limits.request(request.remote_addr, identity.digest))


def read_object(
    web: Web, identity: Identity, invalid: str, *, may_be_absent: bool = False
) -> dict[str, Any]:
    """Return the JSON object in the request's body.

    If ``may_be_absent`` is true, an empty body counts as an empty object. The number of bodies that
    are read at a time is limited, in total and per sender. If the body is not a JSON object, raises
    Refusal (400) with the message ``invalid``. Aborts with 413 or 415 if the body is too long or is
    declared as another type.
    """
    # Only a token that the portal has issued identifies a sender. In pass-through mode anyone can
    # invent a credential, and in demo mode all visitors use one public token.
    is_managed = web.gatekeeper.mode == "managed"
    sender = identity.digest if is_managed else network(request.remote_addr)
    # Flask truncates a chunked body at ``max_content_length`` instead of rejecting it. The limit is
    # one byte above BODY_CAP, so that the code below can detect a body that is too long.
    request.max_content_length = BODY_CAP + 1
    with web.slots.json_bodies.slot(sender):
        body = request.get_data(cache=False)
    if len(body) > BODY_CAP:
        abort(413)
    # Windows programs write a byte order mark, which RFC 8259 (section 8.1) allows to ignore.
    body = body.removeprefix(BOM_UTF8)
    if may_be_absent and not body:
        return {}
    if request.content_type and request.mimetype != "application/json":
        abort(415)
    try:
        document: Any = parse_exact(body)
    except NotStrictJSON:
        raise Refusal("body_invalid", invalid) from None
    if not isinstance(document, dict):
        raise Refusal("body_invalid", invalid)
    return document


def authorise(
    gatekeeper: Gatekeeper, operation: Operation, authorization: Sequence[str], query: bytes
) -> Identity:
    """Authenticate a request and check that its sender has the scope ``operation``.

    ``authorization`` contains the values of all Authorization headers. Raises an exception of
    REFUSED_BY.
    """
    identity = gatekeeper.authenticate(read_credential(authorization, query))
    if not identity.has_scope(operation.name):
        raise Refusal("scope_missing")
    return identity


def vehicle_lookup(operation: Operation, plate: str, uf: str | None = None) -> Lookup:
    """Return the lookup that a GET path requests. Raises InvalidSubject or Refusal (400)."""
    subject = _subject(plate) if operation.takes_renavam else Plate.parse(plate)
    if uf is None:
        return Lookup(operation, subject)
    state = uf.upper()
    if not uf.isascii() or state not in STATES:
        raise Refusal("parameter_invalid", INVALID_UF)
    return Lookup(operation, subject, state)


def _subject(text: str) -> Plate | Renavam:
    """Parse a plate or a Renavam. Raises InvalidSubject.

    The HTML pages accept a Renavam with a hyphen. The JSON paths accept only eleven digits.
    """
    subject = parse_subject(text)
    if isinstance(subject, Renavam) and subject.text != text:
        raise InvalidSubject(text)
    return subject


def _relay(served: Served) -> Response:
    if served.status == 400:
        return Response(served.body, 400, content_type="application/json")
    response = Response(served.body, 200, content_type="application/json")
    response.headers.extend(success_headers(served))
    return response


def success_headers(served: Served) -> list[tuple[str, str]]:
    """Return the headers ``Age`` and ``Cache-Status`` of a response of status 200."""
    return [("Age", str(served.age_s)), ("Cache-Status", _cache_status(served))]


def _cache_status(served: Served) -> str:
    """Return the value of the header Cache-Status (RFC 9211)."""
    match served.cache_status:
        case "hit":
            return f"portal; hit; ttl={served.ttl_s}"
        case "stale":
            return "portal; fwd=stale"
        case "collapsed":
            return "portal; fwd=miss; collapsed"
        case ("miss" | "request") as reason:
            return f"portal; fwd={reason}" + ("; stored" if served.stored else "")
