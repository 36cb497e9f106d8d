"""Batch pages: form, check of the typed list, progress, and results.

All pages work without JavaScript.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from flask import abort, redirect, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response as BaseResponse

from portal.batch.model import (
    CostUnknown,
    NotAllowed,
    NothingFailed,
    NotInBatch,
    RetryTooExpensive,
    UnknownBatch,
)
from portal.desk.desk import Desk
from portal.desk.lists import ListRefused
from portal.presentation.list_refusals import refusal_sentence
from portal.presentation.lists.batches import BatchFormPage, BatchPage, typed_again
from portal.presentation.lists.vehicle_list import PAGE_SIZE
from portal.presentation.site.search_page import LONGEST_QUERY
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import InvalidSubject, parse_subject
from portal.web.http.errors import page_error
from portal.web.http.slot_limits import BODY_CAP
from portal.web.routing.lists import vehicles_of_batch
from portal.web.routing.responses import list_choice, page_response, show_notice
from portal.web.routing.routes import Routes, at_desk
from portal.web.routing.search import recent
from portal.web.web import Web
from portal.wording import sanitise_echo

LONGEST_NAME: Final = 60
# The file of the ticked vehicles, by its ending.
ENDINGS: Final = {
    **{ending: f"results_{ending}" for ending in ("csv", "jsonl", "xlsx", "zip")},
    "pdf": "sheets_pdf",
}
RETICKED: Final = "A escolha mudou. Confira o preço de agora; nada foi consultado."
NOTHING_FAILED: Final = "Nada foi consultado: nenhuma destas placas falhou."
PRICE_ROSE: Final = "O preço mudou. Confira o de agora; nada foi consultado."
PRICE_UNKNOWN: Final = (
    "O portal deixou de informar o preço de uma das consultas. Nada foi consultado."
)
DISCARDED: Final = "Lote descartado. Nada foi consultado."
TOO_LARGE: Final = (
    f"O envio passa de {BODY_CAP // 1024} KiB, o máximo de um lote, e não foi lido. Cole a lista "
    "de novo ou envie um arquivo menor, por exemplo só com a coluna das placas."
)
routes = Routes("batches", robots="noindex", limited=True)


@routes.get("/lote")
@at_desk
def form(web: Web, desk: Desk) -> BaseResponse:
    draft = request.args.get("corrigir", "")
    try:
        former = desk.lists.get(draft) if draft else None
    except UnknownBatch:
        former = None
    if former is None:
        return _form(web, desk, sanitise_echo(request.args.get("placas", ""), LONGEST_QUERY))
    text, problem = typed_again(former, desk.lists.items(draft))
    return _form(web, desk, text, problem, former.ask, corrects=draft, status=200)


@routes.post("/lote")
@at_desk
def create(web: Web, desk: Desk) -> BaseResponse:
    text = request.form.get("placas", "")
    asked = request.form.getlist("consulta")
    upload, ticked = request.files.get("arquivo"), request.form.getlist("recente")
    ask = tuple(name for name in LOOKUPS if name in asked and desk.caller.may(name))
    corrected = request.form.get("corrige", "")
    try:
        listed = desk.lists.read(text, upload.read() if upload is not None else b"", ticked)
        batch = desk.lists.draft(listed, ask, replaced=corrected, may_tick=True)
    except ListRefused as refused:
        status = 409 if refused.problem == "too_many_drafts" else 400
        return _form(web, desk, text, refusal_sentence(refused), asked, status=status)
    return _to_batch(batch)


@routes.get("/lote/<batch>")
@at_desk
def batch(web: Web, desk: Desk, batch: str) -> BaseResponse:
    choice, shown = list_choice(), desk.lists.get(batch)
    # The page of a running batch reads only PAGE_SIZE items, because the browser reloads it every
    # two seconds.
    is_part = shown.state == "running" and shown.counts.total > PAGE_SIZE
    is_part = is_part and not choice.needs_all_rows
    most, last_page = PAGE_SIZE if is_part else None, (shown.counts.total - 1) // PAGE_SIZE
    skip = min(choice.number - 1, last_page) * PAGE_SIZE if is_part else 0
    items = desk.lists.items(batch, most, skip)
    # Whether the page has a button that starts or resumes the batch.
    has_button = shown.state in ("draft", "paused")
    now, is_draft = web.render_context().now, shown.state == "draft"
    page = BatchPage(
        batch=shown,
        vehicles=vehicles_of_batch(
            desk, shown, items, choice, now, total=shown.counts.total if is_part else None
        ),
        drafted=items if is_draft else (),
        prices=desk.prices(),
        allowance=desk.allowance(),
        now=now,
        left=desk.lists.left(shown) if has_button else None,
        failing=[item for item in items if item.failing_since is not None],
        retries=desk.lists.retries(items, shown.ask),
    )
    return page_response(page)


@routes.get("/lote/<batch>/marcadas.<ending>")
@at_desk
def ticked(_: Web, __: Desk, batch: str, ending: str) -> BaseResponse:
    """Lead to the file of the ticked vehicles."""
    if ending not in ENDINGS:
        return page_error(404)
    plates = ",".join(request.args.getlist("placas"))
    return redirect(url_for(f"own_api.{ENDINGS[ending]}", batch=batch, plates=plates or None), 303)


@routes.post("/lote/<batch>/nome")
@at_desk
def rename(_: Web, desk: Desk, batch: str) -> BaseResponse:
    name = sanitise_echo(request.form.get("nome", "").strip(), LONGEST_NAME)
    desk.lists.rename(batch, name)
    return _to_batch(batch)


@routes.post("/lote/<batch>/iniciar")
@at_desk
def start(_: Web, desk: Desk, batch: str) -> BaseResponse:
    """Start or resume a batch.

    If the form of a draft has other ticks than the draft, show the new price first.
    """
    if "conferida" in request.form:
        changed = _tick(desk, batch, request.form.getlist("linha"))
        if changed or "atualizar" in request.form:
            return _to_batch(changed or batch)
    desk.lists.start(batch, _confirmed())
    return _to_batch(batch)


@routes.post("/lote/<batch>/tentar")
@at_desk
def retry(_: Web, desk: Desk, batch: str) -> BaseResponse:
    """Look up failed vehicles of a batch again."""
    if not desk.identity.may_spend:
        abort(403)
    try:
        subjects = [parse_subject(text) for text in request.form.getlist("placa")]
        desk.lists.retry(batch, subjects, _confirmed())
    except (InvalidSubject, NotInBatch):
        return page_error(404)
    return _to_batch(batch)


@routes.post("/lote/<batch>/pausar")
@at_desk
def pause(_: Web, desk: Desk, batch: str) -> BaseResponse:
    desk.lists.pause(batch)
    return _to_batch(batch)


@routes.post("/lote/<batch>/cancelar")
@at_desk
def cancel(_: Web, desk: Desk, batch: str) -> BaseResponse:
    desk.lists.cancel(batch)
    return _to_batch(batch)


@routes.post("/lote/<batch>/descartar")
@at_desk
def discard(_: Web, desk: Desk, batch: str) -> BaseResponse:
    desk.lists.discard(batch)
    show_notice(DISCARDED)
    return redirect(url_for(".form"), 303)


@routes.handle(UnknownBatch)
def _unknown(_: Web, __: UnknownBatch) -> BaseResponse:
    return page_error(404)


@routes.handle(NotAllowed)
def _not_allowed(_: Web, __: NotAllowed) -> BaseResponse:
    """Show the new state of the batch, which another tab has changed."""
    assert request.view_args is not None
    return _to_batch(request.view_args["batch"])


@routes.handle(CostUnknown)
def _cost_unknown(_: Web, __: CostUnknown) -> BaseResponse:
    """Show the batch, whose price has become unknown since its page was shown."""
    return _with_notice(PRICE_UNKNOWN)


@routes.handle(RetryTooExpensive)
def _retry_too_expensive(_: Web, __: RetryTooExpensive) -> BaseResponse:
    """Show the batch, whose price has risen since its page was shown."""
    return _with_notice(PRICE_ROSE)


@routes.handle(NothingFailed)
def _nothing_failed(_: Web, __: NothingFailed) -> BaseResponse:
    return _with_notice(NOTHING_FAILED)


@routes.handle(RequestEntityTooLarge)
def _too_large(web: Web, _: RequestEntityTooLarge) -> BaseResponse:
    """Return an empty form, because the portal has not read the typed list."""
    desk = web.visitor_desk()
    return page_error(413) if desk is None else _form(web, desk, "", TOO_LARGE, status=413)


def _with_notice(text: str) -> BaseResponse:
    """Lead to the page of the request's batch, where nothing was asked for the reason ``text``."""
    assert request.view_args is not None
    show_notice(text)
    return _to_batch(request.view_args["batch"])


def _confirmed() -> Decimal | None:
    """Return the price on the pressed button, which may be lower than the price of this moment.

    Returns None if the form was changed.
    """
    typed = request.values.get("ate", "")
    is_amount = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", typed, re.ASCII)
    return Decimal(typed) if is_amount else None


def _to_batch(batch: str) -> BaseResponse:
    return redirect(url_for("batches.batch", batch=batch), 303)


def _tick(desk: Desk, batch: str, ticked: Sequence[str]) -> str:
    """Return the id of the batch to show if the ticks of a draft have changed, else ""."""
    try:
        changed = desk.lists.tick(batch, ticked)
    except ListRefused as refused:
        show_notice(refusal_sentence(refused))
        return batch
    if changed:
        show_notice(RETICKED)
    return changed


def _form(
    web: Web,
    desk: Desk,
    text: str = "",
    problem: str = "",
    ask: Sequence[str] = LOOKUPS,
    *,
    corrects: str = "",
    status: int | None = None,
) -> BaseResponse:
    # After a 413, ``request.form`` cannot be read.
    typed: MultiDict[str, str] = MultiDict() if status == 413 else request.form
    page = BatchFormPage(
        prices=desk.prices(),
        limit=desk.lists.limit,
        batches=desk.lists.page().shown,
        text=text,
        problem=problem,
        corrects=corrects or typed.get("corrige", ""),
        ask=ask,
        recent=recent(web, desk),
        chosen=typed.getlist("recente"),
    )
    return page_response(page, status or (400 if problem else 200))
