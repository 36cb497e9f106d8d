"""Serves the upstream's five JSON paths, with the response bodies unchanged."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from flask import Blueprint, Response, abort, request

from portal.access import (
    Gatekeeper,
    Identity,
    NoCredential,
    RefusedToken,
    UnknownToken,
    read_credential,
)
from portal.gateway import (
    DECODE,
    RENAINF,
    RENAJUD,
    REPORT,
    Caller,
    Directive,
    Failure,
    Lookup,
    NotStrictJSON,
    Operation,
    Served,
    Snapshot,
    parse_exact,
    report_lookup,
)
from portal.presentation.failure_texts import FORBIDDEN, INVALID_PLATE, TOO_MANY, UNAUTHORIZED
from portal.vehicle import STATES, InvalidSubject, Plate, Renavam, parse_subject
from portal.web.http.errors import failure_response, message_response
from portal.web.http.rate_limit_headers import count_request
from portal.web.http.rate_limits import RateLimits, network
from portal.web.http.upload_limits import BODY_CAP, UploadLimiter
from portal.web.services.web import Web

INVALID_UF = "Por favor, informe uma UF válida."
INVALID_BODY = 'O corpo deve ser um objeto JSON com "plate" e "data".'
INVALID_DATA = 'O membro "data" deve ser um objeto JSON.'
# The hit cache stores its CheckedRequest under this key in the WSGI environment. No client can set
# the key, because the keys of request headers begin with "HTTP_".
CHECKED: Final = "portal.checked_request"


class Refusal(Exception):
    """Ends a request with an error status and a message for the client.

    ``code`` names the error for programs. The upstream's paths have errors without a code.
    """

    def __init__(
        self,
        status: int,
        message: str,
        retry_after_s: float | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.retry_after_s = retry_after_s
        self.code = code


class WrongToken(Refusal):
    """The request's token is unknown."""

    def __init__(self) -> None:
        super().__init__(401, UNAUTHORIZED)


def limited(refusal: Refusal, limits: RateLimits) -> Refusal:
    """Return ``refusal``, or status 429 after too many unknown tokens from one address."""
    if isinstance(refusal, WrongToken):
        wait_s = limits.wrong_token(request.remote_addr)
        if wait_s is not None:
            return Refusal(429, TOO_MANY, wait_s)
    return refusal


@dataclass(frozen=True, slots=True)
class CheckedRequest:
    """A request's identity and stored answers, as found by the hit cache."""

    identity: Identity
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class JsonApi:
    """The five routes. They check for errors in the order 404/405, 401, 403, 413/415/400, 429."""

    web: Web

    def blueprint(self) -> Blueprint:
        paths = Blueprint("api", __name__)

        def route(
            path: str, name: str, operation: Operation, lookup: Callable[..., Lookup] | None = None
        ) -> None:
            def of_vehicle(_identity: Identity, **parts: str) -> Lookup:
                return vehicle_lookup(operation, **parts)

            parse: Callable[..., Lookup] = lookup or of_vehicle

            def view(**parts: str) -> Response:
                return self._answer(operation, partial(parse, **parts))

            methods = ["POST"] if operation.method == "POST" else ["GET", "HEAD"]
            add_route(paths, path, name, methods, view)

        route(f"{DECODE.path}/<plate>", "decode", DECODE)
        route(f"{RENAINF.path}/<plate>", "renainf", RENAINF)
        route(f"{RENAINF.path}/<plate>/<uf>", "renainf_uf", RENAINF)
        route(f"{RENAJUD.path}/<plate>", "renajud", RENAJUD)
        route(REPORT.path, "report", REPORT, self._report)
        return paths

    def _answer(self, operation: Operation, parse: Callable[[Identity], Lookup]) -> Response:
        checked: CheckedRequest | None = request.environ.get(CHECKED)
        try:
            if checked is None:
                authorization = request.headers.getlist("Authorization")
                query = request.query_string
                identity = authorise(self.web.gatekeeper, operation, authorization, query)
                lookup, snapshot = parse(identity), None
            else:
                identity, snapshot = checked.identity, checked.snapshot
                lookup = snapshot.lookup
        except Refusal as error:
            refusal = limited(error, self.web.limits)
            return message_response(refusal.status, refusal.message, refusal.retry_after_s)
        wait_s = count_request(self.web.limits, identity)
        if wait_s is not None:
            return message_response(429, TOO_MANY, wait_s)
        caller = Caller.of(identity)
        try:
            return _relay(self.web.gateway.fetch(lookup, caller, directive_of(identity), snapshot))
        except Failure as failure:
            return failure_response(failure, self.web.gatekeeper.mode == "pass-through")

    def _report(self, identity: Identity) -> Lookup:
        sender = sender_of(self.web.gatekeeper, identity)
        document = read_object(self.web.json_bodies, sender, INVALID_BODY)
        plate_text = document.get("plate")
        plate = read_plate(plate_text if isinstance(plate_text, str) else "")
        data = document.get("data")
        if not isinstance(data, dict):
            raise Refusal(400, INVALID_DATA)
        return report_lookup(plate, data)


def add_route(
    paths: Blueprint, path: str, name: str, methods: Sequence[str], answer: Callable[..., Response]
) -> None:
    """Register a route. For OPTIONS, the route returns only the header Allow."""
    allow = [*methods, "OPTIONS"]

    def view(**parts: str) -> Response:
        if request.method != "OPTIONS":
            return answer(**parts)
        response = Response(status=204, headers={"Allow": ", ".join(allow)})
        del response.headers["Content-Type"]  # a 204 has no content
        return response

    paths.add_url_rule(path, name, view, methods=allow, provide_automatic_options=False)


def sender_of(gatekeeper: Gatekeeper, identity: Identity) -> str:
    """Return the sender's key for the upload limits: a token's digest or a network.

    Only a token that the portal has issued identifies a sender. In pass-through mode anyone can
    invent a credential, and in demo mode all visitors use one public token.
    """
    return identity.digest if gatekeeper.mode == "managed" else network(request.remote_addr)


def read_object(
    uploads: UploadLimiter, sender: str, invalid: str, *, may_be_absent: bool = False
) -> dict[str, Any]:
    """Return the JSON object in the request's body.

    If ``may_be_absent`` is true, an empty body counts as an empty object.

    ``uploads`` limits how many bodies are read at a time, in total and per ``sender``. If the body
    is not a JSON object, raises Refusal (400) with the message ``invalid``. Aborts with 413 or 415
    if the body is too long or is declared as another type.
    """
    # Flask truncates a chunked body at ``max_content_length`` instead of rejecting it. The limit is
    # one byte above BODY_CAP, so that the code below can detect a body that is too long.
    request.max_content_length = BODY_CAP + 1
    with uploads.reading(sender):
        body = request.get_data(cache=False)
    if len(body) > BODY_CAP:
        abort(413)
    if may_be_absent and not body:
        return {}
    if request.content_type and request.mimetype != "application/json":
        abort(415)
    try:
        document: Any = parse_exact(body)
    except NotStrictJSON:
        raise Refusal(400, invalid) from None
    if not isinstance(document, dict):
        raise Refusal(400, invalid)
    return document


def authenticate(gatekeeper: Gatekeeper, authorization: Sequence[str], query: bytes) -> Identity:
    """Authenticate a request.

    ``authorization`` contains the values of all Authorization headers. Raises NoCredential if the
    request has no credential, or Refusal (401 or 403) if the credential is bad.
    """
    credential = read_credential(authorization, query)
    try:
        return gatekeeper.authenticate(credential)
    except UnknownToken:
        raise WrongToken from None
    except RefusedToken:
        raise Refusal(403, FORBIDDEN) from None


def authorise(
    gatekeeper: Gatekeeper, operation: Operation, authorization: Sequence[str], query: bytes
) -> Identity:
    """Authenticate a request and check that its sender has the scope ``operation``.

    Raises Refusal (401 or 403).
    """
    try:
        identity = authenticate(gatekeeper, authorization, query)
    except NoCredential:
        raise Refusal(401, UNAUTHORIZED) from None
    if not identity.has_scope(operation.name):
        raise Refusal(403, FORBIDDEN)
    return identity


def directive_of(identity: Identity) -> Directive:
    """Return the directive in the request's Cache-Control header.

    ``no-cache`` has an effect only with the scope ``refresh``. A HEAD is treated like
    ``only-if-cached``, so it never causes an upstream call.
    """
    directives = {
        directive.partition("=")[0].strip().lower()
        for directive in request.headers.get("Cache-Control", "").split(",")
    }
    if request.method == "HEAD" or "only-if-cached" in directives:
        return Directive.ONLY_IF_CACHED
    if "no-cache" in directives and identity.has_scope("refresh"):
        return Directive.REFRESH
    return Directive.NORMAL


def vehicle_lookup(operation: Operation, plate: str, uf: str | None = None) -> Lookup:
    """Return the lookup that a GET path requests. Raises Refusal (400)."""
    subject = _subject(plate) if operation.takes_renavam else read_plate(plate)
    if uf is None:
        return Lookup(operation, subject)
    state = uf.upper()
    if not uf.isascii() or state not in STATES:
        raise Refusal(400, INVALID_UF)
    return Lookup(operation, subject, state)


def read_plate(text: str) -> Plate:
    """Parse a plate. Raises Refusal (400)."""
    try:
        return Plate.parse(text)
    except InvalidSubject:
        raise Refusal(400, INVALID_PLATE) from None


def _subject(text: str) -> Plate | Renavam:
    """Parse a plate or a Renavam (vehicle register number). Raises Refusal (400).

    The HTML pages accept a Renavam with a hyphen. The JSON paths accept only eleven digits.
    """
    try:
        subject = parse_subject(text)
    except InvalidSubject:
        raise Refusal(400, INVALID_PLATE) from None
    if isinstance(subject, Renavam) and subject.text != text:
        raise Refusal(400, INVALID_PLATE)
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
