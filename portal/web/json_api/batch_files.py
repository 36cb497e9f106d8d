"""What a batch has found, as files: results, records, deadlines and dossiers."""

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import Final, Literal

from flask import Response, render_template, request, stream_with_context

from portal.access.tokens import TokensUnavailable
from portal.batch.model import Item
from portal.dossier.dossier import Dossier
from portal.dossier.row import is_selected
from portal.gateway.lookup import Failure, Spend
from portal.pdf.process import PAGE_WITHIN_S
from portal.presentation.exports.batches import results_table
from portal.presentation.exports.calendar import deadline_calendar
from portal.presentation.exports.tables import Dialect, Format
from portal.presentation.exports.vehicle_tables import NEEDS, TableName, batch_table
from portal.presentation.exports.zip_file import Incomplete, zip_stream
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate
from portal.web.json_api.batches import BATCH
from portal.web.json_api.calls import Call, authenticated, get_file
from portal.web.json_api.files import RECORD_FILES, download
from portal.web.json_api.routes import REFUSED_BY, Refusal
from portal.web.papers import batch_dossier, sheets_file
from portal.web.routing.responses import calendar_response, file_response, streamed_response
from portal.web.web import Web

log = logging.getLogger(__name__)

NO_STORED_ANSWER: Final = "nenhuma consulta tem resposta guardada com dados deste veículo"
# A sheet takes a fifth of a second of an idle processor.
MOST_SHEETS: Final = 40
SHEET_WITHIN_S: Final = 5.0
TOO_MANY_SHEETS: Final = (
    f"Um arquivo tem no máximo {MOST_SHEETS} folhas: escolha as placas em “plates”."
)
NO_SHEET: Final = "Nenhuma destas placas está neste lote; a folha é feita só para placas."
ONLY_FOR_PLATES: Final = "o dossiê é feito só para placas, e isto é um Renavam"
NOT_RENDERED: Final = "o dossiê não pôde ser gerado; baixe o arquivo de novo"
_NOT_AUTHENTICATED: Final[tuple[type[Exception], ...]] = (*REFUSED_BY, TokensUnavailable)


def _results(
    call: Call,
    batch: str,
    kind: Literal[Format, "zip"],
    dialect: Dialect = "brazil",
    plates: Collection[str] = (),
    since: float | None = None,
    expired: bool = False,
) -> Response:
    """Return the results of a batch, of all its vehicles or of those that the query selects."""
    name, outdated_at_s = f"lote-{batch[:8]}", time.time() if expired else None

    def select() -> tuple[Collection[LookupName], Sequence[Item]]:
        # All items are read before the response starts. A later error would truncate the response,
        # and a client could mistake the truncated response for a complete one.
        return call.desk.lists.get(batch).ask, [
            item
            for item in call.desk.lists.items(batch)
            if (not plates or item.subject.text in plates)
            and is_selected(item, since, outdated_at_s)
        ]

    if kind == "zip":
        return _zip(call, select, name)
    with call.web.slots.table_writes.slot(call.sender):
        ask, chosen = select()
        subjects = [item.subject for item in chosen]
        call.desk.prepare(subjects)
        call.desk.witness.exported(subjects, batch)
        rows = (call.desk.row(item, ask) for item in _while_signed_in(call, chosen))
        return download(call, results_table(rows), kind, dialect, name)


@get_file(f"{BATCH}/deadlines.ics", "batch_deadlines")
def batch_deadlines(call: Call, batch: str) -> Response:
    today = call.web.render_context().today
    with call.web.slots.table_writes.slot(call.sender):
        ask = [name for name in call.desk.lists.get(batch).ask if name == "renainf"]
        vehicles = (dossier for _, dossier in _vehicles(call, batch, ask))
        with closing(call.web.slots.file_turn.sliced(vehicles)) as dossiers:
            calendar = deadline_calendar(dossiers, f"Prazos do lote {batch[:8]}", today)
    if calendar is None:
        raise Failure("not_stored")
    return calendar_response(calendar, f"lote-{batch[:8]}", "attachment")


@get_file(f"{BATCH}/sheets.pdf", "sheets_pdf")
def sheets_pdf(call: Call, batch: str, plates: Collection[str] = ()) -> Response:
    """Return one file with the shop's sheet of each plate of a batch, or of those in ``plates``."""
    file_name = f"folhas-{batch[:8]}.pdf"
    with call.web.slots.table_writes.slot(call.sender):
        chosen = [
            item.subject
            for item in call.desk.lists.items(batch)
            if isinstance(item.subject, Plate) and (not plates or item.subject.text in plates)
        ]
        if not chosen:
            raise Refusal("parameter_invalid", NO_SHEET)
        if len(chosen) > MOST_SHEETS:
            raise Refusal("parameter_invalid", TOO_MANY_SHEETS)
        if request.method == "HEAD":
            call.web.pdfs.check()
            return file_response((), "application/pdf", file_name)
        with call.web.slots.file_turn.take():
            page = sheets_file(call.web, call.identity, call.desk.stored(chosen))
            html = render_template(page.template, page=page)
        with call.web.pdf_span():
            pdf = call.web.pdfs.render_for_archive(
                html, within_s=PAGE_WITHIN_S + SHEET_WITHIN_S * len(chosen)
            )
        call.desk.witness.exported(chosen, batch)
    return file_response(pdf, "application/pdf", file_name)


def _records(
    call: Call, batch: str, name: TableName, kind: Format, dialect: Dialect = "brazil"
) -> Response:
    need = NEEDS[name]
    with call.web.slots.table_writes.slot(call.sender):
        if need not in call.desk.lists.get(batch).ask:
            raise Refusal("lookup_not_asked")
        table = batch_table(name, _vehicles(call, batch, [need]))
        return download(call, table, kind, dialect, f"lote-{batch[:8]}-{name}")


def _vehicles(call: Call, batch: str, ask: Sequence[LookupName]) -> Iterator[tuple[Item, Dossier]]:
    """Return a batch's items, each with its dossier from stored answers."""
    items = call.desk.lists.items(batch)
    call.desk.witness.exported((item.subject for item in items), batch)
    return (
        (item, call.desk.dossier(item.subject, Spend.NEVER, ask, ask))
        for item in _while_signed_in(call, items)
    )


for _kind in ("csv", "jsonl", "xlsx", "zip"):
    get_file(f"{BATCH}/results.{_kind}", f"results_{_kind}")(partial(_results, kind=_kind))
for _name, _need in NEEDS.items():
    for _format in RECORD_FILES:
        get_file(f"{BATCH}/{_name}.{_format}", f"batch_{_name}_{_format}", _need)(
            partial(_records, name=_name, kind=_format)
        )


def _while_signed_in(call: Call, items: Sequence[Item]) -> Iterator[Item]:
    """Yield items, and authenticate the sender again before each.

    The file of a large batch takes long, and its sender's token may be revoked meanwhile.
    """
    for item in items:
        authenticated(call.web)
        yield item


def _zip(
    call: Call, select: Callable[[], tuple[Collection[LookupName], Sequence[Item]]], name: str
) -> Response:
    content_type, file_name = "application/zip", f"{name}.zip"
    with ExitStack() as stack:
        if request.method != "HEAD":
            stack.enter_context(call.web.slots.streams.slot(call.sender))
        ask, chosen = select()
        call.web.pdfs.check()
        if request.method == "HEAD":
            return file_response((), content_type, file_name)
        call.desk.witness.exported(item.subject for item in chosen)
        files = stream_with_context(zip_stream(_dossiers(call, chosen, ask)))
        return streamed_response(files, content_type, file_name, stack.pop_all().close)


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
    with call.web.slots.file_turn.take():
        paper = batch_dossier(call.web, call.desk, plate, ask)
    if paper is None:
        return None
    with call.web.pdf_span():
        return call.web.pdfs.render_for_archive(*paper)


def _authenticate_again(web: Web) -> None:
    """Raise Incomplete if the request's token has been revoked or has expired."""
    try:
        authenticated(web)
    except _NOT_AUTHENTICATED as error:
        log.warning("an archive ends early: %s", type(error).__name__)
        raise Incomplete from None
