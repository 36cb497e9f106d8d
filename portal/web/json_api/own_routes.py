"""The portal's own JSON API, ``/api/v1``: vehicle data with explanations, exports and batches.

Credentials, errors, headers and the order of checks are the same as in ``routes.JsonApi``. A GET
may also be authenticated by the session cookie of the HTML pages.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from difflib import get_close_matches
from functools import partial
from os import SEEK_END
from tempfile import SpooledTemporaryFile
from typing import Any, Final

import msgspec
from flask import Blueprint, Response, request, session, stream_with_context

from portal.access import Identity, NoCredential, TokensUnavailable, sends_credential
from portal.batch import (
    Batch,
    Item,
    NotAllowed,
    UnknownBatch,
    quote,
    read_strings,
    start_batch,
)
from portal.dossier.answers import Panel, Panels
from portal.gateway import OPERATIONS, Caller, Directive, Failure, Operation
from portal.pdf import PDFUnavailable
from portal.presentation.exports.batches import batch_object, results_table, wrong_message
from portal.presentation.exports.explained import explained
from portal.presentation.exports.tables import Dialect, Table, csv_lines, json_lines
from portal.presentation.exports.vehicle_tables import NEEDS, TableName, vehicle_table
from portal.presentation.exports.workbook import write_workbook
from portal.presentation.exports.zip_file import Incomplete, zip_stream
from portal.presentation.failure_texts import (
    ERROR_MESSAGES,
    FORBIDDEN,
    INVALID_PLATE,
    TOO_MANY,
    UNAUTHORIZED,
)
from portal.vehicle import LOOKUPS, LookupName, Plate
from portal.web.http.errors import failure_response, message_response
from portal.web.http.rate_limit_headers import count_request
from portal.web.http.user_initiated import is_user_initiated
from portal.web.json_api.openapi import Declared, declared
from portal.web.json_api.routes import (
    Refusal,
    add_route,
    authenticate,
    directive_of,
    limited,
    read_object,
    read_plate,
    sender_of,
    success_headers,
)
from portal.web.services.dossiers import batch_dossier
from portal.web.services.web import Web
from portal.wording import sanitise_echo

log = logging.getLogger(__name__)

INVALID_ASK: Final = "Em um só “ask” vão decode, renainf e renajud, separados por vírgula."
INVALID_ASK_LIST: Final = 'Em "ask" vai uma lista com decode, renainf ou renajud, ao menos um.'
INVALID_DIALECT: Final = "O dialeto é brazil ou rfc4180."
INVALID_BATCH: Final = 'O corpo deve ser um objeto JSON com "plates", uma lista de textos.'
INVALID_BODY: Final = "O corpo deve ser um objeto JSON, ou faltar."
UNKNOWN_PARAMETER: Final = "Este endereço não tem o parâmetro “{}”."
UNKNOWN_MEMBER: Final = "O corpo deste pedido não tem o membro “{}”."
_LONGEST_NAME: Final = 40  # characters of an unknown name that a message repeats
TOO_LONG: Final = "Um lote tem no máximo {} placas."
NOTHING_VALID: Final = "Nenhuma placa nem Renavam válido no lote. {}"
INVALID_START: Final = 'O corpo é opcional: um objeto JSON com "max_cost", em reais, como 60.50.'
NO_BATCH: Final = "Lote não encontrado."
NOT_ALLOWED: Final = {
    "start": "Um lote cancelado não pode ser iniciado.",
    "pause": "Só um lote em andamento pode ser pausado.",
    "cancel": "Um lote concluído não pode ser cancelado.",
}
NO_ANSWER: Final = "Não há resposta legível para esta consulta."
NO_STORED_ANSWER: Final = "nenhuma consulta tem resposta guardada com dados deste veículo"
ONLY_FOR_PLATES: Final = "o dossiê é feito só para placas, e isto é um Renavam"
NOT_RENDERED: Final = "o dossiê não pôde ser gerado; baixe o arquivo de novo"
NO_PDF: Final = "Falta neste servidor uma biblioteca para gerar o PDF."
# A file of up to _SPOOLED bytes stays in memory. A larger file is written to a temporary file.
_SPOOLED: Final = 4 * 1024 * 1024
_TYPES: Final = {
    "csv": "text/csv; charset=utf-8; header=present",
    "jsonl": "application/jsonl",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_HIGHEST_COST: Final = 10**9  # R$
_SMALLEST_PRICE: Final = Decimal("0.000001")  # R$, the precision of the settings PRICE_…
_encoder = msgspec.json.Encoder(decimal_format="number")


@dataclass(frozen=True, slots=True)
class Requester:
    """The sender of a request.

    ``owner`` identifies the sender as the owner of batches. ``by_session`` is true if the session
    cookie authenticates the sender. A browser sends this cookie even with requests that no user
    intended, so ``_directive`` prevents such requests from causing upstream calls.
    """

    identity: Identity
    owner: str
    by_session: bool


@dataclass(frozen=True, slots=True)
class OwnApi:
    """The routes of ``/api/v1``."""

    web: Web

    def blueprint(self) -> Blueprint:
        paths = Blueprint("own_api", __name__, url_prefix="/api/v1")

        def route(path: str, name: str, **views: Callable[..., Response]) -> None:
            def view(**parts: str) -> Response:
                method = "GET" if request.method == "HEAD" else request.method
                return self._answer(partial(views[method], **parts))

            methods = sorted(["HEAD", *views] if "GET" in views else views)
            add_route(paths, path, name, methods, view)

        route("/vehicles/<plate>", "vehicle", GET=self.vehicle)
        for table in NEEDS:
            for ending in ("csv", "jsonl"):
                view = partial(self.table, name=table, ending=ending)
                route(f"/vehicles/<plate>/{table}.{ending}", f"{table}_{ending}", GET=view)
        route("/batches", "batches", GET=self.listed, POST=self.create)
        route("/batches/<batch>", "batch", GET=self.batch)
        route("/batches/<batch>/start", "start", POST=self.start)
        route("/batches/<batch>/pause", "pause", POST=self.pause)
        route("/batches/<batch>/cancel", "cancel", POST=self.cancel)
        for ending in ("csv", "jsonl", "xlsx", "zip"):
            view = partial(self.results, ending=ending)
            route(f"/batches/<batch>/results.{ending}", f"results_{ending}", GET=view)
        return paths

    # Vehicles

    def vehicle(self, plate: str) -> Response:
        requester = self._requester()
        subject, ask = read_plate(plate), _parameter("ask", INVALID_ASK)
        # A query without ``ask`` requests all lookups, even if the identity lacks some of their
        # scopes. The response then states which lookups the identity may not make.
        names = LOOKUPS if ask is None else _asked(ask.split(","), requester.identity, INVALID_ASK)
        self._count(requester)
        panels = self._panels(subject, [OPERATIONS[name] for name in names], requester)
        context = self.web.render_context()
        return _json(explained(context.dossier(subject, panels, names), context.now))

    def table(self, plate: str, name: TableName, ending: str) -> Response:
        need = NEEDS[name]
        requester = self._requester(need)
        subject, dialect = read_plate(plate), _dialect()
        self._count(requester)
        panels = self._panels(subject, [OPERATIONS[need]], requester)
        table = vehicle_table(name, self.web.render_context().dossier(subject, panels))
        panel = panels.of(need)
        if table is None or panel.served is None:
            raise _without_answer(panel)
        response = _download(table, ending, dialect, f"{subject.text}-{name}")
        response.headers.extend(success_headers(panel.served))
        return response

    # Batches

    def listed(self) -> Response:
        requester = self._requester()
        self._count(requester)
        owner, identity = requester.owner, requester.identity
        batches = self.web.previews.priced_list(self.web.batches.listed(owner), owner, identity)
        return _json([self._object(batch, requester) for batch in batches])

    def create(self) -> Response:
        requester = self._requester()
        values, ask = self._new_batch(requester.identity)
        listed = read_strings(values, most_wrong=self.web.batch_limit)
        if len(listed.subjects) > self.web.batch_limit:
            raise Refusal(400, TOO_LONG.format(self.web.batch_limit))
        if not listed.subjects:
            first = wrong_message(listed.wrong[0]) if listed.wrong else ""
            raise Refusal(400, NOTHING_VALID.format(first).strip())
        self._count(requester)
        quoted = quote(listed.subjects, ask, requester.identity, self.web.gateway)
        batch = self.web.batches.create(requester.owner, ask, quoted, listed)
        response = self._one(batch, requester)
        response.status_code = 201
        response.headers["Location"] = f"/api/v1/batches/{batch}"
        return response

    def batch(self, batch: str) -> Response:
        requester = self._requester()
        self._count(requester)
        return self._one(batch, requester)

    def start(self, batch: str) -> Response:
        """Start or resume a batch."""
        requester = self._requester()
        owner, identity = requester.owner, requester.identity
        document = self._body(identity, INVALID_START, may_be_absent=True)
        max_cost = _max_cost(document.get("max_cost"))
        self._count(requester)
        start_batch(self.web.batches, batch, owner, identity, self.web.gateway, max_cost)
        return self._one(batch, requester)

    def pause(self, batch: str) -> Response:
        return self._changed(batch, self.web.batches.pause)

    def cancel(self, batch: str) -> Response:
        return self._changed(batch, self.web.batches.cancel)

    def _changed(self, batch: str, change: Callable[[str, str], None]) -> Response:
        requester = self._requester()
        self._body(requester.identity, INVALID_BODY, may_be_absent=True)
        self._count(requester)
        change(batch, requester.owner)
        return self._one(batch, requester)

    def results(self, batch: str, ending: str) -> Response:
        requester = self._requester()
        dialect = _dialect()
        self._count(requester)
        found = self.web.batches.get(batch, requester.owner)
        # All items are read before the response starts. A later error would truncate the response,
        # and a client could mistake the truncated response for a complete one.
        items = self.web.batches.items(batch, requester.owner)
        name = f"lote-{batch[:8]}"
        if ending == "zip":
            return self._zip(items, found.ask, requester.identity, name)
        operations = [OPERATIONS[lookup] for lookup in found.ask]
        table = results_table(
            items,
            lambda subject: self.web.lookups.panels(
                subject, operations, requester.identity, Directive.PEEK
            ),
            self.web.render_context(),
            found.ask,
        )
        return _download(table, ending, dialect, name)

    def _zip(
        self, items: Sequence[Item], ask: Collection[LookupName], identity: Identity, name: str
    ) -> Response:
        try:
            self.web.pdfs.check()
        except PDFUnavailable:
            return message_response(501, NO_PDF)
        stream = stream_with_context(zip_stream(self._dossiers(items, ask, identity)))
        return _attachment(stream, "application/zip", f"{name}.zip")

    def _dossiers(
        self, items: Sequence[Item], ask: Collection[LookupName], identity: Identity
    ) -> Iterator[tuple[str, bytes]]:
        """Yield the files of a batch's ZIP archive, each with its name.

        The first file lists the plates. It is sent before the first dossier is rendered, so that
        the download starts at once. If some vehicles have no dossier, the last file lists these
        vehicles, each with the reason. An archive may take minutes, so the sender is authenticated
        again before each dossier. Raises Incomplete if the sender may no longer receive dossiers.
        """
        plates = [item.subject.text for item in items if isinstance(item.subject, Plate)]
        yield "placas.txt", "\r\n".join([*plates, ""]).encode()
        left_out = []
        for item in items:
            subject, pdf, reason = item.subject, None, ONLY_FOR_PLATES
            if isinstance(subject, Plate):
                self._authenticate_again()
                try:
                    pdf, reason = self._dossier_pdf(subject, ask, identity), NO_STORED_ANSWER
                except Exception as error:  # one failed dossier must not end the archive
                    log.error("unexpected %s in a dossier", type(error).__name__)
                    reason = NOT_RENDERED
            if pdf is None:
                left_out.append(f"{subject.text}: {reason}")
            else:
                yield f"dossie-{subject.text}.pdf", pdf
        if left_out:
            yield "sem-dossie.txt", "\r\n".join([*left_out, ""]).encode()

    def _dossier_pdf(
        self, plate: Plate, ask: Collection[LookupName], identity: Identity
    ) -> bytes | None:
        html = batch_dossier(self.web, plate, ask, identity)
        if html is None:
            return None
        with self.web.pdf_span():
            return self.web.pdfs.render_for_archive(html)

    # Helpers

    def _answer(self, view: Callable[[], Response]) -> Response:
        try:
            return view()
        except Refusal as error:
            refusal = limited(error, self.web.limits)
            return message_response(
                refusal.status, refusal.message, refusal.retry_after_s, refusal.code
            )
        except Failure as failure:
            return failure_response(failure, self.web.gatekeeper.mode == "pass-through")
        except UnknownBatch:
            return message_response(404, NO_BATCH)
        except NotAllowed as error:
            return message_response(409, NOT_ALLOWED[error.action])

    def _requester(self, need: LookupName | None = None) -> Requester:
        """Authenticate the sender, by credential or session, and check the query's parameters.

        ``need`` is the scope that the sender must have, or None if the scope of any lookup is
        enough. Raises Refusal (401, 403, or 400 for an unknown parameter).
        """
        requester = self._sender()
        if not any(map(requester.identity.has_scope, LOOKUPS if need is None else [need])):
            raise Refusal(403, FORBIDDEN)
        _refuse_unknown(request.args, _declared().parameters, UNKNOWN_PARAMETER)
        return requester

    def _sender(self) -> Requester:
        headers, query = request.headers.getlist("Authorization"), request.query_string
        try:
            identity = authenticate(self.web.gatekeeper, headers, query)
        except NoCredential:
            may_use_session = request.method in ("GET", "HEAD") and not sends_credential(
                headers, query
            )
            if may_use_session and (requester := self._session()) is not None:
                return requester
            raise Refusal(401, UNAUTHORIZED) from None
        return Requester(identity, identity.digest, by_session=False)

    def _session(self) -> Requester | None:
        """Return the session's visitor, or None if the request has no valid session.

        In demo mode, ``Sessions.current`` returns a visitor even without a session cookie. This
        method therefore checks ``session`` first.
        """
        sessions = self.web.sessions
        identity = sessions.current() if session else None
        if identity is None:
            return None
        return Requester(identity, sessions.history_key, by_session=True)

    def _authenticate_again(self) -> None:
        """Raise Incomplete if the request's token has been revoked or has expired."""
        try:
            self._requester()
        except (Refusal, TokensUnavailable) as error:
            log.warning("an archive ends early: %s", type(error).__name__)
            raise Incomplete from None

    def _count(self, requester: Requester) -> None:
        wait_s = count_request(self.web.limits, requester.identity)
        if wait_s is not None:
            raise Refusal(429, TOO_MANY, wait_s)

    def _panels(
        self, plate: Plate, operations: Sequence[Operation], requester: Requester
    ) -> Panels:
        return self.web.lookups.panels(plate, operations, requester.identity, _directive(requester))

    def _new_batch(self, identity: Identity) -> tuple[list[object], tuple[LookupName, ...]]:
        """Return the plates and lookups in the request's body. Raises Refusal (400 or 403)."""
        document = self._body(identity, INVALID_BATCH)
        plates, names = document.get("plates"), document.get("ask")
        if not isinstance(plates, list):
            raise Refusal(400, INVALID_BATCH)
        if names is None:
            return plates, tuple(name for name in LOOKUPS if identity.has_scope(name))
        if not isinstance(names, list) or not names:
            raise Refusal(400, INVALID_ASK_LIST)
        return plates, _asked(names, identity, INVALID_ASK_LIST)

    def _body(
        self, identity: Identity, invalid: str, *, may_be_absent: bool = False
    ) -> dict[str, Any]:
        """Return the JSON object in the request's body. Raises Refusal (400)."""
        sender = sender_of(self.web.gatekeeper, identity)
        document = read_object(self.web.json_bodies, sender, invalid, may_be_absent=may_be_absent)
        _refuse_unknown(document, _declared().members, UNKNOWN_MEMBER)
        return document

    def _one(self, batch: str, requester: Requester) -> Response:
        owner, identity = requester.owner, requester.identity
        found = self.web.previews.priced(self.web.batches.get(batch, owner), owner, identity)
        return _json(self._object(found, requester))

    def _object(self, batch: Batch, requester: Requester) -> object:
        identity = requester.identity
        return batch_object(batch, self.web.allowance(Caller.of(identity)))


def _declared() -> Declared:
    return declared(str(request.url_rule), request.method)


def _refuse_unknown(names: Iterable[str], known: Collection[str], message: str) -> None:
    for name in names:
        if name not in known:
            similar = get_close_matches(name, known, 1)
            hint = f" Quis dizer “{similar[0]}”?" if similar else ""
            shown = sanitise_echo(name, _LONGEST_NAME)
            raise Refusal(400, f"{message.format(shown)}{hint}", code="parameter_unknown")


def _directive(requester: Requester) -> Directive:
    """Return the cache directive of a request.

    If the session cookie authenticates the sender, two rules of the HTML pages apply. The header
    ``no-cache`` has no effect, because a browser sends it with every reload, and a reload must not
    cost an upstream call. A request that no user initiated reads only stored answers.
    """
    directive = directive_of(requester.identity)
    if not requester.by_session or directive is Directive.ONLY_IF_CACHED:
        return directive
    return Directive.NORMAL if is_user_initiated() else Directive.PEEK


def _without_answer(panel: Panel) -> Refusal | Failure:
    """Return the error for a request whose only lookup has no readable answer."""
    match panel.cause:
        case "rejected" | "not_for_renavam":
            return Refusal(400, INVALID_PLATE)
        case "unconfirmed":
            return Refusal(502, panel.reason)
        case "broken":
            return Refusal(500, ERROR_MESSAGES[500])
        case "out_of_scope":
            return Refusal(403, FORBIDDEN)
        case "":
            # A panel has no cause if its answer is unreadable, or if the request allowed only
            # stored answers and the store has none.
            return Refusal(502, NO_ANSWER) if panel.has_answer else Failure("not_stored")
        case kind:
            return Failure(kind, panel.retry_after_s)


def _parameter(name: str, invalid: str) -> str | None:
    """Return a query parameter, or None if the query lacks it.

    Raises Refusal (400, ``invalid``) if the parameter is repeated.
    """
    values = request.args.getlist(name)
    if len(values) > 1:
        raise Refusal(400, invalid)
    return values[0] if values else None


def _asked(names: Sequence[object], identity: Identity, invalid: str) -> tuple[LookupName, ...]:
    """Return the lookups that a request names, in the order of LOOKUPS.

    Raises Refusal (400, ``invalid``) for an unknown name, or Refusal (403) if the identity lacks
    the scope of a lookup.
    """
    if any(name not in LOOKUPS for name in names):
        raise Refusal(400, invalid)
    asked = tuple(name for name in LOOKUPS if name in names)
    if not all(map(identity.has_scope, asked)):
        raise Refusal(403, FORBIDDEN)
    return asked


def _max_cost(value: object) -> Decimal | None:
    """Return the most that a batch may spend. Raises Refusal (400)."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise Refusal(400, INVALID_START)
    if not 0 <= value <= _HIGHEST_COST:
        raise Refusal(400, INVALID_START)
    return Decimal(value).quantize(_SMALLEST_PRICE, ROUND_DOWN)


def _dialect() -> Dialect:
    match _parameter("dialect", INVALID_DIALECT):
        case None | "brazil":
            return "brazil"
        case "rfc4180":
            return "rfc4180"
        case _:
            raise Refusal(400, INVALID_DIALECT)


def _json(document: object) -> Response:
    return Response(_encoder.encode(document), 200, content_type="application/json")


def _download(table: Table, ending: str, dialect: Dialect, name: str) -> Response:
    """Return a table as a file. The whole file is written before the response starts.

    The response therefore has a Content-Length, which tells a truncated file from a complete one.
    A slow client gets nothing that was read after the revocation of its token.
    """
    content_type, file_name = _TYPES[ending], f"{name}.{ending}"
    if request.method == "HEAD":
        return _attachment((), content_type, file_name)
    file = SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115 closed with the response
    match ending:
        case "csv":
            file.writelines(line.encode() for line in csv_lines(table, dialect))
        case "jsonl":
            file.writelines(json_lines(table))
        case _:
            write_workbook(table, file)
    length = file.seek(0, SEEK_END)
    file.seek(0)
    if length <= _SPOOLED:
        with file:
            return _attachment([file.read()], content_type, file_name)
    response = _attachment(_chunks(file), content_type, file_name)
    response.content_length = length
    # ``call_on_close`` closes the file even if the client stops reading before the end.
    response.call_on_close(file.close)
    return response


def _chunks(file: Any) -> Iterator[bytes]:
    with file:
        while chunk := file.read(65536):
            yield chunk


def _attachment(body: Iterable[bytes], content_type: str, name: str) -> Response:
    if request.method == "HEAD":
        body = ()
    return Response(
        body,
        200,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
