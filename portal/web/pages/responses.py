"""The responses that several pages send: a rendered page and a PDF."""

from typing import Protocol

from flask import Response, make_response, render_template


class Page(Protocol):
    """A view model with the name of its template."""

    @property
    def template(self) -> str: ...


def page_response(page: Page, status: int = 200) -> Response:
    return make_response(render_template(page.template, page=page), status)


def pdf_response(pdf: bytes, name: str) -> Response:
    """Return a PDF for display in the browser, named ``dossie-<name>.pdf``."""
    return Response(
        pdf,
        content_type="application/pdf",
        headers={"Content-Disposition": f'inline; filename="dossie-{name}.pdf"'},
    )


def keep_out_of_indexes(response: Response) -> Response:
    """Forbid search engines to list the response. For ``Blueprint.after_request``."""
    response.headers["X-Robots-Tag"] = "noindex"
    return response
