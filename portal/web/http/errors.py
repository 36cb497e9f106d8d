"""Error handlers: every error leaves as a page or as the contract's message."""

import logging
from math import ceil
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
from werkzeug.exceptions import HTTPException

from portal.access import HistoryUnavailable, TokensUnavailable
from portal.gateway import Failure
from portal.presentation import error_page
from portal.presentation.failure_texts import ERROR_MESSAGES, ERROR_PAGES, FAULTS

log = logging.getLogger(__name__)

# What may be over by the time somebody tries again.
_MAY_PASS: Final = (429, 500, 503, 504)


def is_json_path(path: str) -> bool:
    """Whether scripts ask here, and get every error as ``{"message": …}``."""
    return path == "/detran" or path.startswith("/detran/")


def message_response(status: int, message: str, retry_after_s: float | None = None) -> Response:
    """The contract's error body, with Retry-After in whole seconds where there is one."""
    response = jsonify(message=message)
    response.status_code = status
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(max(1, ceil(retry_after_s)))
    return response


def failure_response(failure: Failure, pass_through: bool) -> Response:
    """A lookup's failure for a script."""
    fault = FAULTS[failure.kind]
    status = fault.status
    if failure.kind == "busy" and pass_through:
        status = 429
    retry_after_s = failure.retry_after_s
    if status in (429, 503) and retry_after_s is None:
        retry_after_s = 1.0
    return message_response(status, fault.message, retry_after_s if status in (429, 503) else None)


def page_error(status: int, title: str = "", advice: str = "", query: str = "") -> Response:
    """An error as a page; it fetches nothing."""
    usual = ERROR_PAGES.get(status, ERROR_PAGES[500] if status >= 500 else ERROR_PAGES[400])
    page = error_page(
        status,
        title or usual[0],
        advice or usual[1],
        g.request_id,
        query=query,
        retry_path=_same_again() if status in _MAY_PASS else "",
    )
    return make_response(render_template(page.template, page=page), status)


def _same_again() -> str:
    """The address that was asked for, "" where asking again is more than reading."""
    if request.method != "GET" or request.endpoint is None:
        return ""
    path = url_for(request.endpoint, **(request.view_args or {}))
    query = request.query_string.decode("ascii", "ignore")
    return f"{path}?{query}" if query else path


def register_errors(app: Flask) -> None:
    """Every error leaves in its caller's own format."""

    def answer(status: int) -> Response:
        if is_json_path(request.path):
            return message_response(
                status, ERROR_MESSAGES.get(status, "O pedido não foi entendido.")
            )
        return page_error(status)

    def expected(error: HTTPException) -> Response:
        if error.response is not None or error.code is None or error.code < 400:
            return make_response(error.get_response())
        response = answer(error.code)
        for name, value in error.get_headers():
            if name in ("Allow", "Retry-After"):
                response.headers[name] = value
        return response

    def unexpected(error: Exception) -> Response:
        # The class and place alone: a message may carry a plate, a token or a URL.
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "?"
        log.error("unexpected %s at %s", type(error).__name__, place)
        return answer(500)

    def out_of_reach(error: HistoryUnavailable | TokensUnavailable) -> Response:
        log.error("%s: %s", type(error).__name__, error)
        response = answer(503)
        response.headers["Retry-After"] = "1"
        return response

    def unreadable_query() -> None:
        # Scripts' credentials are read from the raw bytes; everything else reads text.
        if not request.query_string.isascii() and not is_json_path(request.path):
            try:
                request.query_string.decode()
            except UnicodeDecodeError:
                abort(400)

    app.before_request(unreadable_query)
    app.register_error_handler(HTTPException, expected)
    for each in (HistoryUnavailable, TokensUnavailable):
        app.register_error_handler(each, out_of_reach)
    app.register_error_handler(Exception, unexpected)
