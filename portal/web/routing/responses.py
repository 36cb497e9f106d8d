"""The responses that several pages send, and what they read of forms and URLs."""

import re
from collections.abc import Callable, Container, Iterable
from typing import Final

from flask import (
    Response,
    abort,
    flash,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from werkzeug.wrappers import Response as BaseResponse

from portal.access.idempotency import is_idempotency_key
from portal.batch.typed_list import read_list
from portal.desk.lists import ListRefused
from portal.presentation.list_refusals import refusal_sentence
from portal.presentation.lists.comparison import MOST_PLATES
from portal.presentation.lists.vehicle_list import FILTERS, LONGEST_SEARCH, ORDERS, TAGS, ListChoice
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.web.http.page_cache import Page
from portal.web.http.spending import is_user_initiated
from portal.web.http.streams import paced
from portal.web.web import Web
from portal.wording import sanitise_echo

TOO_MANY_TRIES: Final = "Tentativas demais com tokens errados. Espere {} e tente de novo."
LONGEST_NOTICE: Final = 500  # characters
LONGEST_NAME: Final = 40  # characters of an unknown name that a message repeats
_MOST_NOTICES: Final = 3
_NOTICES: Final = "_flashes"  # Flask's key of the texts that ``flash`` has added


def page_response(page: Page, status: int = 200) -> Response:
    return make_response(render_template(page.template, page=page), status)


def show_notice(text: str) -> None:
    """Show a text on the visitor's next page. A longer text is cut.

    The text is in the session's cookie until then. Proxies refuse a response with long headers
    (nginx: of 4 kB), and browsers drop a cookie of over 4,096 bytes.
    """
    waiting = session.get(_NOTICES, [])
    if len(waiting) >= _MOST_NOTICES:  # no page has shown them
        session[_NOTICES] = waiting[1 - _MOST_NOTICES :]
    flash(text if len(text) <= LONGEST_NOTICE else f"{text[: LONGEST_NOTICE - 1]}…")


def file_response(
    body: bytes | Iterable[bytes], content_type: str, name: str, disposition: str = "attachment"
) -> Response:
    header = f'{disposition}; filename="{name}"'
    return Response(body, content_type=content_type, headers={"Content-Disposition": header})


def streamed_response(
    parts: Iterable[bytes], content_type: str, name: str, close: Callable[[], object]
) -> Response:
    """Return a file that is sent in parts. ``close`` is called even if the client leaves early."""
    response = file_response(paced(parts), content_type, name)
    response.call_on_close(close)
    return response


def pdf_response(pdf: bytes, name: str) -> Response:
    """Return a PDF for display in the browser, named ``dossie-<name>.pdf``."""
    return file_response(pdf, "application/pdf", f"dossie-{name}.pdf", "inline")


def calendar_response(calendar: bytes, name: str, disposition: str) -> Response:
    """Return a calendar file, which phones open in their calendar if it is shown "inline"."""
    body = b"" if request.method == "HEAD" else calendar
    return file_response(body, "text/calendar; charset=utf-8", f"{name}-prazos.ics", disposition)


def batch_of(web: Web, text: str) -> BaseResponse | None:
    """Lead a typed text with more plates than a comparison has to the preview of a batch.

    Nothing is looked up. Returns None for fewer plates, or more than a batch may have.
    """
    listed = read_list(text)
    if not MOST_PLATES < len(listed.subjects) <= web.desks.batch_limit:
        return None
    desk = web.visitor_desk()
    form = redirect(url_for("batches.form", placas=" ".join(text.split())), 303)
    if desk is None or not is_user_initiated():
        return form
    try:
        batch = desk.lists.draft(listed, tuple(desk.prices()))
    except ListRefused as refused:
        show_notice(refusal_sentence(refused))
        return form
    return redirect(url_for("batches.batch", batch=batch), 303)


def ticked_lookups() -> tuple[LookupName, ...]:
    """Return the lookups that a form names, in the order of LOOKUPS. Aborts with 400."""
    names = request.form.getlist("ask")
    if any(name not in LOOKUPS for name in names):
        abort(400)
    return tuple(name for name in LOOKUPS if name in names)


def form_key() -> str | None:
    """Return the idempotency key of a form, or None without one. Aborts with 400."""
    key = request.headers.get("Idempotency-Key", request.values.get("idempotency_key"))
    if key is not None and not is_idempotency_key(key):
        abort(400)
    return key


def list_choice() -> ListChoice:
    asked = request.args
    return ListChoice(
        only=asked.get("so", "", type=one_of(FILTERS)),
        tag=asked.get("etiqueta", "", type=one_of(TAGS)),
        order=asked.get("ordem", "", type=one_of(ORDERS)),
        search=sanitise_echo(asked.get("busca", "").strip(), LONGEST_SEARCH),
        number=asked.get("pagina", 1, type=whole_number),
        noted=asked.get("nota", "")[:11],
    )


def one_of(keys: Container[str]) -> Callable[[str], str]:
    """Return a function that returns a typed key. It raises ValueError for another text."""

    def key(text: str) -> str:
        if text not in keys:
            raise ValueError(text)
        return text

    return key


def whole_number(text: str, least: int = 1, most: int = 9999) -> int:
    """Return a typed number. Raises ValueError unless it is from ``least`` to ``most``."""
    digits = text.strip()
    if not re.fullmatch(r"[0-9]{1,10}", digits, re.ASCII) or not least <= int(digits) <= most:
        raise ValueError(text)
    return int(digits)
