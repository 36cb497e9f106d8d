"""The portal's own JSON API, ``/api/v1``: vehicle data with explanations, exports and batches.

Credentials, errors, headers and the order of checks are the same as in ``routes``. A GET
may also be authenticated by the session cookie of the HTML pages.
"""

import logging
import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from difflib import get_close_matches
from functools import partial, wraps
from os import SEEK_END
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec
from flask import Response, request, session, stream_with_context, url_for
from werkzeug.exceptions import ServiceUnavailable

from portal import wording
from portal.access.idempotency import KeyReused, is_idempotency_key
from portal.access.tokens import Identity, TokensUnavailable
from portal.batch.batches import MOST_LISTED, new_id
from portal.batch.model import Item, NotAllowed, TooManyDrafts
from portal.batch.pricing import CostUnknown, NotInBatch
from portal.batch.rows import UnknownBatch
from portal.batch.typed_list import Subject, TypedList, read_strings
from portal.desk.desk import Desk
from portal.dossier.answers import Panel
from portal.dossier.dossier import Dossier
from portal.dossier.row import is_selected
from portal.gateway.lookup import Failure, Spend
from portal.phrasebook.api_errors import API_ERRORS
from portal.presentation.exports.batches import batch_object, first_message, results_table
from portal.presentation.exports.calendar import deadline_calendar
from portal.presentation.exports.explained import explained
from portal.presentation.exports.tables import Dialect, Format, Table, write_table
from portal.presentation.exports.vehicle_tables import NEEDS, TableName, batch_table, vehicle_table
from portal.presentation.exports.zip_file import Incomplete, zip_stream
from portal.system.caller_credentials import NoCredential, read_credential, sends_credential
from portal.system.local_time import local_time
from portal.vehicle.operation_name import LOOKUPS, OPERATION_NAMES, LookupName
from portal.vehicle.plate import InvalidSubject, Plate, parse_subject
from portal.web.http.errors import message_response
from portal.web.http.rate_limits import network
from portal.web.http.spending import call_spend
from portal.web.http.streams import RETRY_AFTER_S, Spool, TooManyStreams, chunks
from portal.web.json_api.openapi import Declared, declared
from portal.web.json_api.routes import (
    REFUSED_BY,
    JsonRoutes,
    Refusal,
    count,
    read_object,
    success_headers,
)
from portal.web.services.dossiers import batch_dossier, find_issued, stored_deadlines
from portal.web.services.responses import (
    calendar_response,
    file_response,
    one_of,
    streamed_response,
    whole_number,
)
from portal.web.services.web import Web

log = logging.getLogger(__name__)

INVALID_ASK: Final = f"Em um só “ask” vão {wording.listed(LOOKUPS)}, separados por vírgula."
INVALID_ASK_LIST: Final = (
    f'Em "ask" vai uma lista com {wording.listed(LOOKUPS, " ou ")}, ao menos um.'
)
INVALID_PLATES = "Informe as placas uma vez, separadas por vírgula."
INVALID_DIALECT: Final = "O dialeto é brazil ou rfc4180."
INVALID_AFTER: Final = "Em “after” vai o “next” da página anterior."
INVALID_SINCE: Final = "Em “since” vai um momento com o fuso, como 2026-11-26T03:00:00-03:00."
INVALID_EXPIRED: Final = "Em “expired” vai true ou false."
WITHOUT_SCHEME: Final = "Não autorizado. O token vai sozinho em Authorization, sem “Bearer” antes."
INVALID_CACHED: Final = "Em “cached” vai true ou false."
INVALID_WAIT: Final = "Em “wait” vão segundos inteiros, de 0 a 30."
INVALID_BATCH: Final = 'O corpo deve ser um objeto JSON com "plates", uma lista de textos.'
INVALID_BODY: Final = "O corpo deve ser um objeto JSON, ou faltar."
UNKNOWN_PARAMETER: Final = "Este endereço não tem o parâmetro “{}”."
UNKNOWN_MEMBER: Final = "O corpo deste pedido não tem o membro “{}”."
_LONGEST_NAME: Final = 40  # characters of an unknown name that a message repeats
TOO_LONG: Final = "Um lote tem no máximo {} placas."
INVALID_START: Final = (
    'O corpo é opcional: um objeto JSON com "max_cost", em reais, como 60.50, e com "retry", a '
    "lista das placas que falharam e são consultadas de novo."
)
NOT_IN_BATCH: Final = "“{}” não está neste lote."
NOT_ALLOWED: Final = {
    "start": "Um lote cancelado não pode ser iniciado.",
    "pause": "Só um lote em andamento pode ser pausado.",
    "cancel": "Um lote concluído não pode ser cancelado.",
}
NO_STORED_ANSWER: Final = "nenhuma consulta tem resposta guardada com dados deste veículo"
ONLY_FOR_PLATES: Final = "o dossiê é feito só para placas, e isto é um Renavam"
NOT_RENDERED: Final = "o dossiê não pôde ser gerado; baixe o arquivo de novo"
_TYPES: Final = {
    "csv": "text/csv; charset=utf-8; header=present",
    "jsonl": "application/jsonl",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_RECORD_FILES: Final[tuple[Format, ...]] = ("csv", "jsonl")
_LONGEST_WAIT_S: Final = 30
_POLL_S: Final = 0.5
_CURSOR: Final = re.compile(r"([0-9]{1,12}\.[0-9]{1,20})-([0-9a-f]{24})")
_HIGHEST_COST: Final = 10**9  # R$
_SMALLEST_PRICE: Final = Decimal("0.000001")  # R$, the precision of the settings PRICE_…
_NOT_AUTHENTICATED: Final[tuple[type[Exception], ...]] = (*REFUSED_BY, TokensUnavailable)
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to the portal ``web``, and its sender.

    ``owner`` identifies the sender as the owner of batches. ``by_session`` is true if the session
    cookie authenticates the sender. ``is_cached`` says that the request allows stored answers only.
    """

    web: Web
    identity: Identity
    owner: str
    by_session: bool
    is_cached: bool = False

    @property
    def desk(self) -> Desk:
        return self.web.desk(self.identity)

    @property
    def spend(self) -> Spend:
        return call_spend(self.identity, by_session=self.by_session, is_cached=self.is_cached)


class NewBatch(NamedTuple):
    """A request for a batch. ``key`` is the header Idempotency-Key, ``content`` the body."""

    listed: TypedList
    ask: tuple[LookupName, ...]
    key: str | None
    content: bytes


class StartTerms(NamedTuple):
    """The most that a batch may spend, and the failed vehicles that it is to look up again."""

    max_cost: Decimal | None
    retried: Sequence[Subject]


routes = JsonRoutes("own_api")
routes.answer(KeyReused, "idempotency_mismatch")
routes.answer(UnknownBatch, "batch_unknown")
routes.answer(CostUnknown, "cost_unknown")
routes.answer(TooManyDrafts, "too_many_drafts")
VEHICLE: Final = "/api/v1/vehicles/<plate>"
BATCHES: Final = "/api/v1/batches"
BATCH: Final = f"{BATCHES}/<batch>"

View = Callable[..., Response]
# Reads a parameter or the body, and returns None if it is absent. Raises Refusal (400 or 403).
Read = Callable[[Call], Any]
Select = Callable[[Item], bool]


def _view(
    method: Literal["GET", "POST"],
    path: str,
    name: str = "",
    need: LookupName | None = None,
    **reads: Read,
) -> Callable[[View], View]:
    """Return a decorator that adds a view to the routes.

    The view gets the call, the parts of the path, and what ``reads`` have found. It is called for a
    request that is authenticated, has the scope ``need`` (None: of any lookup), is valid, and does
    not exceed the rate limits. The checks have this order.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def checked(web: Web, **parts: Any) -> Response:
            call = _authenticated(web)
            if not any(map(call.identity.has_scope, LOOKUPS if need is None else [need])):
                raise Refusal("scope_missing")
            _refuse_unknown(request.args, _declared().parameters, UNKNOWN_PARAMETER)
            call = replace(call, is_cached=bool(_cached(call)))
            if "plate" in parts:
                parts["plate"] = Plate.parse(parts["plate"])
            for each, read in reads.items():
                if (found := read(call)) is not None:
                    parts[each] = found
            count(web, call.identity)
            return view(call, **parts)

        return routes.add(path, method, name or view.__name__)(checked)

    return decorator


_get: Final = partial(_view, "GET")
_post: Final = partial(_view, "POST")

# Parameters and bodies


def _parameter(
    name: str, invalid: str, parse: Callable[[str], object], default: object = None
) -> Read:
    """Return a reader of a query parameter, which is ``default`` if the query lacks it.

    The reader raises Refusal (400, ``invalid``) if the parameter is repeated, or if ``parse``
    raises ValueError or KeyError.
    """

    def read(_: Call) -> object:
        values = request.args.getlist(name)
        if not values:
            return default
        with suppress(ValueError, KeyError):
            (text,) = values
            return parse(text)
        raise Refusal("parameter_invalid", invalid)

    return read


def _ask(call: Call) -> Sequence[LookupName]:
    """Return the lookups that the query names, by default all.

    A query without ``ask`` requests all lookups, even if the identity lacks some of their scopes.
    The response then states which lookups the identity may not make.
    """
    names = _asked_names(call)
    if names is None:
        return LOOKUPS
    return _asked(names, call.identity, "parameter_invalid", INVALID_ASK)


def _cursor(text: str) -> tuple[float, str]:
    """Return where the former page of a list ended."""
    found = _CURSOR.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return float(found[1]), found[2]


def _moment_s(text: str) -> float:
    """Return a moment as epoch seconds. The sign ``+`` of an offset may have become a blank."""
    moment = datetime.fromisoformat(text.replace(" ", "+"))
    if moment.tzinfo is None:
        raise ValueError(text)
    return moment.timestamp()


_asked_names = _parameter("ask", INVALID_ASK, lambda text: text.split(","))
_after = _parameter("after", INVALID_AFTER, _cursor)
_wait_s = _parameter("wait", INVALID_WAIT, partial(whole_number, least=0, most=_LONGEST_WAIT_S))
_dialect = _parameter("dialect", INVALID_DIALECT, one_of(get_args(Dialect)), "brazil")
# The plates and Renavams that a file of results is to have, or () for all.
_plates = _parameter("plates", INVALID_PLATES, lambda text: frozenset(text.upper().split(",")), ())
_since_s = _parameter("since", INVALID_SINCE, _moment_s)
_SWITCH: Final[Mapping[str, bool]] = {"false": False, "true": True}
_expired = _parameter("expired", INVALID_EXPIRED, _SWITCH.__getitem__)
_cached = _parameter("cached", INVALID_CACHED, _SWITCH.__getitem__, False)


def _selection(call: Call) -> Select:
    """Return a function that says whether a file of results is to have an item."""
    plates, since_s, expired = (read(call) for read in (_plates, _since_s, _expired))
    outdated_at_s = time.time() if expired else None

    def select(item: Item) -> bool:
        is_named = not plates or item.subject.text in plates
        return is_named and is_selected(item, since_s, outdated_at_s)

    return select


def _start_terms(call: Call) -> StartTerms:
    document = _body(call, INVALID_START, may_be_absent=True)
    return StartTerms(
        _max_cost(document.get("max_cost")),
        _retried(document.get("retry"), call.web.desks.batch_limit),
    )


def _max_cost(value: object) -> Decimal | None:
    if value is None:
        return None
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        raise Refusal("body_invalid", INVALID_START)
    if not 0 <= value <= _HIGHEST_COST:
        raise Refusal("body_invalid", INVALID_START)
    return Decimal(value).quantize(_SMALLEST_PRICE, ROUND_DOWN)


def _retried(texts: object, limit: int) -> Sequence[Subject]:
    if texts is None:
        return ()
    if not isinstance(texts, list) or not 0 < len(texts) <= limit:
        raise Refusal("body_invalid", INVALID_START)
    subjects = []
    for text in texts:
        if not isinstance(text, str):
            raise Refusal("body_invalid", INVALID_START)
        try:
            subjects.append(parse_subject(text))
        except InvalidSubject:
            shown = wording.sanitise_echo(text, _LONGEST_NAME)
            raise Refusal("body_invalid", NOT_IN_BATCH.format(shown)) from None
    return list(dict.fromkeys(subjects))


def _new_batch(call: Call) -> NewBatch:
    document, identity = _body(call, INVALID_BATCH), call.identity
    plates, names = document.get("plates"), document.get("ask")
    if not isinstance(plates, list):
        raise Refusal("body_invalid", INVALID_BATCH)
    if names is None:
        ask = tuple(name for name in LOOKUPS if identity.has_scope(name))
    elif isinstance(names, list) and names:
        ask = _asked(names, identity, "body_invalid", INVALID_ASK_LIST)
    else:
        raise Refusal("body_invalid", INVALID_ASK_LIST)
    listed = read_strings(plates, most_wrong=call.web.desks.batch_limit)
    if len(listed.subjects) > call.web.desks.batch_limit:
        raise Refusal("batch_too_long", TOO_LONG.format(call.web.desks.batch_limit))
    if not listed.subjects:
        hint = first_message(listed.wrong)
        raise Refusal("batch_empty", f"{API_ERRORS['batch_empty'].message} {hint}".strip())
    key = request.headers.get("Idempotency-Key")
    if key is not None and not is_idempotency_key(key):
        raise Refusal("idempotency_key_invalid")
    return NewBatch(listed, ask, key, msgspec.json.encode(document, order="sorted"))


def _no_body(call: Call) -> None:
    _body(call, INVALID_BODY, may_be_absent=True)


# Vehicles


@_get(VEHICLE, ask=_ask)
def vehicle(call: Call, plate: Plate, ask: Sequence[LookupName]) -> Response:
    dossier = call.desk.dossier(plate, call.spend, ask, ask)
    return _json(explained(dossier, call.web.render_context().now))


def _table(call: Call, plate: Plate, dialect: Dialect, name: TableName, kind: Format) -> Response:
    dossier = call.desk.dossier(plate, call.spend, [NEEDS[name]])
    table, panel = vehicle_table(name, dossier), dossier.answers.of(NEEDS[name])
    if table is None or panel.served is None:
        raise _without_answer(panel)
    response = _download(call, table, kind, dialect, f"{plate.text}-{name}")
    response.headers.extend(success_headers(panel.served))
    return response


@_get(f"{VEHICLE}/deadlines.ics", "vehicle_deadlines", "renainf")
def deadlines(call: Call, plate: Plate) -> Response:
    panel, calendar = stored_deadlines(call.web, plate, call.identity)
    if calendar is None or panel.served is None:
        raise _without_answer(panel)
    response = calendar_response(calendar, plate.text, "attachment")
    response.headers.extend(success_headers(panel.served))
    return response


# Batches


@_get(BATCHES, after=_after)
def listed(call: Call, after: tuple[float, str] | None = None) -> Response:
    owner, identity = call.owner, call.identity
    found, allowance = (
        call.web.desks.batches.listed(owner, after),
        call.web.desks.ledger.allowance(identity),
    )
    batches = call.web.desks.pricing.priced_list(found, owner, identity)
    is_full, last = len(found) == MOST_LISTED, found[-1:]
    return _json(
        {
            "batches": [batch_object(batch, allowance) for batch in batches],
            "next": f"{last[0].created_at!r}-{last[0].id}" if is_full else None,
        }
    )


@_post(BATCHES, new=_new_batch)
def create(call: Call, new: NewBatch) -> Response:
    owner, batch = call.owner, ""
    if new.key is not None:
        batch = call.web.desks.idempotency.claim("batch", owner, new.key, new.content, new_id())
    batch = call.web.desks.pricing.create(owner, call.identity, new.ask, new.listed, batch)
    response = _one(call, batch)
    response.status_code = 201
    response.headers["Location"] = url_for(".batch", batch=batch)
    return response


@_get(BATCH, wait_s=_wait_s)
def batch(call: Call, batch: str, wait_s: int = 0) -> Response:
    if wait_s and request.method == "GET":
        _await_change(call, batch, wait_s)
        _authenticated(call.web)  # the token may have been revoked meanwhile
    return _one(call, batch)


def _await_change(call: Call, batch: str, wait_s: int) -> None:
    """Return when the state or the counts of a batch change, at the latest after ``wait_s``.

    Returns at once if the batch changes only by a request, if too many requests wait, or if the
    process is to end. Raises UnknownBatch.
    """
    web, owner = call.web, call.owner
    first = found = web.desks.batches.get(batch, owner)
    ends_at = time.monotonic() + wait_s
    with suppress(ServiceUnavailable), web.batch_waits.slot(owner):
        while (found.state, found.counts) == (first.state, first.counts) and found.goes_on:
            left_s = ends_at - time.monotonic()
            if left_s <= 0 or not web.operator.is_ready():
                break
            time.sleep(min(_POLL_S, left_s))
            found = web.desks.batches.get(batch, owner)


@_post(f"{BATCH}/start", terms=_start_terms)
def start(call: Call, batch: str, terms: StartTerms) -> Response:
    """Start or resume a batch, or look up failed vehicles again."""
    pricing, owner, identity = call.web.desks.pricing, call.owner, call.identity
    if terms.retried:
        pricing.retry(batch, owner, identity, terms.retried, terms.max_cost)
    else:
        pricing.start(batch, owner, identity, terms.max_cost)
    return _one(call, batch)


@_post(f"{BATCH}/pause", body=_no_body)
def pause(call: Call, batch: str) -> Response:
    call.web.desks.batches.pause(batch, call.owner)
    return _one(call, batch)


@_post(f"{BATCH}/cancel", body=_no_body)
def cancel(call: Call, batch: str) -> Response:
    call.web.desks.batches.cancel(batch, call.owner)
    return _one(call, batch)


@routes.handle(NoCredential)
def _no_credential(_: Web, __: NoCredential) -> Response:
    """Return status 401, with a hint for a generated client, which sends a scheme."""
    sent = request.headers.get("Authorization", "")
    has_scheme = re.match(r"(bearer|basic|token)\s", sent, re.IGNORECASE)
    return message_response("credential_missing", WITHOUT_SCHEME if has_scheme else "")


@routes.handle(TooManyStreams)
def _busy(*_: object) -> Response:
    return message_response("busy", retry_after_s=RETRY_AFTER_S)


@routes.handle(NotInBatch)
def _not_in_batch(_: Web, error: NotInBatch) -> Response:
    return message_response("body_invalid", NOT_IN_BATCH.format(error))


@routes.handle(NotAllowed)
def _not_allowed(_: Web, error: NotAllowed) -> Response:
    return message_response("batch_state", NOT_ALLOWED[error.action])


def _results(
    call: Call, batch: str, dialect: Dialect, select: Select, kind: Literal[Format, "zip"]
) -> Response:
    found = call.web.desks.batches.get(batch, call.owner)
    name = f"lote-{batch[:8]}"

    def items() -> Sequence[Item]:
        # All items are read before the response starts. A later error would truncate the response,
        # and a client could mistake the truncated response for a complete one.
        return [item for item in call.web.desks.batches.items(batch, call.owner) if select(item)]

    if kind == "zip":
        return _zip(call, items, found.ask, name)
    with call.web.table_writes.slot(_sender(call)):
        rows = (call.desk.row(item, found.ask) for item in _while_signed_in(call, items()))
        return _download(call, results_table(rows), kind, dialect, name)


@_get(f"{BATCH}/deadlines.ics", "batch_deadlines")
def batch_deadlines(call: Call, batch: str) -> Response:
    found = call.web.desks.batches.get(batch, call.owner)
    ask = [name for name in found.ask if name == "renainf"]
    today = call.web.render_context().today
    with call.web.table_writes.slot(_sender(call)):
        dossiers = (dossier for _, dossier in _vehicles(call, batch, ask))
        calendar = deadline_calendar(dossiers, f"Prazos do lote {batch[:8]}", today)
    if calendar is None:
        raise Failure("not_stored")
    return calendar_response(calendar, f"lote-{batch[:8]}", "attachment")


def _records(call: Call, batch: str, dialect: Dialect, name: TableName, kind: Format) -> Response:
    need = NEEDS[name]
    if need not in call.web.desks.batches.get(batch, call.owner).ask:
        raise Refusal("lookup_not_asked")
    with call.web.table_writes.slot(_sender(call)):
        table = batch_table(name, _vehicles(call, batch, [need]))
        return _download(call, table, kind, dialect, f"lote-{batch[:8]}-{name}")


def _vehicles(call: Call, batch: str, ask: Sequence[LookupName]) -> Iterator[tuple[Item, Dossier]]:
    """Return a batch's items, each with its dossier from stored answers."""
    items = call.web.desks.batches.items(batch, call.owner)
    return (
        (one, call.desk.dossier(one.subject, Spend.NEVER, ask, ask))
        for one in _while_signed_in(call, items)
    )


for _kind in ("csv", "jsonl", "xlsx", "zip"):
    _get(f"{BATCH}/results.{_kind}", f"results_{_kind}", dialect=_dialect, select=_selection)(
        partial(_results, kind=_kind)
    )
for _name, _need in NEEDS.items():
    for _format in _RECORD_FILES:
        for _path, _prefix, _write in ((VEHICLE, "", _table), (BATCH, "batch_", _records)):
            _get(
                f"{_path}/{_name}.{_format}", f"{_prefix}{_name}_{_format}", _need, dialect=_dialect
            )(partial(_write, name=_name, kind=_format))


@_get("/api/v1/dossiers/<code>")
def issued(call: Call, code: str) -> Response:
    """Say whether a dossier was issued, as ``/verificar`` does for a number or a link's key."""
    found = find_issued(call.web, code)
    if found is None:
        raise Refusal("dossier_unknown")
    return _json(
        {
            "number": found.number,
            "state": found.state,
            "issued_at": local_time(found.issued_at),
            "ended_at": local_time(found.ended_at),
            "plate": found.plate or None,
            "issuer": found.issuer or None,
            "finding": found.summary.finding if found.summary else None,
        }
    )


@_get("/api/v1/usage")
def usage(call: Call) -> Response:
    """Return what the sender's token has used in the present month, and what a call costs."""
    identity = call.identity
    found = call.web.desks.usage.of_caller(identity.name)
    return _json(
        {
            "month": f"{call.web.desks.usage.today():%Y-%m}",
            "calls": found.calls,
            "hits": found.hits,
            "spent": found.spent,
            "saved": found.saved,
            "daily_limit": identity.daily_limit or None,
            "calls_left_today": call.web.desks.ledger.allowance(identity).left,
            "prices": {name: call.web.desks.gateway.terms[name].price for name in OPERATION_NAMES},
            "batch_limit": call.web.desks.batch_limit,
        }
    )


def _while_signed_in(call: Call, items: Iterable[Item]) -> Iterator[Item]:
    """Yield items, and authenticate the sender again before each.

    The file of a large batch takes long, and its sender's token may be revoked meanwhile.
    """
    for item in items:
        _authenticated(call.web)
        yield item


def _zip(
    call: Call, items: Callable[[], Sequence[Item]], ask: Collection[LookupName], name: str
) -> Response:
    content_type, file_name = "application/zip", f"{name}.zip"
    with ExitStack() as stack:
        if request.method != "HEAD":
            stack.enter_context(call.web.streams.slot(_sender(call)))
        call.web.pdfs.check()
        if request.method == "HEAD":
            return file_response((), content_type, file_name)
        files = stream_with_context(zip_stream(_dossiers(call, items(), ask)))
        return streamed_response(files, content_type, file_name, stack.pop_all().close)


def _sender(call: Call) -> str:
    """Return who takes the slots of long responses.

    A token is one sender. Without tokens of the portal, a client may invent any number of callers,
    so its network is the sender.
    """
    is_known = not call.web.sessions.is_demo and call.identity.credential is None
    return call.identity.digest if is_known else network(request.remote_addr)


def _dossiers(
    call: Call, items: Sequence[Item], ask: Collection[LookupName]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a batch's ZIP archive, each with its name.

    The first file lists the plates. It is sent before the first dossier is rendered, so that the
    download starts at once. If some vehicles have no dossier, the last file lists these vehicles,
    each with the reason. An archive may take minutes, so the sender is authenticated again before
    each dossier. Raises Incomplete if the sender may no longer receive dossiers.
    """
    plates = [item.subject.text for item in items if isinstance(item.subject, Plate)]
    yield "placas.txt", "\r\n".join([*plates, ""]).encode()
    left_out = []
    for item in items:
        subject, pdf, reason = item.subject, None, ONLY_FOR_PLATES
        if isinstance(subject, Plate):
            _authenticate_again(call.web)
            try:
                pdf, reason = _dossier_pdf(call, subject, ask), NO_STORED_ANSWER
            except Exception as error:  # one failed dossier must not end the archive
                log.error("unexpected %s in a dossier", type(error).__name__)
                reason = NOT_RENDERED
        if pdf is None:
            left_out.append(f"{subject.text}: {reason}")
        else:
            yield f"dossie-{subject.text}.pdf", pdf
    if left_out:
        yield "sem-dossie.txt", "\r\n".join([*left_out, ""]).encode()


def _dossier_pdf(call: Call, plate: Plate, ask: Collection[LookupName]) -> bytes | None:
    html = batch_dossier(call.web, plate, ask, call.identity)
    if html is None:
        return None
    with call.web.pdf_span():
        return call.web.pdfs.render_for_archive(html)


# Credentials and responses


def _authenticated(web: Web) -> Call:
    headers, query = request.headers.getlist("Authorization"), request.query_string
    try:
        identity = web.gatekeeper.authenticate(read_credential(headers, query))
    except NoCredential:
        # In demo mode, ``Sessions.current`` returns a visitor even without a session cookie.
        # Therefore ``session`` must not be empty.
        may_use_session = request.method in ("GET", "HEAD") and not sends_credential(headers, query)
        visitor = web.sessions.current() if may_use_session and session else None
        if visitor is None:
            raise
        return Call(web, visitor, web.sessions.history_key, by_session=True)
    return Call(web, identity, identity.owner, by_session=False)


def _authenticate_again(web: Web) -> None:
    """Raise Incomplete if the request's token has been revoked or has expired."""
    try:
        _authenticated(web)
    except _NOT_AUTHENTICATED as error:
        log.warning("an archive ends early: %s", type(error).__name__)
        raise Incomplete from None


def _body(call: Call, invalid: str, *, may_be_absent: bool = False) -> dict[str, Any]:
    """Return the JSON object in the request's body. Raises Refusal (400)."""
    document = read_object(call.web, call.identity, invalid, may_be_absent=may_be_absent)
    _refuse_unknown(document, _declared().members, UNKNOWN_MEMBER)
    return document


def _one(call: Call, batch: str) -> Response:
    owner, identity = call.owner, call.identity
    found = call.web.desks.pricing.priced(call.web.desks.batches.get(batch, owner), owner, identity)
    return _json(batch_object(found, call.web.desks.ledger.allowance(identity)))


def _declared() -> Declared:
    return declared(str(request.url_rule), request.method)


def _refuse_unknown(names: Iterable[str], known: Collection[str], message: str) -> None:
    for name in names:
        if name not in known:
            similar = get_close_matches(name, known, 1)
            hint = f" Quis dizer “{similar[0]}”?" if similar else ""
            shown = wording.sanitise_echo(name, _LONGEST_NAME)
            raise Refusal("parameter_unknown", f"{message.format(shown)}{hint}")


def _without_answer(panel: Panel) -> Refusal | Failure:
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


def _asked(
    names: Sequence[object], identity: Identity, code: str, message: str
) -> tuple[LookupName, ...]:
    """Return the lookups that a request names, in the order of LOOKUPS.

    Raises Refusal (``code``, ``message``) for an unknown name, or Refusal (403) if the identity
    lacks the scope of a lookup.
    """
    if any(name not in LOOKUPS for name in names):
        raise Refusal(code, message)
    asked = tuple(name for name in LOOKUPS if name in names)
    if not all(map(identity.has_scope, asked)):
        raise Refusal("scope_missing")
    return asked


def _json(document: object) -> Response:
    return Response(_encoder.encode(document), 200, content_type="application/json")


def _download(call: Call, table: Table, ending: Format, dialect: Dialect, name: str) -> Response:
    """Return a table as a file. The whole file is written before the response starts.

    The response therefore has a Content-Length, which tells a truncated file from a complete one.
    A slow client gets nothing that was read after the revocation of its token.
    """
    content_type, file_name = _TYPES[ending], f"{name}.{ending}"
    if request.method == "HEAD":
        return file_response((), content_type, file_name)
    with ExitStack() as stack:
        slot = call.web.streams.slot(_sender(call))
        file = stack.enter_context(Spool(partial(stack.enter_context, slot)))
        if ending == "xlsx":
            file.rollover()  # its writer also has temporary files
        write_table(table, file, ending, dialect)
        length = file.seek(0, SEEK_END)
        file.seek(0)
        if length <= file.most_in_memory:
            return file_response(file.read(), content_type, file_name)
        close = stack.pop_all().close
        response = streamed_response(chunks(file), content_type, file_name, close)
        response.content_length = length
        return response
