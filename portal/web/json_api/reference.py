"""The API reference, as a page and as Markdown. Its examples are answers of the sandbox.

The Markdown is made of the page, so that both say the same.
"""

from datetime import date
from functools import lru_cache
from typing import Final

from flask import Response, make_response, render_template, request

from portal.access.tokens import DEMO_TOKEN
from portal.presentation.site.api_answers import reference_answers
from portal.presentation.site.api_reference import ApiPage
from portal.presentation.site.markdown import markdown_of
from portal.presentation.site.public_pages import SamplesPage
from portal.web.http.page_cache import PageCache
from portal.web.json_api.openapi import resolved_document
from portal.web.routing.responses import page_response
from portal.web.routing.routes import Routes
from portal.web.web import Web

TOKEN_PLACEHOLDER = "SEU_TOKEN"  # noqa: S105
# Stands for the portal's address in the Markdown, which takes half a second to make.
_ADDRESS: Final = "https://portal.invalid"

routes = Routes("reference")
_rendered = PageCache(most=4)  # for a few hosts and visitors; the page has no vehicle's data


@routes.get("/api")
def reference(web: Web) -> Response:
    html = _rendered.render(web.site(), _page, web, _base_url(), web.render_context().today)
    return make_response(html)


@routes.get("/api.md")
def markdown(web: Web) -> Response:
    text = _markdown(web, web.render_context().today).replace(_ADDRESS, _base_url())
    return Response(text, content_type="text/markdown; charset=utf-8")  # RFC 7763


@routes.get("/api/ensaio")
def samples(web: Web) -> Response:
    return page_response(SamplesPage(web.examples.samples()))


@routes.get("/llms.txt")
def llms(web: Web) -> Response:
    terms = web.desks.terms
    text = render_template("llms.txt", base_url=_base_url(), terms=terms)
    return Response(text, content_type="text/plain; charset=utf-8")


def _base_url() -> str:
    return request.url_root.rstrip("/")


@lru_cache(maxsize=1)
def _markdown(web: Web, today: date) -> str:
    page = _page(web, _ADDRESS, today)
    html = render_template(page.template, page=page)
    return markdown_of(html, ".reference__main", "nav, button, fieldset, .example__tabs")


@lru_cache(maxsize=2)
def _page(web: Web, base_url: str, _: date) -> ApiPage:
    """Build the page. The examples contain dates relative to today, so it is valid for a day."""
    document, now = resolved_document(), web.render_context().now
    return ApiPage(
        base_url=base_url,
        token=DEMO_TOKEN if web.sessions.is_demo else TOKEN_PLACEHOLDER,
        document=document,
        answers=reference_answers(
            document,
            web.examples.body,
            lambda plate, panels: web.desks.example(plate, panels, now),
            now,
        ),
        terms=web.desks.terms,
        batch_limit=web.desks.batch_limit,
        allows_origins=bool(web.settings.cors_origins),
    )
