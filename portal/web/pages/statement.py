"""The operator's page that compares a provider's invoice with the ledger."""

from collections.abc import Mapping
from typing import Final

from flask import request
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import Identity
from portal.gateway.statement_file import COLUMNS, WrongStatement
from portal.presentation.operations.statement import StatementPage, problem_sentence
from portal.web.http.errors import page_error
from portal.web.http.rate_limits import network
from portal.web.http.sent_files import read_form_with_file
from portal.web.routing.operator import operator
from portal.web.routing.responses import page_response
from portal.web.routing.routes import Routes
from portal.web.web import Web
from portal.wording import sanitise_echo

LARGEST_FILE: Final = 2 * 1024 * 1024  # some 40,000 rows
_LONGEST_NAME: Final = 80
NO_FILE: Final = "Escolha o arquivo CSV da fatura."
TOO_LARGE: Final = (
    "O arquivo passa de 2 MiB. Envie um período menor, ou use o comando flask ledger check."
)

routes = Routes("statement", robots="noindex", limited=True)


@routes.handle(SQLAlchemyError)
def _database_away(_: Web, __: SQLAlchemyError) -> BaseResponse:
    return page_error(503, retry_after_s=1)


@routes.get("/operacao/fatura")
@operator
def form(_: Web, __: Identity) -> BaseResponse:
    return page_response(StatementPage())


@routes.post("/operacao/fatura")
@operator
def check(web: Web, _: Identity) -> BaseResponse:
    """Compare the file with the ledger. No csrf_token is needed, because nothing changes."""
    with web.slots.files.slot(network(request.remote_addr)):
        try:
            fields, content = read_form_with_file(request, "arquivo", LARGEST_FILE)
        except RequestEntityTooLarge:
            return page_response(StatementPage(problem=TOO_LARGE), 413)
        columns = _columns(fields)
        if not content:
            return page_response(StatementPage(columns, problem=NO_FILE), 400)
        try:
            comparison = web.operator.check_statement(content, columns)
        except WrongStatement as error:
            return page_response(StatementPage(columns, problem=problem_sentence(error)), 400)
    return page_response(StatementPage(columns, comparison))


def _columns(fields: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names of columns that the operator has typed."""
    typed = {name: fields.get(name, "").strip() for name in COLUMNS}
    return {name: sanitise_echo(text, _LONGEST_NAME) for name, text in typed.items() if text}
