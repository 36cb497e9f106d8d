"""The routes of the portal's own JSON API, ``/api/v1``, and what a call of it may ask for.

Credentials, errors, headers and the order of checks are the same as in ``routes``. A GET may also
be authenticated by the session cookie of the HTML pages.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property, partial, wraps
from typing import Any, Final, Literal, TypeVar, get_args

import msgspec
from flask import Response, request, session

from portal import wording
from portal.access.idempotency import KeyReused, is_idempotency_key
from portal.access.tokens import Identity
from portal.batch.model import (
    CostUnknown,
    NotAllowed,
    NothingFailed,
    NotInBatch,
    RetryTooExpensive,
    UnknownBatch,
)
from portal.desk.caller import Caller
from portal.desk.desk import Desk
from portal.desk.lists import ListProblem, ListRefused
from portal.dossier.answers import Panel
from portal.gateway.lookup import Failure, Spend
from portal.presentation.exports.tables import Dialect
from portal.presentation.list_refusals import refusal_sentence
from portal.system.caller_credentials import NoCredential, read_credential, sends_credential
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate
from portal.web.http.errors import message_response
from portal.web.http.rate_limits import network
from portal.web.http.spending import call_spend
from portal.web.http.streams import RETRY_AFTER_S, TooManyStreams
from portal.web.json_api.openapi import Declared, declared
from portal.web.json_api.routes import JsonRoutes, Refusal, count, read_object
from portal.web.routing.responses import LONGEST_NAME, one_of, whole_number
from portal.web.routing.routes import has_purpose
from portal.web.web import Web

INVALID_ASK: Final = f"Em um só “ask” vão {wording.listed(LOOKUPS)}, separados por vírgula."
INVALID_PLATES: Final = "Informe as placas uma vez, separadas por vírgula."
INVALID_DIALECT: Final = "O dialeto é brazil ou rfc4180."
INVALID_AFTER: Final = "Em “after” vai o “next” da página anterior."
INVALID_SINCE: Final = "Em “since” vai um momento com o fuso, como 2026-11-26T03:00:00-03:00."
INVALID_EXPIRED: Final = "Em “expired” vai true ou false."
INVALID_CACHED: Final = "Em “cached” vai true ou false."
INVALID_WAIT: Final = "Em “wait” vão segundos inteiros, de 0 a 30."
WITHOUT_SCHEME: Final = "Não autorizado. O token vai sozinho em Authorization, sem “Bearer” antes."
UNKNOWN_PARAMETER: Final = "Este endereço não tem o parâmetro “{}”."
UNKNOWN_MEMBER: Final = "O corpo deste pedido não tem o membro “{}”."
NOT_IN_BATCH: Final = "“{}” não está neste lote."
NOTHING_FAILED: Final = (
    "Nenhuma destas placas falhou, e nada foi consultado. O que ainda não foi consultado, start "
    "consulta sem retry."
)
RETRY_TOO_EXPENSIVE: Final = (
    "Consultar de novo a primeira destas placas pode custar {}, e max_cost é {}."
)
NOT_ALLOWED: Final = {
    "start": "Um lote cancelado não pode ser iniciado.",
    "pause": "Só um lote em andamento pode ser pausado.",
    "cancel": "Um lote concluído não pode ser cancelado.",
}
LONGEST_WAIT_S: Final = 30
_CURSOR: Final = re.compile(r"([0-9]{1,12}\.[0-9]{1,20})-([0-9a-f]{24})")
_SWITCH: Final[Mapping[str, bool]] = {"false": False, "true": True}
# The code of API_ERRORS for a list that cannot become a batch.
_LIST_CODES: Final[Mapping[ListProblem, str]] = {
    "empty": "batch_empty",
    "too_long": "batch_too_long",
    "too_many_drafts": "too_many_drafts",
}
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True)
class Call:
    """A request to the portal ``web``, and its sender, the ``caller``.

    ``is_cached`` says that the request allows stored answers only.
    """

    web: Web
    caller: Caller
    is_cached: bool = False

    @cached_property
    def desk(self) -> Desk:
        return self.web.desks.of(self.caller)

    @property
    def identity(self) -> Identity:
        return self.caller.identity

    @property
    def spend(self) -> Spend:
        return call_spend(
            self.identity, by_session=self.caller.by_session, is_cached=self.is_cached
        )

    @property
    def sender(self) -> str:
        """Who takes the slots of long responses.

        A token is one sender. Without tokens of the portal, a client may invent any number of
        callers, so its network is the sender.
        """
        is_known = not self.web.sessions.is_demo and not self.caller.pays_alone
        return self.identity.digest if is_known else network(request.remote_addr)


T = TypeVar("T")
View = Callable[..., Response]
# Reads the body. Raises Refusal (400 or 403).
ReadBody = Callable[[Call], Any]

routes = JsonRoutes("own_api")
routes.answer(KeyReused, "idempotency_mismatch")
routes.answer(UnknownBatch, "batch_unknown")
routes.answer(CostUnknown, "cost_unknown")


def _view(
    method: Literal["GET", "POST", "PUT"],
    path: str,
    name: str = "",
    need: LookupName | None = None,
    body: ReadBody | None = None,
    *,
    is_file: bool = False,
) -> Callable[[View], View]:
    """Return a decorator that adds a view to the routes.

    The view gets the call, the parts of the path, and the parameters that the OpenAPI document
    declares for the path, where the query has them. ``body`` reads the body, which the view gets as
    ``body``. The view is called for a request that is authenticated, has the scope ``need`` (None:
    of any lookup), is valid, and does not exceed the rate limits. The checks have this order. Of
    the requests for a file (``is_file``) a worker has few at a time, and refuses the others first.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def checked(web: Web, **parts: Any) -> Response:
            call = Call(web, authenticated(web))
            if not any(map(call.caller.may, LOOKUPS if need is None else [need])):
                raise Refusal("scope_missing")
            known = _declared().parameters
            refuse_unknown(request.args, known, UNKNOWN_PARAMETER)
            if "cached" in request.args:
                call = replace(call, is_cached=_is_cached(call))
            if "plate" in parts:
                parts["plate"] = Plate.parse(parts["plate"])
            given = {name: read(call) for name, read in PARAMETERS.items() if name in request.args}
            if body is not None:
                parts["body"] = body(call)
            count(web, call.identity)
            return view(call, **parts, **given)

        def admitted(web: Web, **parts: Any) -> Response:
            # Hundreds of requests at once would otherwise keep all others waiting while each reads
            # its batch, only to be refused.
            sender = request.headers.get("Authorization") or request.headers.get("Cookie", "")
            with web.slots.file_requests.slot(sender):
                return checked(web, **parts)

        routed = wraps(view)(admitted) if is_file else checked
        return routes.add(path, method, name or view.__name__)(routed)

    return decorator


get: Final = partial(_view, "GET")
get_file: Final = partial(_view, "GET", is_file=True)
post: Final = partial(_view, "POST")
put: Final = partial(_view, "PUT")


# Query parameters, by the name that the OpenAPI document declares for a path


def _parameter(name: str, invalid: str, parse: Callable[[str], T]) -> Callable[[Call], T]:
    """Return a reader of a parameter.

    The reader raises Refusal (400, ``invalid``) if the parameter is repeated, or if ``parse``
    raises ValueError or KeyError.
    """

    def read(_: Call) -> T:
        with suppress(ValueError, KeyError):
            (text,) = request.args.getlist(name)
            return parse(text)
        raise Refusal("parameter_invalid", invalid)

    return read


_is_cached = _parameter("cached", INVALID_CACHED, _SWITCH.__getitem__)
_asked_names = _parameter("ask", INVALID_ASK, lambda text: text.split(","))


def _ask(call: Call) -> Sequence[LookupName]:
    """Return the lookups that the query names.

    A query without ``ask`` requests all lookups, even if the caller lacks some of their scopes. The
    response then states which lookups the caller may not make.
    """
    return asked(_asked_names(call), call.caller, "parameter_invalid", INVALID_ASK)


def _cursor(text: str) -> tuple[float, str]:
    """Return where the former page of a list ended."""
    cursor = _CURSOR.fullmatch(text)
    if cursor is None:
        raise ValueError(text)
    return float(cursor[1]), cursor[2]


def _moment_s(text: str) -> float:
    """Return a moment as epoch seconds. The sign ``+`` of an offset may have become a blank."""
    moment = datetime.fromisoformat(text.replace(" ", "+"))
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment.timestamp()


def sent_key() -> str | None:
    """Return the request's Idempotency-Key, or None without one. Raises Refusal."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not is_idempotency_key(key):
        raise Refusal("idempotency_key_invalid")
    return key


PARAMETERS: Final[Mapping[str, Callable[[Call], object]]] = {
    "ask": _ask,
    "after": _parameter("after", INVALID_AFTER, _cursor),
    "dialect": _parameter("dialect", INVALID_DIALECT, one_of(get_args(Dialect))),
    "expired": _parameter("expired", INVALID_EXPIRED, _SWITCH.__getitem__),
    "plates": _parameter("plates", INVALID_PLATES, lambda text: frozenset(text.upper().split(","))),
    "since": _parameter("since", INVALID_SINCE, _moment_s),
    "wait": _parameter("wait", INVALID_WAIT, partial(whole_number, least=0, most=LONGEST_WAIT_S)),
}


def asked(
    names: Sequence[object], caller: Caller, code: str, message: str
) -> tuple[LookupName, ...]:
    """Return the lookups that a request names, in the order of LOOKUPS.

    Raises Refusal (``code``, ``message``) for an unknown name, or Refusal (403) if the caller lacks
    the scope of a lookup.
    """
    if any(name not in LOOKUPS for name in names):
        raise Refusal(code, message)
    chosen = tuple(name for name in LOOKUPS if name in names)
    if not all(map(caller.may, chosen)):
        raise Refusal("scope_missing")
    return chosen


def body_of(call: Call, invalid: str, *, may_be_absent: bool = False) -> dict[str, Any]:
    """Return the JSON object in the request's body. Raises Refusal (400)."""
    document = read_object(call.web, call.identity, invalid, may_be_absent=may_be_absent)
    refuse_unknown(document, _declared().members, UNKNOWN_MEMBER)
    return document


def _declared() -> Declared:
    return declared(str(request.url_rule), request.method)


def refuse_unknown(names: Iterable[str], known: Collection[str], message: str) -> None:
    for name in names:
        if name not in known:
            similar = get_close_matches(name, known, 1)
            hint = f" Quis dizer “{similar[0]}”?" if similar else ""
            shown = wording.sanitise_echo(name, LONGEST_NAME)
            raise Refusal("parameter_unknown", f"{message.format(shown)}{hint}")


# Credentials and errors


def authenticated(web: Web) -> Caller:
    """Return who sends the request, by a credential or by the session cookie of the pages."""
    headers, query = request.headers.getlist("Authorization"), request.query_string
    try:
        return Caller.of_token(web.gatekeeper.authenticate(read_credential(headers, query)))
    except NoCredential:
        # In demo mode, ``Sessions.current`` returns a visitor even without a session cookie.
        # Therefore ``session`` must not be empty, unless a proxy names a person.
        may_use_session = request.method in ("GET", "HEAD") and not sends_credential(headers, query)
        has_session = bool(session) or web.sessions.is_sent
        visitor = web.visitor_desk() if may_use_session and has_session else None
        if visitor is None or not has_purpose(web):
            raise
        return visitor.caller


def without_answer(panel: Panel) -> Refusal | Failure:
    """Return the error for a request whose only lookup has no readable answer."""
    match panel.cause:
        case "rejected" | "not_for_renavam":
            return Refusal("plate_invalid")
        case "unconfirmed":
            return Refusal("answer_unconfirmed", panel.reason)
        case "broken":
            return Refusal("internal_error")
        case "out_of_scope":
            return Refusal("scope_missing")
        case "":
            # A panel has no cause if its answer is unreadable, or if the request allowed only
            # stored answers and the store has none.
            return Refusal("upstream_bad_answer") if panel.has_answer else Failure("not_stored")
        case kind:
            return Failure(kind, panel.retry_after_s)


def json_response(document: object) -> Response:
    return Response(_encoder.encode(document), 200, content_type="application/json")


@routes.handle(NoCredential)
def _no_credential(_: Web, __: NoCredential) -> Response:
    """Return status 401, with a hint for a generated client, which sends a scheme."""
    sent = request.headers.get("Authorization", "")
    has_scheme = re.match(r"(bearer|basic|token)\s", sent, re.IGNORECASE)
    return message_response("credential_missing", WITHOUT_SCHEME if has_scheme else "")


@routes.handle(TooManyStreams)
def _busy(*_: object) -> Response:
    return message_response("busy", retry_after_s=RETRY_AFTER_S)


@routes.handle(ListRefused)
def _list_refused(_: Web, refused: ListRefused) -> Response:
    code = _LIST_CODES.get(refused.problem, "body_invalid")
    # The code's own message says how a client ends a draft.
    is_general = refused.problem == "too_many_drafts"
    return message_response(code, "" if is_general else refusal_sentence(refused))


@routes.handle(NotInBatch)
def _not_in_batch(_: Web, error: NotInBatch) -> Response:
    return message_response("body_invalid", NOT_IN_BATCH.format(error))


@routes.handle(NothingFailed)
def _nothing_failed(_: Web, __: NothingFailed) -> Response:
    return message_response("batch_state", NOTHING_FAILED)


@routes.handle(RetryTooExpensive)
def _retry_too_expensive(_: Web, error: RetryTooExpensive) -> Response:
    price, most = wording.money(error.price), wording.money(error.most)
    return message_response("cost_above_limit", RETRY_TOO_EXPENSIVE.format(price, most))


@routes.handle(NotAllowed)
def _not_allowed(_: Web, error: NotAllowed) -> Response:
    return message_response("batch_state", NOT_ALLOWED[error.action])
