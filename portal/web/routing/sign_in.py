"""The sign-in page, and what follows every sign-in."""

import logging
from typing import Final

from flask import Response, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from portal.presentation.caller_name import shown_caller
from portal.presentation.site.public_pages import SignInPage
from portal.web.http.sessions import local_path
from portal.web.observability.logs import FIELDS
from portal.web.routing.responses import page_response
from portal.web.web import Web

audit: Final = logging.getLogger("portal.audit")
NO_PURPOSE: Final = "Escolha para que você vai consultar."


def sign_in_page(
    web: Web,
    problem: str = "",
    status: int = 200,
    *,
    turned_away: str = "",
    company_problem: str = "",
) -> Response:
    """Return the sign-in page. ``turned_away`` is the name of a person who has no role."""
    identity, company = web.sessions.signed_in_if_known, web.company
    if company is not None and identity is None and company.named is not None:
        turned_away = turned_away or company.named.name
    page = SignInPage(
        pass_through=web.sessions.is_pass_through,
        next_path=local_path(request.values.get("next", "/")),
        problem=problem,
        contact=web.contact,
        by_company=company is not None and company.provider is not None,
        turned_away=turned_away,
        company_problem=company_problem,
        signed_in=None if identity is None else shown_caller(identity.name),
        purposes=web.settings.purposes,
        picked=request.form.get("purpose", ""),
    )
    return page_response(page, status)


def entered(web: Web, way: str, next_path: str, purpose: str = "") -> BaseResponse:
    """Note a sign-in with its purpose, and lead to the page that asked for it.

    ``way`` is "token", "provider" or "proxy". A person of the provider picks the purpose later.
    """
    identity = web.sessions.signed_in
    if purpose:
        web.sessions.pick(purpose)
    name = "" if identity is None else identity.name
    audit.info("signed in", extra={FIELDS: {"by": name, "way": way, "purpose": purpose}})
    return redirect(local_path(next_path), 303)
