"""Batch pages: form, check of the typed list, progress, and results.

All pages work without JavaScript.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final

from flask import redirect, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import Identity
from portal.batch.batches import MOST_DRAFTS
from portal.batch.model import NotAllowed, TooManyDrafts
from portal.batch.pricing import CostUnknown, NotInBatch
from portal.batch.rows import UnknownBatch
from portal.batch.typed_list import TypedList, read_list, read_strings, reticked
from portal.batch.uploads import BinaryFile, BinaryFormat
from portal.data_files import read_toml
from portal.presentation.exports.batches import first_message
from portal.presentation.site.search_page import LONGEST_QUERY
from portal.presentation.tools.batches import BatchFormPage, BatchPage, typed_again
from portal.presentation.tools.vehicle_list import PAGE_SIZE, VehicleList
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import InvalidSubject, parse_subject
from portal.web.http.errors import page_error
from portal.web.http.slot_limits import BODY_CAP
from portal.web.pages.public import recent
from portal.web.services.responses import list_choice, page_response, show_notice
from portal.web.services.routes import Routes, signed_in
from portal.web.services.web import Web
from portal.wording import sanitise_echo

LONGEST_NAME: Final = 60
ENDINGS: Final = ("csv", "jsonl", "xlsx", "zip")
NOTHING_GIVEN: Final = "Informe ao menos uma placa ou um Renavam."
NOTHING_VALID: Final = "Nada disso é placa nem Renavam. {}"
TOO_MANY: Final = "São {} placas; um lote tem no máximo {}."
TOO_MANY_DRAFTS: Final = (
    f"Você tem {MOST_DRAFTS} lotes a conferir, e nenhum é apagado para dar lugar a outro. Comece "
    "ou descarte um deles, abaixo; cada um vence em 24 horas."
)
NOTHING_ASKED: Final = "Escolha ao menos uma consulta."
RETICKED: Final = "A escolha mudou. Confira o preço de agora; nada foi consultado."
DISCARDED: Final = "Lote descartado. Nada foi consultado."
TOO_LARGE: Final = (
    f"O envio passa de {BODY_CAP // 1024} KiB, o máximo de um lote, e não foi lido. Cole a lista "
    "de novo ou envie um arquivo menor, por exemplo só com a coluna das placas."
)
BINARY_FILES: Final = read_toml(__package__, "binary_files.toml", dict[BinaryFormat, str])

routes = Routes("batches", robots="noindex", limited=True)


@routes.get("/lote")
@signed_in
def form(web: Web, identity: Identity) -> BaseResponse:
    draft, owner = request.args.get("corrigir", ""), web.sessions.history_key
    try:
        found = web.desks.batches.get(draft, owner) if draft else None
    except UnknownBatch:
        found = None
    if found is None:
        return _form(web, identity, sanitise_echo(request.args.get("placas", ""), LONGEST_QUERY))
    text, problem = typed_again(found, web.desks.batches.items(draft, owner))
    return _form(web, identity, text, problem, found.ask, corrects=draft, status=200)


@routes.post("/lote")
@signed_in
def create(web: Web, identity: Identity) -> BaseResponse:
    text = request.form.get("placas", "")
    asked = request.form.getlist("consulta")
    upload = request.files.get("arquivo")
    try:
        listed = read_list(text, upload.read() if upload is not None else b"")
    except BinaryFile as error:
        return _form(web, identity, text, BINARY_FILES[error.format], asked)
    # The ticked recent vehicles follow the typed ones, without repetitions.
    ticked = read_strings(request.form.getlist("recente")).subjects
    listed = replace(listed, subjects=tuple(dict.fromkeys((*listed.subjects, *ticked))))
    ask = tuple(name for name in LOOKUPS if name in asked and identity.has_scope(name))
    problem = ""
    if not ask:
        problem = NOTHING_ASKED
    elif not listed.subjects and not any(each.suggestion for each in listed.wrong):
        first = first_message(listed.wrong)
        problem = NOTHING_VALID.format(first) if first else NOTHING_GIVEN
    elif len(listed.subjects) > web.desks.batch_limit:
        problem = TOO_MANY.format(len(listed.subjects), web.desks.batch_limit)
    if problem:
        return _form(web, identity, text, problem, asked)
    owner, corrected = web.sessions.history_key, request.form.get("corrige", "")
    try:
        batch = web.desks.pricing.create(owner, identity, ask, listed, replaced=corrected)
    except TooManyDrafts:
        return _form(web, identity, text, TOO_MANY_DRAFTS, asked, status=409)
    return _to_batch(batch)


@routes.get("/lote/<batch>")
@signed_in
def batch(web: Web, identity: Identity, batch: str) -> BaseResponse:
    owner, choice = web.sessions.history_key, list_choice()
    found = web.desks.batches.get(batch, owner)
    # A running batch stands in the order of its list, so that no row moves under the reader's
    # finger. Its page reads only PAGE_SIZE items, because the browser reloads it every two seconds.
    is_part = found.state == "running" and found.counts.total > PAGE_SIZE
    is_part = is_part and not choice.needs_all_rows
    most, last_page = PAGE_SIZE if is_part else None, (found.counts.total - 1) // PAGE_SIZE
    skip = min(choice.number - 1, last_page) * PAGE_SIZE if is_part else 0
    items = web.desks.batches.items(batch, owner, most=most, skip=skip)
    # Whether the page has a button that starts or resumes the batch.
    has_button = found.state in ("draft", "paused")
    now, is_draft = web.render_context().now, found.state == "draft"
    desk = web.desk(identity)
    rows = [] if is_draft else [desk.row(item, found.ask) for item in items]
    page = BatchPage(
        batch=found,
        vehicles=VehicleList(
            path=f"/lote/{batch}",
            rows=rows,
            notes=web.desks.history.notes(owner, [row.plate for row in rows]),
            choice=choice,
            now=now,
            order="lista" if found.state == "running" else "conclusao",
            total=found.counts.total if is_part else None,
        ),
        drafted=items if is_draft else (),
        prices=web.prices(identity),
        calls_left=web.desks.ledger.allowance(identity).left,
        now=now,
        left=web.desks.pricing.left(found, owner, identity) if has_button else None,
        failing=[item for item in items if item.failing_since is not None],
        retries=web.desks.pricing.retries(items, found.ask, identity),
    )
    return page_response(page)


@routes.get("/lote/<batch>/marcadas.<ending>")
@signed_in
def ticked(_: Web, __: Identity, batch: str, ending: str) -> BaseResponse:
    """Lead to the file of the ticked vehicles."""
    if ending not in ENDINGS:
        return page_error(404)
    plates = ",".join(request.args.getlist("placas"))
    return redirect(url_for(f"own_api.results_{ending}", batch=batch, plates=plates), 303)


@routes.post("/lote/<batch>/nome")
@signed_in
def rename(web: Web, _: Identity, batch: str) -> BaseResponse:
    name = sanitise_echo(request.form.get("nome", "").strip(), LONGEST_NAME)
    web.desks.batches.rename(batch, web.sessions.history_key, name)
    return _to_batch(batch)


@routes.post("/lote/<batch>/iniciar")
@signed_in
def start(web: Web, identity: Identity, batch: str) -> BaseResponse:
    """Start or resume a batch.

    If the form of a draft has other ticks than the draft, show the new price first.
    """
    if "conferida" in request.form:
        changed = _reticked(web, identity, batch, set(request.form.getlist("linha")))
        if changed or "atualizar" in request.form:
            return _to_batch(changed or batch)
    most = _confirmed()
    web.desks.pricing.start(batch, web.sessions.history_key, identity, most)
    return _to_batch(batch)


@routes.post("/lote/<batch>/tentar")
@signed_in
def retry(web: Web, identity: Identity, batch: str) -> BaseResponse:
    """Look up failed vehicles of a batch again."""
    try:
        subjects = [parse_subject(text) for text in request.form.getlist("placa")]
        web.desks.pricing.retry(batch, web.sessions.history_key, identity, subjects, _confirmed())
    except (InvalidSubject, NotInBatch):
        return page_error(404)
    return _to_batch(batch)


@routes.post("/lote/<batch>/pausar")
@signed_in
def pause(web: Web, _: Identity, batch: str) -> BaseResponse:
    web.desks.batches.pause(batch, web.sessions.history_key)
    return _to_batch(batch)


@routes.post("/lote/<batch>/cancelar")
@signed_in
def cancel(web: Web, _: Identity, batch: str) -> BaseResponse:
    web.desks.batches.cancel(batch, web.sessions.history_key)
    return _to_batch(batch)


@routes.post("/lote/<batch>/descartar")
@signed_in
def discard(web: Web, _: Identity, batch: str) -> BaseResponse:
    web.desks.batches.discard(batch, web.sessions.history_key)
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
    assert request.view_args is not None
    return _to_batch(request.view_args["batch"])


@routes.handle(RequestEntityTooLarge)
def _too_large(web: Web, _: RequestEntityTooLarge) -> BaseResponse:
    """Return an empty form, because the portal has not read the typed list."""
    identity = web.sessions.current()
    return page_error(413) if identity is None else _form(web, identity, "", TOO_LARGE, status=413)


def _confirmed() -> Decimal | None:
    """Return the price on the pressed button, which may be lower than the price of this moment.

    Returns None if the form was changed.
    """
    typed = request.values.get("ate", "")
    is_amount = re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", typed, re.ASCII)
    return Decimal(typed) if is_amount else None


def _to_batch(batch: str) -> BaseResponse:
    return redirect(url_for("batches.batch", batch=batch), 303)


def _reticked(web: Web, identity: Identity, batch: str, ticked: set[str]) -> str:
    """Replace a draft by one with the ticked lines, and return its id.

    Returns "" if the ticks have not changed.
    """
    owner = web.sessions.history_key
    found = web.desks.batches.get(batch, owner)
    subjects = tuple(item.subject for item in web.desks.batches.items(batch, owner))
    if found.state != "draft" or ticked == {subject.text for subject in subjects}:
        return ""
    listed = reticked(
        TypedList(subjects, found.wrong, (), found.more_wrong, dict(found.typed), found.unticked),
        ticked,
    )
    if len(listed.subjects) > web.desks.batch_limit:
        show_notice(TOO_MANY.format(len(listed.subjects), web.desks.batch_limit))
        return batch
    show_notice(RETICKED)
    return web.desks.pricing.create(owner, identity, found.ask, listed, replaced=batch)


def _form(
    web: Web,
    identity: Identity,
    text: str = "",
    problem: str = "",
    ask: Sequence[str] = LOOKUPS,
    *,
    corrects: str = "",
    status: int | None = None,
) -> BaseResponse:
    # After a 413, ``request.form`` cannot be read.
    typed: MultiDict[str, str] = MultiDict() if status == 413 else request.form
    owner = web.sessions.history_key
    page = BatchFormPage(
        prices=web.prices(identity),
        limit=web.desks.batch_limit,
        batches=web.desks.pricing.priced_list(web.desks.batches.listed(owner), owner, identity),
        text=text,
        problem=problem,
        corrects=corrects or typed.get("corrige", ""),
        ask=ask,
        recent=recent(web, identity),
        chosen=typed.getlist("recente"),
    )
    return page_response(page, status or (400 if problem else 200))
