"""Pages that never need a sign-in: search, sign-in, glossary, privacy, check of a notice."""

from flask import Response, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import RefusedToken, UnknownToken
from portal.dossier.lookups import OPERATION_TEXTS
from portal.formats import duration
from portal.phrasebook.api_errors import INVALID_PLATE
from portal.presentation.lists.comparison import MOST_PLATES, comparison_path
from portal.presentation.paths import subject_path
from portal.presentation.site.notice_check import notice_check_page
from portal.presentation.site.public_pages import GlossaryPage, PrivacyPage
from portal.presentation.site.search_page import LONGEST_QUERY
from portal.presentation.site.status_page import DAYS, status_page
from portal.presentation.typed_subject import plates_in
from portal.system.caller_credentials import MAX_LENGTH, is_token
from portal.vehicle.typed import read_typed, visible
from portal.web.http.rate_limits import SIGN_IN_WINDOW_S
from portal.web.http.sessions import MAX_CREDENTIAL_LENGTH
from portal.web.routing.responses import TOO_MANY_TRIES, batch_of, page_response, show_notice
from portal.web.routing.routes import Routes
from portal.web.routing.search import search_response
from portal.web.routing.sign_in import NO_PURPOSE, entered, sign_in_page
from portal.web.web import Web
from portal.wording import grouped

WRONG_TOKEN = "Este token não foi aceito."  # noqa: S105
TOO_LONG = (
    f"Esta credencial é longa demais para uma sessão do navegador, que guarda até "
    f"{grouped(MAX_CREDENTIAL_LENGTH)} caracteres. A API JSON aceita até {grouped(MAX_LENGTH)}."
)
EXPIRED_TOKEN = "Este token foi revogado ou venceu."  # noqa: S105
SEVERAL_PLATES = "{} placas no que você colou: aqui estão lado a lado."

routes = Routes("open")


@routes.get("/")
def search(web: Web) -> Response:
    return search_response(web)


@routes.get("/buscar")
def find(web: Web) -> BaseResponse:
    """Redirect to the vehicle page, or for several plates to a comparison or a batch."""
    query = request.args.get("q", "")[:LONGEST_QUERY]
    typed = read_typed(query)
    if typed.subject is not None and not typed.doubt:
        return redirect(subject_path(typed.subject), 303)
    if batch := batch_of(web, query):
        return batch
    plates = () if typed.doubt else plates_in(query)  # in doubt, the visitor must decide
    if not 0 < len(plates) <= MOST_PLATES:
        return search_response(web, 400, query.strip(), INVALID_PLATE)
    if len(plates) == 1:
        return redirect(subject_path(plates[0]), 303)
    show_notice(SEVERAL_PLATES.format(len(plates)))
    return redirect(comparison_path(plates), 303)


@routes.get("/entrar")
def sign_in_form(web: Web) -> Response:
    return sign_in_page(web)


@routes.post("/entrar")
def sign_in(web: Web) -> BaseResponse:
    token = visible(request.form.get("token", "")).strip()
    purpose, next_path = request.form.get("purpose", ""), request.form.get("next", "/")
    if web.settings.purposes and purpose not in web.settings.purposes:
        return sign_in_page(web, NO_PURPOSE, 400)
    if purpose and not token and web.sessions.signed_in is not None:
        return entered(web, "proxy" if web.sessions.is_by_proxy else "session", next_path, purpose)
    if web.sessions.is_too_long(token):  # no wrong token, so it is not counted as one
        return sign_in_page(web, TOO_LONG, 400)
    wait_s = web.limits.sign_in(request.remote_addr)
    if wait_s is not None:
        response = sign_in_page(web, TOO_MANY_TRIES.format(duration(wait_s)), 429)
        response.headers["Retry-After"] = str(wait_s)
        return response
    try:
        if not is_token(token):
            raise UnknownToken
        web.sessions.sign_in(token)
    except UnknownToken:
        return sign_in_page(web, WRONG_TOKEN, 401)
    except RefusedToken:
        return sign_in_page(web, EXPIRED_TOKEN, 403)
    web.limits.reset_sign_in(request.remote_addr)
    return entered(web, "token", next_path, purpose)


@routes.post("/sair")
def sign_out(web: Web) -> BaseResponse:
    is_at_provider = web.sessions.is_at_provider
    web.sessions.sign_out()
    return redirect(url_for("company.left" if is_at_provider else "open.search"), 303)


@routes.get("/glossario")
def glossary(_: Web) -> Response:
    return page_response(GlossaryPage())


@routes.get("/conferir-multa")
def notice_check(web: Web) -> Response:
    page = notice_check_page(request.args, web.render_context().today)
    return page_response(page, 400 if page.mistyped else 200)


@routes.get("/privacidade")
def privacy(web: Web) -> Response:
    kept, issuer = web.desks.retention, web.desks.issuer
    controller = filter(None, (issuer.name, issuer.document) if issuer else ())
    page = PrivacyPage(
        mode=web.gatekeeper.mode,
        answers={OPERATION_TEXTS[name]: times for name, times in kept.answers.items()},
        rejected_s=kept.rejected_s,
        history_s=kept.history_s,
        declared_s=kept.declared_s,
        session_s=web.session_s,
        tries_s=SIGN_IN_WINDOW_S,
        dossier_s=kept.dossier_s,
        ended_dossier_s=kept.ended_dossier_s,
        batch_s=kept.batch_s,
        draft_s=kept.draft_s,
        counts_requests=web.limits.counts_requests,
        mask_names=web.desks.masks_names,
        trail_days=web.operator.trail.days,
        has_people=web.company is not None,
        controller=", ".join(controller),
        contact=web.settings.privacy_contact or (issuer.contact if issuer else ""),
    )
    return page_response(page)


@routes.get("/situacao")
def status(web: Web) -> Response:
    """Show each source's availability by day, in every mode."""
    today, calls = web.operator.availability(DAYS)
    return page_response(status_page(calls, today))


@routes.get("/robots.txt")
def robots(_: Web) -> Response:
    # Vehicle pages are allowed, because only a crawler that fetches a page sees its noindex header.
    return Response("User-agent: *\nDisallow: /detran/\n", content_type="text/plain")
