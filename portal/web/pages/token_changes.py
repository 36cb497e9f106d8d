"""Forms of the operator that change a token, and replace it by a new one of the same owner."""

import logging
from functools import partial
from typing import Final

from flask import abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import Identity, Issued, TokenChange, is_token_name
from portal.presentation.operations.tokens import ChangeForm, NewTokenPage
from portal.system.local_time import from_epoch
from portal.web.observability.logs import FIELDS
from portal.web.routing.operator import by_recent_sign_in, operator, sign_in_problem
from portal.web.routing.responses import page_response, show_notice, whole_number
from portal.web.routing.routes import Routes
from portal.web.routing.token_terms import read_terms
from portal.web.web import Web

audit: Final = logging.getLogger("portal.audit")
CHANGE: Final = "/operacao/tokens/<name>/mudar"
REPLACE: Final = "/operacao/tokens/<name>/trocar"
LONGEST_OVERLAP_H: Final = 720
_HOUR_S: Final = 3600.0
CHANGED: Final = "O token {} mudou. Tudo o que é de quem o tem ficou como estava."
WRONG_HOURS: Final = f"Um número de horas de 0 a {LONGEST_OVERLAP_H}."

routes = Routes("token_changes", robots="noindex", limited=True)


@routes.get(CHANGE)
@operator
@by_recent_sign_in
def form(web: Web, _: Identity, name: str) -> BaseResponse:
    return page_response(_form(web, _token(web, name)))


@routes.post(CHANGE)
@operator
@by_recent_sign_in
def change(web: Web, identity: Identity, name: str) -> BaseResponse:
    """Change scopes, limits and, unless it is left blank, the end."""
    token, typed = _token(web, name), request.form
    terms = read_terms(typed, is_priced=not web.operator.unpriced)
    problems = dict(terms.problems)
    if not problems and (problem := sign_in_problem(web)):
        problems["token"] = problem
    if problems:
        page = ChangeForm(
            asks_token=not web.sessions.is_fresh,
            name=name,
            scopes=terms.scopes,
            daily_limit=typed.get("limite", "")[:10],
            monthly_budget=typed.get("orcamento", "")[:20],
            ends_at=None if token.expires_at is None else from_epoch(token.expires_at),
            days=typed.get("dias", "")[:10],
            problems=problems,
        )
        return page_response(page, 400)
    wanted = TokenChange(
        frozenset(terms.scopes), terms.lifetime_s, terms.daily_limit, terms.monthly_budget
    )
    web.operator.tokens.change(name, wanted, web.operator.doing(identity, "access_changed", name))
    _note("token changed", identity, name, scopes=sorted(terms.scopes))
    show_notice(CHANGED.format(name))
    return redirect(url_for("operations.overview", _anchor="tokens"), 303)


@routes.post(REPLACE)
@operator
@by_recent_sign_in
def replace(web: Web, identity: Identity, name: str) -> BaseResponse:
    """Show a new token of the same owner. The former one ends after ``horas``."""
    token = _token(web, name)
    hours = request.form.get("horas", type=partial(whole_number, least=0, most=LONGEST_OVERLAP_H))
    problem = WRONG_HOURS if hours is None else ""
    if not problem and (mistake := sign_in_problem(web)):
        return page_response(_form(web, token, {"token": mistake}), 400)
    if hours is None:
        return page_response(_form(web, token, {"hours": problem}), 400)
    also = web.operator.doing(identity, "rotated", name)
    new_token = web.operator.tokens.rotate(name, hours * _HOUR_S, also)
    if new_token is None:
        abort(404)
    _note("token replaced", identity, name, overlap_h=hours)
    now_is = _token(web, name)
    until = None if now_is.expires_at is None else from_epoch(now_is.expires_at)
    page = NewTokenPage(name, new_token, until, now_is.daily_limit, now_is.monthly_budget)
    return page_response(page)


def _token(web: Web, name: str) -> Issued:
    """Return the unrevoked token of this name that the operator has issued, or abort with 404."""
    if not is_token_name(name):
        abort(404)
    for token in web.operator.tokens.listed():
        if token.name == name and token.revoked_at is None and token.person is None:
            break
    else:
        abort(404)
    return token


def _form(web: Web, token: Issued, problems: dict[str, str] | None = None) -> ChangeForm:
    budget = f"{token.monthly_budget:.2f}".replace(".", ",") if token.monthly_budget else ""
    return ChangeForm(
        asks_token=not web.sessions.is_fresh,
        name=token.name,
        scopes=token.scopes,
        daily_limit=str(token.daily_limit or ""),
        monthly_budget=budget,
        ends_at=None if token.expires_at is None else from_epoch(token.expires_at),
        problems=problems or {},
    )


def _note(what: str, identity: Identity, name: str, **more: object) -> None:
    audit.info(what, extra={FIELDS: {"by": identity.name, "token_name": name, **more}})
