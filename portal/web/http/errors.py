"""Error handlers, which return HTML pages, or JSON on JSON paths."""

import logging
from math import ceil
from traceback import extract_tb
from typing import Final
from urllib.parse import quote

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
from werkzeug.exceptions import HTTPException

from portal.access.tokens import TokensUnavailable
from portal.formats import duration
from portal.pdf.process import PAGE_WITHIN_S, RenderingInterrupted
from portal.pdf.renderer import PDFUnavailable
from portal.phrasebook.api_errors import API_ERRORS
from portal.phrasebook.failures import ERROR_PAGES
from portal.presentation.site.public_pages import ErrorPage
from portal.system.erasure import BytesKept
from portal.system.error_kind import error_kind

log = logging.getLogger(__name__)

PROBLEM: Final = "application/problem+json"
# The codes of errors that Flask, Werkzeug or ``abort`` raise on JSON paths.
_CODES: Final = {
    404: "path_unknown",
    405: "method_not_allowed",
    413: "body_too_large",
    415: "body_type",
    429: "too_many_requests",
    501: "pdf_unavailable",
    503: "portal_unavailable",
}
# Statuses whose pages may offer a retry link, because the error may be temporary.
_RETRYABLE: Final = (429, 500, 503, 504)
# Database errors after which a retry may succeed. Errors in an SQL statement are not included.
_DATABASE_ERRORS: Final = (
    BytesKept,
    TokensUnavailable,
    OperationalError,
    InterfaceError,
    InternalError,  # for example, the database accepts no writes
    NoConnection,
)
# The longest Retry-After with which an error page still offers a retry link.
_LONGEST_WAIT_S: Final = 5.0
WAIT_FIRST: Final = "Foram muitos pedidos em pouco tempo. Espere {} e tente de novo."

PRINT_INSTEAD: Final = (
    "Gerá-lo demorou demais, ou outros PDFs estavam na frente. Nada foi consultado nem cobrado por "
    "isso. Tente de novo daqui a pouco, ou imprima o dossiê pelo navegador: o conteúdo é o mesmo."
)


def is_json_path(path: str) -> bool:
    return f"{path}/".startswith(("/api/v1/", "/detran/"))


def is_own_path(path: str) -> bool:
    """Return whether a path is one of the portal's own API, not one of the contract."""
    return f"{path}/".startswith("/api/v1/")


def message_response(
    code: str, message: str = "", retry_after_s: float | None = None, status: int = 0
) -> Response:
    """Return the JSON error of a code in API_ERRORS, with another message or status if given.

    The header Retry-After is rounded up to whole seconds. The contract's paths have the message
    alone. Under ``/api/v1``, a request that accepts ``application/problem+json`` gets the error as
    RFC 9457 describes it.
    """
    error = API_ERRORS[code]
    status = status or error.status
    document: dict[str, object] = {"message": message or error.message}
    wait_s = None if retry_after_s is None else max(1, ceil(retry_after_s))
    content_type = "application/json"
    if is_own_path(request.path):
        document |= {"code": code, "request_id": g.get("request_id", "")}
        document |= {} if wait_s is None else {"retry_after_s": wait_s}
        if any(kind == PROBLEM and quality > 0 for kind, quality in request.accept_mimetypes):
            content_type = PROBLEM
            document = {
                "type": f"/api#{code}",
                "title": error.message,
                "status": status,
                "detail": document["message"],
                "instance": quote(request.path),
                **document,
            }
    response = jsonify(document)
    response.status_code = status
    response.content_type = content_type
    if wait_s is not None:
        response.headers["Retry-After"] = str(wait_s)
    return response


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
    can_repeat = request.method == "GET" and request.endpoint is not None
    page = ErrorPage(
        status,
        title or defaults[0],
        advice or defaults[1],
        g.request_id,
        query=query,
        retry_path=this_path() if may_succeed and can_repeat else "",
    )
    response = make_response(render_template(page.template, page=page), status)
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(max(1, ceil(retry_after_s)))
    return response


def this_path(**parts: str) -> str:
    """Return the request's path and query, with other values of the path's ``parts``."""
    assert request.endpoint is not None
    path = url_for(request.endpoint, **(request.view_args or {}) | parts)
    # Append the query unparsed. If ``url_for`` got the parameters of the query as arguments, a
    # parameter such as ``_scheme`` would change the target.
    query = request.query_string.decode("ascii", "ignore")
    return f"{path}?{query}" if query else path


def _pdf_not_ready(error: RenderingInterrupted) -> Response:
    log.warning("a PDF is not ready: %s", error)
    retry_after_s = ceil(PAGE_WITHIN_S)
    if is_json_path(request.path):
        return message_response("pdf_not_ready", retry_after_s=retry_after_s)
    response = page_error(503, API_ERRORS["pdf_not_ready"].message, PRINT_INSTEAD)
    response.headers["Retry-After"] = str(retry_after_s)
    return response


def register_errors(app: Flask) -> None:
    def error_response(status: int, retry_after_s: float | None = None) -> Response:
        if is_json_path(request.path):
            code = _CODES.get(status, "internal_error" if status >= 500 else "request_malformed")
            return message_response(code, retry_after_s=retry_after_s)
        return page_error(status, retry_after_s=retry_after_s)

    def http_exception(error: HTTPException) -> Response:
        if error.response is not None or error.code is None or error.code < 400:
            return make_response(error.get_response())
        wait = getattr(error, "retry_after", None)
        response = error_response(error.code, wait if isinstance(wait, int) else None)
        for name, value in error.get_headers():
            if name == "Allow":
                response.headers[name] = value
        return response

    def unexpected_exception(error: Exception) -> Response:
        # Only class and location are logged, because the message may contain a plate, a token or a
        # URL.
        frame = extract_tb(error.__traceback__)[-1]
        log.error("unexpected %s at %s:%s", type(error).__name__, frame.filename, frame.lineno)
        return error_response(500)

    def database_unavailable(error: Exception) -> Response:
        # An SQL statement may contain the HMAC of a plate, so it is not logged.
        is_sql = isinstance(error, SQLAlchemyError)
        reason = error_kind(error) if is_sql else f"{type(error).__name__}: {error}"
        log.error("the database is away: %s", reason)
        return error_response(503, 1)

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
    app.register_error_handler(PDFUnavailable, lambda _: error_response(501))
    app.register_error_handler(RenderingInterrupted, _pdf_not_ready)
    app.register_error_handler(Exception, unexpected_exception)
