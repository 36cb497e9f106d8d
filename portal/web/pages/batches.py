"""Batch pages: form, check of the typed list, progress, and results.

All pages work without JavaScript.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Final

from flask import Blueprint, abort, flash, redirect, request
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response as BaseResponse

from portal.access import Identity
from portal.batch import (
    Batch,
    Batches,
    BinaryFile,
    BinaryFormat,
    Item,
    NotAllowed,
    Preview,
    RemainingPreviews,
    TypedList,
    UnknownBatch,
    quote,
    read_list,
    read_strings,
    reticked,
    start_batch,
)
from portal.gateway import OPERATIONS, Allowance, Caller, Directive, Gateway
from portal.presentation.exports.batches import BatchRow, row_of, wrong_message
from portal.presentation.render_context import RenderContext
from portal.presentation.site.recent_lookup import RecentLookup
from portal.presentation.tools.batches import (
    PAGE_SIZE,
    batch_form_page,
    batch_page,
    page_count_of,
    typed_again,
)
from portal.vehicle import LOOKUPS, LookupName
from portal.web.http.errors import page_error
from portal.web.http.upload_limits import BODY_CAP
from portal.web.pages.lookups import Lookups
from portal.web.pages.responses import keep_out_of_indexes, page_response
from portal.web.pages.sessions import Sessions

NOTHING_GIVEN: Final = "Informe ao menos uma placa ou um Renavam."
NOTHING_VALID: Final = "Nada disso é placa nem Renavam. {}"
TOO_MANY: Final = "São {} placas; um lote tem no máximo {}."
NOTHING_ASKED: Final = "Escolha ao menos uma consulta."
RETICKED: Final = "A escolha mudou. Confira o preço de agora; nada foi consultado."
DISCARDED: Final = "Lote descartado. Nada foi consultado."
TOO_LARGE: Final = (
    f"O envio passa de {BODY_CAP // 1024} KiB, o máximo de um lote, e não foi lido. Cole a lista "
    "de novo ou envie um arquivo menor, por exemplo só com a coluna das placas."
)
BINARY_FILES: Final[Mapping[BinaryFormat, str]] = {
    "XLSX": "É uma planilha do Excel (XLSX). Salve como CSV e envie de novo.",
    "ODS": "É uma planilha do LibreOffice (ODS). Salve como CSV e envie de novo.",
    "ZIP": "É um arquivo ZIP ou um documento do Word. Copie dele as placas e cole a lista.",
    "XLS": "É uma planilha do Excel (XLS). Salve como CSV e envie de novo.",
    "PDF": "É um PDF. Copie dele as placas e cole a lista.",
    "compressed": "É um arquivo compactado. Extraia dele a lista em CSV e envie de novo.",
    "image": "É uma imagem. Digite ou cole as placas.",
    "binary": "Este arquivo não é um texto. Salve a lista como CSV ou cole as placas.",
}


class BatchPages:
    """The batch routes. ``recent`` returns the visitor's latest lookups, which the form offers."""

    def __init__(
        self,
        *,
        gateway: Gateway,
        batches: Batches,
        previews: RemainingPreviews,
        limit: int,
        allowance: Callable[[Caller], Allowance],
        lookups: Lookups,
        sessions: Sessions,
        render_context: Callable[[], RenderContext],
        recent: Callable[[Identity], Sequence[RecentLookup]],
    ) -> None:
        self._recent = recent
        self._gateway = gateway
        self._batches = batches
        self._previews = previews
        self._limit = limit
        self._allowance = allowance
        self._lookups = lookups
        self._sessions = sessions
        self._render_context = render_context

    def blueprint(self) -> Blueprint:
        pages = Blueprint("batches", __name__)
        for path, name, view, method in (
            ("/lote", "form", self.form, "GET"),
            ("/lote", "create", self.create, "POST"),
            ("/lote/<batch>", "batch", self.batch, "GET"),
            ("/lote/<batch>/iniciar", "start", self.start, "POST"),
            ("/lote/<batch>/pausar", "pause", self.pause, "POST"),
            ("/lote/<batch>/cancelar", "cancel", self.cancel, "POST"),
            ("/lote/<batch>/descartar", "discard", self.discard, "POST"),
        ):
            pages.add_url_rule(path, name, self._sessions.require_sign_in(view), methods=[method])
        pages.after_request(keep_out_of_indexes)
        pages.register_error_handler(RequestEntityTooLarge, self._too_large)
        return pages

    def form(self, identity: Identity) -> BaseResponse:
        draft = request.args.get("corrigir", "")
        if not draft:
            return self._form(identity)
        owner = self._sessions.history_key
        try:
            found = self._batches.get(draft, owner)
        except UnknownBatch:
            return self._form(identity)
        text, problem = typed_again(found, self._batches.items(draft, owner))
        return self._form(identity, text, problem, list(found.ask), corrects=draft, status=200)

    def create(self, identity: Identity) -> BaseResponse:
        text = request.form.get("placas", "")
        asked = request.form.getlist("consulta")
        upload = request.files.get("arquivo")
        try:
            listed = read_list(text, upload.read() if upload is not None else b"")
        except BinaryFile as error:
            return self._form(identity, text, BINARY_FILES[error.format], asked)
        listed = _with_recent(listed, request.form.getlist("recente"))
        ask = tuple(name for name in LOOKUPS if name in asked and identity.has_scope(name))
        if not ask:
            return self._form(identity, text, NOTHING_ASKED, asked)
        if not listed.subjects and not any(each.suggestion for each in listed.wrong):
            first = wrong_message(listed.wrong[0]) if listed.wrong else ""
            problem = NOTHING_VALID.format(first) if first else NOTHING_GIVEN
            return self._form(identity, text, problem, asked)
        if len(listed.subjects) > self._limit:
            problem = TOO_MANY.format(len(listed.subjects), self._limit)
            return self._form(identity, text, problem, asked)
        batch = self._create(identity, ask, listed)
        self._discard_draft(request.form.get("corrige", ""), self._sessions.history_key)
        return redirect(f"/lote/{batch}", 303)

    def _create(self, identity: Identity, ask: tuple[LookupName, ...], listed: TypedList) -> str:
        quoted = quote(listed.subjects, ask, identity, self._gateway)
        return self._batches.create(self._sessions.history_key, ask, quoted, listed)

    def _too_large(self, _: RequestEntityTooLarge) -> BaseResponse:
        """Return an empty form, because the portal has not read the typed list."""
        identity = self._sessions.current()
        return (
            page_error(413) if identity is None else self._form(identity, "", TOO_LARGE, status=413)
        )

    def _discard_draft(self, batch: str, owner: str) -> None:
        """Delete a draft batch, because the visitor has corrected its list.

        A batch that has been started in the meantime is not deleted.
        """
        with suppress(UnknownBatch, NotAllowed):
            self._batches.discard(batch, owner)

    def batch(self, identity: Identity, batch: str) -> BaseResponse:
        owner = self._sessions.history_key
        only, order = request.args.get("so", ""), request.args.get("ordem", "")
        search = request.args.get("busca", "")
        number = _number(request.args.get("pagina", ""))
        try:
            found = self._batches.get(batch, owner)
            items, page_count = self._items(found, owner, only or order or search, number)
            left = self._left(found, owner, identity)
        except UnknownBatch:
            abort(404)
        context = self._render_context()
        page = batch_page(
            found,
            [(item, self._row(item, found, identity, context)) for item in items]
            if found.state != "draft"
            else [],
            self._prices(identity),
            self._allowance(Caller.of(identity)),
            context.now,
            drafted=items if found.state == "draft" else (),
            left=left,
            only=only,
            order=order,
            search=search,
            number=number,
            page_count=page_count,
        )
        return page_response(page)

    def _items(
        self, found: Batch, owner: str, selection: str, number: int
    ) -> tuple[list[Item], int | None]:
        """Return the items to show, and the number of pages into which they are divided.

        The number is None if the items are not divided into pages. While a batch is running or
        paused, this method reads only PAGE_SIZE items, because the browser may reload the page
        every two seconds. A filter, a sort order or a search (``selection``) needs all items.
        """
        if found.state == "draft":
            return self._batches.items(found.id, owner), None
        if selection or found.state not in ("running", "paused"):
            return self._batches.items(found.id, owner), None
        pages = page_count_of(found.counts.total)
        skip = (min(max(1, number), pages) - 1) * PAGE_SIZE
        return self._batches.items(found.id, owner, most=PAGE_SIZE, skip=skip), pages

    def _left(self, found: Batch, owner: str, identity: Identity) -> Preview | None:
        """Return the cost of the lookups that the button of the batch's page would make.

        The button starts, resumes or repeats the batch. Returns None if the page has no button.
        """
        if found.state in ("running", "cancelled"):
            return None
        return self._previews.get(found, owner, identity)

    def start(self, identity: Identity, batch: str) -> BaseResponse:
        """Start or resume a batch.

        If the form of a draft has other ticks than the draft, show the new price first.
        """
        form = request.form
        if "conferida" in form:
            try:
                changed = self._reticked(identity, batch, set(form.getlist("linha")))
            except UnknownBatch:
                abort(404)
            if changed or "atualizar" in form:
                return redirect(f"/lote/{changed or batch}", 303)
        # The price on the pressed button, which may be lower than the price of this moment.
        most = _amount(request.form.get("ate", ""))
        return self._changed(
            batch,
            lambda owner: start_batch(self._batches, batch, owner, identity, self._gateway, most),
        )

    def _reticked(self, identity: Identity, batch: str, ticked: set[str]) -> str:
        """Replace a draft by one with the ticked lines, and return its id.

        Returns "" if the ticks have not changed. Raises UnknownBatch.
        """
        owner = self._sessions.history_key
        found = self._batches.get(batch, owner)
        subjects = tuple(item.subject for item in self._batches.items(batch, owner))
        if found.state != "draft" or ticked == {subject.text for subject in subjects}:
            return ""
        listed = reticked(
            TypedList(
                subjects, found.wrong, (), found.more_wrong, dict(found.typed), found.unticked
            ),
            ticked,
        )
        if len(listed.subjects) > self._limit:
            flash(TOO_MANY.format(len(listed.subjects), self._limit))
            return batch
        flash(RETICKED)
        created = self._create(identity, found.ask, listed)
        self._discard_draft(batch, owner)
        return created

    def pause(self, identity: Identity, batch: str) -> BaseResponse:  # noqa: ARG002
        return self._changed(batch, lambda owner: self._batches.pause(batch, owner))

    def cancel(self, identity: Identity, batch: str) -> BaseResponse:  # noqa: ARG002
        return self._changed(batch, lambda owner: self._batches.cancel(batch, owner))

    def discard(self, identity: Identity, batch: str) -> BaseResponse:  # noqa: ARG002
        try:
            self._batches.discard(batch, self._sessions.history_key)
        except UnknownBatch:
            abort(404)
        except NotAllowed:
            return redirect(f"/lote/{batch}", 303)  # another tab has started the batch
        flash(DISCARDED)
        return redirect("/lote", 303)

    def _changed(self, batch: str, change: Callable[[str], None]) -> BaseResponse:
        try:
            change(self._sessions.history_key)
        except UnknownBatch:
            abort(404)
        except NotAllowed:
            pass  # another tab has changed the batch, and the page shows its new state
        return redirect(f"/lote/{batch}", 303)

    def _form(
        self,
        identity: Identity,
        text: str = "",
        problem: str = "",
        ask: list[str] | None = None,
        *,
        corrects: str = "",
        status: int | None = None,
    ) -> BaseResponse:
        # After a 413, ``request.form`` cannot be read.
        form: MultiDict[str, str] = MultiDict() if status == 413 else request.form
        page = batch_form_page(
            self._prices(identity),
            self._limit,
            self._listed(identity),
            text=text,
            problem=problem,
            corrects=corrects or form.get("corrige", ""),
            ask=LOOKUPS if ask is None else ask,
            recent=self._recent(identity),
            chosen=form.getlist("recente"),
        )
        status = status or (400 if problem else 200)
        return page_response(page, status)

    def _listed(self, identity: Identity) -> list[Batch]:
        owner = self._sessions.history_key
        return self._previews.priced_list(self._batches.listed(owner), owner, identity)

    def _prices(self, identity: Identity) -> dict[LookupName, Decimal]:
        return {
            name: self._gateway.terms(name).price for name in LOOKUPS if identity.has_scope(name)
        }

    def _row(
        self, item: Item, batch: Batch, identity: Identity, context: RenderContext
    ) -> BatchRow:
        operations = [OPERATIONS[name] for name in batch.ask]
        return row_of(
            item,
            lambda subject: self._lookups.panels(subject, operations, identity, Directive.PEEK),
            context,
            batch.ask,
        )


def _with_recent(listed: TypedList, recent: Sequence[str]) -> TypedList:
    """Add the ticked recent vehicles to the typed ones, without repetitions."""
    added = read_strings(recent)
    subjects = dict.fromkeys((*listed.subjects, *added.subjects))
    return replace(listed, subjects=tuple(subjects))


def _amount(text: str) -> Decimal | None:
    """Return the amount in R$ that a button's form carries, or None if the form was changed."""
    return Decimal(text) if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,6})?", text, re.ASCII) else None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 5 else 1
