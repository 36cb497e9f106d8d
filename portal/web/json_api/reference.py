"""The API reference page. Its examples are answers of the sandbox, which imitates the upstream."""

from datetime import date
from functools import lru_cache

from flask import Response, request

from portal.access.gatekeeper import DEMO_TOKEN
from portal.gateway.operations import OPERATIONS
from portal.presentation.site.api_answers import reference_answers
from portal.presentation.site.api_reference import ApiPage
from portal.web.json_api.openapi import resolved_document
from portal.web.services.responses import page_response
from portal.web.services.routes import Routes
from portal.web.services.web import Web

TOKEN_PLACEHOLDER = "SEU_TOKEN"  # noqa: S105

routes = Routes("reference")


@routes.get("/api")
def reference(web: Web) -> Response:
    base_url = request.url_root.rstrip("/")
    return page_response(_page(web, base_url, web.render_context().today))


@lru_cache(maxsize=1)
def _page(web: Web, base_url: str, _: date) -> ApiPage:
    """Build the page. The examples contain dates relative to today, so it is valid for a day."""
    document = resolved_document()
    return ApiPage(
        base_url=base_url,
        token=DEMO_TOKEN if web.sessions.is_demo else TOKEN_PLACEHOLDER,
        document=document,
        answers=reference_answers(document, web.ask_sandbox, web.render_context()),
        terms={name: web.gateway.terms(name) for name in OPERATIONS},
        batch_limit=web.batch_limit,
        allows_origins=bool(web.cors_origins),
        samples=web.samples,
    )
