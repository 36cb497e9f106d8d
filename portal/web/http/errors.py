"""Error handlers, which return HTML pages, or ``{"message": …}`` on JSON paths."""

import logging
from math import ceil
from traceback import extract_tb
from typing import Final

from flask import (
    Flask,
    Response,
    abort,
    g,
    jsonify,
    make_response,
    render_template,
    request,
    url_for,
)
from sqlalchemy.exc import InterfaceError, InternalError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection
from werkzeug.exceptions import HTTPException, TooManyRequests

from portal.access.history import HistoryUnavailable
from portal.access.tokens import TokensUnavailable
from portal.dossiers.archive import DossiersUnavailable
from portal.formats import duration
from portal.gateway.lookup import Failure
from portal.pdf import PAGE_WITHIN_S, RenderingInterrupted
from portal.presentation.failure_texts import ERROR_MESSAGES, ERROR_PAGES, FAULTS
from portal.presentation.site.public_pages import ErrorPage
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

# Statuses whose pages may offer a retry link, because the error may be temporary.
_RETRYABLE: Final = (429, 500, 503, 504)
# Database errors after which a retry may succeed. Errors in an SQL statement are not included.
_DATABASE_ERRORS: Final = (
    HistoryUnavailable,
    TokensUnavailable,
    DossiersUnavailable,
    OperationalError,
    InterfaceError,
    InternalError,  # for example, the database accepts no writes
    NoConnection,
)
# The longest Retry-After with which an error page still offers a retry link.
_LONGEST_WAIT_S: Final = 5.0
WAIT_FIRST: Final = "Foram muitos pedidos em pouco tempo. Espere {} e tente de novo."

PDF_NOT_READY: Final = "O PDF não ficou pronto a tempo."
PRINT_INSTEAD: Final = (
    "Gerá-lo demorou demais, ou outros PDFs estavam na frente. Nada foi consultado nem cobrado por "
    "isso. Tente de novo daqui a pouco, ou imprima o dossiê pelo navegador: o conteúdo é o mesmo."
)


def is_json_path(path: str) -> bool:
    return path in ("/detran", "/api/v1") or path.startswith(("/detran/", "/api/v1/"))


def message_response(
    status: int, message: str, retry_after_s: float | None = None, code: str | None = None
) -> Response:
    """Return a JSON error. Its header Retry-After is rounded up to whole seconds."""
    response = jsonify({"message": message} | ({} if code is None else {"code": code}))
    response.status_code = status
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(max(1, ceil(retry_after_s)))
    return response


def failure_response(failure: Failure, pass_through: bool) -> Response:
    """Return the JSON response for a failed lookup."""
    fault = FAULTS[failure.kind]
    status = fault.status
    if failure.kind == "busy" and pass_through:
        status = 429
    retry_after_s = failure.retry_after_s
    if status in (429, 503) and retry_after_s is None:
        retry_after_s = 1.0
    return message_response(status, fault.message, retry_after_s if status in (429, 503) else None)


def page_error(
    status: int,
    title: str = "",
    advice: str = "",
    query: str = "",
    retry_after_s: float | None = None,
) -> Response:
    """Return an error page.

    After a GET, the page offers a retry link if ``status`` is in _RETRYABLE and ``retry_after_s``
    is at most _LONGEST_WAIT_S. If ``status`` is 429 and ``advice`` is empty, the page states how
    long to wait.
    """
    defaults = ERROR_PAGES.get(status, ERROR_PAGES[500] if status >= 500 else ERROR_PAGES[400])
    if retry_after_s is not None and status == 429 and not advice:
        advice = WAIT_FIRST.format(duration(ceil(retry_after_s)))
    may_succeed = status in _RETRYABLE and (retry_after_s or 0) <= _LONGEST_WAIT_S
    page = ErrorPage(
        status,
        title or defaults[0],
        advice or defaults[1],
        g.request_id,
        query=query,
        retry_path=_retry_path() if may_succeed else "",
    )
    return make_response(render_template(page.template, page=page), status)


def _retry_path() -> str:
    return this_path() if request.method == "GET" and request.endpoint is not None else ""


def this_path(**parts: str) -> str:
    """Return the request's path and query, with other values of the path's ``parts``."""
    assert request.endpoint is not None
    path = url_for(request.endpoint, **(request.view_args or {}) | parts)
    # Append the query unparsed. If ``url_for`` got the parameters of the query as arguments, a
    # parameter such as ``_scheme`` would change the target.
    query = request.query_string.decode("ascii", "ignore")
    return f"{path}?{query}" if query else path


def _unavailability(error: Exception) -> str:
    """Describe a database error without the SQL statement.

    The statement may contain the HMAC of a plate.
    """
    if isinstance(error, SQLAlchemyError):
        return error_kind(error)
    return f"{type(error).__name__}: {error}"


def _pdf_not_ready(error: RenderingInterrupted) -> Response:
    log.warning("a PDF is not ready: %s", error)
    retry_after_s = ceil(PAGE_WITHIN_S)
    if is_json_path(request.path):
        return message_response(503, PDF_NOT_READY, retry_after_s)
    response = page_error(503, PDF_NOT_READY, PRINT_INSTEAD)
    response.headers["Retry-After"] = str(retry_after_s)
    return response


def register_errors(app: Flask) -> None:
    def error_response(status: int, retry_after_s: float | None = None) -> Response:
        if is_json_path(request.path):
            return message_response(
                status, ERROR_MESSAGES.get(status, "O pedido não foi entendido.")
            )
        return page_error(status, retry_after_s=retry_after_s)

    def http_exception(error: HTTPException) -> Response:
        if error.response is not None or error.code is None or error.code < 400:
            return make_response(error.get_response())
        wait = error.retry_after if isinstance(error, TooManyRequests) else None
        response = error_response(error.code, wait if isinstance(wait, int) else None)
        for name, value in error.get_headers():
            if name in ("Allow", "Retry-After"):
                response.headers[name] = value
        return response

    def unexpected_exception(error: Exception) -> Response:
        # Only class and location are logged, because the message may contain a plate, a token or a
        # URL.
        frame = extract_tb(error.__traceback__)[-1]
        log.error("unexpected %s at %s:%s", type(error).__name__, frame.filename, frame.lineno)
        return error_response(500)

    def database_unavailable(error: Exception) -> Response:
        log.error("the database is away: %s", _unavailability(error))
        response = error_response(503)
        response.headers["Retry-After"] = "1"
        return response

    def reject_undecodable_query() -> None:
        # The JSON API is exempt. It decodes credentials in the query as Latin-1, which accepts all
        # bytes, and answers an invalid credential with 401.
        if not request.query_string.isascii() and not is_json_path(request.path):
            try:
                request.query_string.decode()
            except UnicodeDecodeError:
                abort(400)

    app.before_request(reject_undecodable_query)
    app.register_error_handler(HTTPException, http_exception)
    for error_class in _DATABASE_ERRORS:
        app.register_error_handler(error_class, database_unavailable)
    app.register_error_handler(RenderingInterrupted, _pdf_not_ready)
    app.register_error_handler(Exception, unexpected_exception)
