"""The way to the company's provider and back."""

import hmac
import time
from typing import Final

from flask import Response, abort, redirect, request, session, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.access.people import ProviderAway
from portal.access.tokens import RefusedToken
from portal.formats import duration
from portal.oidc.provider import OidcProvider, SignInFailed
from portal.presentation.site.public_pages import SignedOutPage
from portal.web.http.company import Company
from portal.web.http.sessions import local_path
from portal.web.routing.responses import TOO_MANY_TRIES, page_response
from portal.web.routing.routes import Routes
from portal.web.routing.sign_in import entered, sign_in_page
from portal.web.web import Web

STARTED_S: Final = 600.0  # for which a browser may be at the provider
LONGEST_CODE: Final = 4096
_STARTED: Final = "at_provider"
NOT_BEGUN: Final = "Esta entrada não começou neste navegador, ou demorou demais. Comece de novo."
NOT_ALLOWED: Final = "A sua empresa não autorizou a entrada. Comece de novo, ou fale com ela."
FAILED: Final = "A resposta da sua empresa não foi aceita. Comece de novo."
AWAY: Final = "O serviço de entrada da sua empresa não responde. Tente de novo em instantes."

routes = Routes("company", robots="noindex")


@routes.get("/entrar/empresa")
def begin(web: Web) -> BaseResponse:
    """Lead to the provider. A person who has signed in before proves who they are again."""
    _, provider = _at_company(web)
    try:
        start = provider.start(_address(), again=web.sessions.is_at_provider)
    except ProviderAway:
        return sign_in_page(web, status=503, company_problem=AWAY)
    session[_STARTED] = {
        "state": start.state,
        "nonce": start.nonce,
        "verifier": start.verifier,
        "next": local_path(request.args.get("next", "/"))[:500],
        "at": int(time.time()),
    }
    return redirect(start.url, 303)


@routes.get("/entrar/empresa/volta")
def finish(web: Web) -> BaseResponse:
    """Sign the person in who comes back from the provider, or say on a page why not.

    A sign-in is tried once: its state, nonce and verifier leave the session here.
    """
    company, provider = _at_company(web)
    query, started = request.args, session.pop(_STARTED, None)
    if "error" in query:  # some providers leave the state out
        return sign_in_page(web, status=403, company_problem=NOT_ALLOWED)
    is_begun = isinstance(started, dict) and 0 <= time.time() - started["at"] <= STARTED_S
    states = query.getlist("state")
    if (
        not is_begun
        or len(states) != 1
        or not hmac.compare_digest(states[0].encode("utf-8", "replace"), started["state"].encode())
    ):
        return sign_in_page(web, status=400, company_problem=NOT_BEGUN)
    codes = query.getlist("code")
    if len(codes) != 1 or not 0 < len(codes[0]) <= LONGEST_CODE:
        return sign_in_page(web, status=400, company_problem=FAILED)
    wait_s = web.limits.sign_in(request.remote_addr)
    if wait_s is not None:
        return sign_in_page(
            web, status=429, company_problem=TOO_MANY_TRIES.format(duration(wait_s))
        )
    try:
        confirmed = provider.finish(
            codes[0],
            issuer=query.get("iss"),
            nonce=started["nonce"],
            verifier=started["verifier"],
            redirect_uri=_address(),
        )
    except SignInFailed:
        return sign_in_page(web, status=400, company_problem=FAILED)
    except ProviderAway:
        return sign_in_page(web, status=503, company_problem=AWAY)
    web.limits.reset_sign_in(request.remote_addr)
    try:
        person = company.people.enter(confirmed.claims, confirmed.refresh_token)
    except RefusedToken:
        return sign_in_page(web, status=403, turned_away=confirmed.claims.name)
    company.begin(person)
    web.sessions.forget_identity()
    return entered(web, "provider", started["next"])


@routes.get("/entrar/empresa/saida")
def left(web: Web) -> Response:
    """Offer the end of the provider's session, after that of the portal."""
    _, provider = _at_company(web)
    try:
        url = provider.end_session_url(request.url_root)
    except ProviderAway:
        url = None
    return page_response(SignedOutPage(url or ""))


def _at_company(web: Web) -> tuple[Company, OidcProvider]:
    company = web.company
    if company is None or company.provider is None:
        abort(404)
    return company, company.provider


def _address() -> str:
    """Return the address to which the provider leads back, as it is registered there."""
    return request.url_root.rstrip("/") + url_for("company.finish")
