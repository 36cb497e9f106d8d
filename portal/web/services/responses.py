"""The responses that several pages send, and the numbers that they read from forms and URLs."""

import re
from collections.abc import Callable, Container

from flask import Response, make_response, render_template, request

from portal.web.services.page_cache import Page


def page_response(page: Page, status: int = 200) -> Response:
    return make_response(render_template(page.template, page=page), status)


def pdf_response(pdf: bytes, name: str) -> Response:
    """Return a PDF for display in the browser, named ``dossie-<name>.pdf``."""
    return Response(
        pdf,
        content_type="application/pdf",
        headers={"Content-Disposition": f'inline; filename="dossie-{name}.pdf"'},
    )


def calendar_response(calendar: bytes, name: str, disposition: str) -> Response:
    """Return a calendar file, which phones open in their calendar if it is shown "inline"."""
    return Response(
        b"" if request.method == "HEAD" else calendar,
        content_type="text/calendar; charset=utf-8",
        headers={"Content-Disposition": f'{disposition}; filename="{name}-prazos.ics"'},
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
