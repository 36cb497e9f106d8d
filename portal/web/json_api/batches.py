"""Batches: lists of vehicles that are created, started and followed."""

import time
from collections.abc import Sequence
from contextlib import suppress
from decimal import ROUND_DOWN, Decimal
from typing import Final, NamedTuple

import msgspec
from flask import Response, request, url_for
from werkzeug.exceptions import ServiceUnavailable

from portal import wording
from portal.batch.typed_list import Subject, TypedList
from portal.presentation.exports.batches import batch_object
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import InvalidSubject, parse_subject
from portal.web.json_api.calls import (
    NOT_IN_BATCH,
    Call,
    asked,
    authenticated,
    body_of,
    get,
    json_response,
    post,
    sent_key,
)
from portal.web.json_api.routes import Refusal
from portal.web.routing.responses import LONGEST_NAME

INVALID_ASK_LIST: Final = (
    f'Em "ask" vai uma lista com {wording.listed(LOOKUPS, " ou ")}, ao menos um.'
)
INVALID_BATCH: Final = 'O corpo deve ser um objeto JSON com "plates", uma lista de textos.'
INVALID_BODY: Final = "O corpo deve ser um objeto JSON, ou faltar."
INVALID_START: Final = (
    'O corpo é opcional: um objeto JSON com "max_cost", em reais, como 60.50, e com "retry", a '
    "lista das placas que falharam e são consultadas de novo."
)
BATCHES: Final = "/api/v1/batches"
BATCH: Final = f"{BATCHES}/<batch>"
_POLL_S: Final = 0.5
_HIGHEST_COST: Final = 10**9  # R$
_SMALLEST_PRICE: Final = Decimal("0.000001")  # R$, the precision of the settings PRICE_…


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


# Bodies


def _new_batch(call: Call) -> NewBatch:
    document = body_of(call, INVALID_BATCH)
    plates, names = document.get("plates"), document.get("ask")
    if not isinstance(plates, list):
        raise Refusal("body_invalid", INVALID_BATCH)
    if names is None:
        ask = tuple(name for name in LOOKUPS if call.caller.may(name))
    elif isinstance(names, list) and names:
        ask = asked(names, call.caller, "body_invalid", INVALID_ASK_LIST)
    else:
        raise Refusal("body_invalid", INVALID_ASK_LIST)
    listed = call.desk.lists.read_texts(plates)
    call.desk.lists.check(listed, ask)
    key = sent_key()
    return NewBatch(listed, ask, key, msgspec.json.encode(document, order="sorted"))


def _start_terms(call: Call) -> StartTerms:
    document = body_of(call, INVALID_START, may_be_absent=True)
    retried = _retried(document.get("retry"), call.desk.lists.limit)
    return StartTerms(_max_cost(document.get("max_cost")), retried)


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
            shown = wording.sanitise_echo(text, LONGEST_NAME)
            raise Refusal("body_invalid", NOT_IN_BATCH.format(shown)) from None
    return list(dict.fromkeys(subjects))


def _no_body(call: Call) -> None:
    body_of(call, INVALID_BODY, may_be_absent=True)


# Views


@get(BATCHES)
def listed(call: Call, after: tuple[float, str] | None = None) -> Response:
    batches, allowance = call.desk.lists.page(after), call.desk.allowance()
    return json_response(
        {
            "batches": [batch_object(batch, allowance) for batch in batches.shown],
            "next": batches.next and f"{batches.next[0]!r}-{batches.next[1]}",
        }
    )


@post(BATCHES, body=_new_batch)
def create(call: Call, body: NewBatch) -> Response:
    batch = call.desk.lists.draft(body.listed, body.ask, key=body.key, content=body.content)
    response = _one(call, batch)
    response.status_code = 201
    response.headers["Location"] = url_for(".batch", batch=batch)
    return response


@get(BATCH)
def batch(call: Call, batch: str, wait: int = 0) -> Response:
    if wait and request.method == "GET":
        _await_change(call, batch, wait)
        authenticated(call.web)  # the token may have been revoked meanwhile
    return _one(call, batch)


def _await_change(call: Call, batch: str, wait_s: int) -> None:
    """Return when the state or the counts of a batch change, at the latest after ``wait_s``.

    Returns at once if the batch changes only by a request, if too many requests wait, or if the
    process is to end. Raises UnknownBatch.
    """
    web, lists = call.web, call.desk.lists
    first = present = lists.get(batch)
    ends_at = time.monotonic() + wait_s
    with suppress(ServiceUnavailable), web.slots.batch_waits.slot(call.caller.owner):
        while (present.state, present.counts) == (first.state, first.counts) and present.goes_on:
            left_s = ends_at - time.monotonic()
            if left_s <= 0 or not web.operator.is_ready():
                break
            time.sleep(min(_POLL_S, left_s))
            present = lists.get(batch)


@post(f"{BATCH}/start", body=_start_terms)
def start(call: Call, batch: str, body: StartTerms) -> Response:
    """Start or resume a batch, or look up failed vehicles again."""
    if body.retried:
        if not call.identity.may_spend:
            raise Refusal("scope_missing")
        call.desk.lists.retry(batch, body.retried, body.max_cost)
    else:
        call.desk.lists.start(batch, body.max_cost)
    return _one(call, batch)


@post(f"{BATCH}/pause", body=_no_body)
def pause(call: Call, batch: str, body: None) -> Response:  # noqa: ARG001 read and checked
    call.desk.lists.pause(batch)
    return _one(call, batch)


@post(f"{BATCH}/cancel", body=_no_body)
def cancel(call: Call, batch: str, body: None) -> Response:  # noqa: ARG001 read and checked
    call.desk.lists.cancel(batch)
    return _one(call, batch)


def _one(call: Call, batch: str) -> Response:
    return json_response(batch_object(call.desk.lists.priced(batch), call.desk.allowance()))
