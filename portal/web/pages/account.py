"""``/conta``: a caller's own access; for a person also own tokens and sessions."""

import logging
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from flask import abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import NameTaken, is_token_name
from portal.desk.desk import Desk
from portal.desk.own_tokens import MOST_TOKENS, TooManyTokens
from portal.presentation.caller_name import shown_caller
from portal.presentation.site.account import (
    AccountPage,
    OwnTokenForm,
    OwnTokenPage,
    PersonAccount,
)
from portal.system.local_time import DAY_S, from_epoch
from portal.web.http.company import Company
from portal.web.observability.logs import FIELDS
from portal.web.routing.operator import by_recent_sign_in
from portal.web.routing.responses import page_response, show_notice, whole_number
from portal.web.routing.routes import Routes, at_desk
from portal.web.routing.token_terms import MOST_CALLS
from portal.web.web import Web

audit: Final = logging.getLogger("portal.audit")
LONGEST_DAYS: Final = 366
WRONG_NAME: Final = "Só letras sem acento, números e os sinais . _ @ -; comece por letra ou número."
TAKEN_NAME: Final = "Já existe um token com este nome. Escolha outro."
WRONG_DAYS: Final = f"Um número de dias de 1 a {LONGEST_DAYS}."
WRONG_LIMIT: Final = "Um número de chamadas por dia, de 1 até o seu próprio limite."
NO_SCOPE: Final = "Escolha ao menos uma permissão, entre as suas."
TOO_MANY: Final = f"São no máximo {MOST_TOKENS} tokens por pessoa. Revogue um."
REVOKED: Final = "O token {} foi revogado."
NOT_REVOKED: Final = "Nenhum token seu que vale se chama assim."
ENDED: Final = (
    "Suas sessões foram encerradas\nSeus tokens voltam a valer quando você entrar de novo."
)
ENDED_ONE: Final = "A sessão foi encerrada.\nAquele navegador precisa entrar de novo."
ENDED_HERE: Final = "Você saiu deste navegador."
NO_SESSION: Final = "Essa sessão já tinha acabado."

routes = Routes("account", robots="noindex, nofollow", limited=True)


@routes.get("/conta")
@at_desk
def account(web: Web, desk: Desk) -> BaseResponse:
    return _page(web, desk, OwnTokenForm())


@routes.post("/conta/tokens")
@at_desk
@by_recent_sign_in
def issue(web: Web, desk: Desk) -> BaseResponse:
    """Issue an own token for a script, with at most the person's scopes and limits."""
    company, form = _company(web, desk), request.form
    name, most = form.get("nome", "").strip(), desk.identity.least_daily_limit or MOST_CALLS
    scopes = form.getlist("permissao")
    days = form.get("dias", type=partial(whole_number, most=LONGEST_DAYS))
    limit = form.get("limite", type=partial(whole_number, most=most))
    fits = company.own_tokens.fits(desk.identity, scopes, limit or 1)
    checks = {
        "name": "" if is_token_name(name) else WRONG_NAME,
        "scopes": "" if fits else NO_SCOPE,
        "days": WRONG_DAYS if days is None else "",
        "limit": WRONG_LIMIT if limit is None else "",
    }
    problems = {part: text for part, text in checks.items() if text}
    if not problems and days is not None and limit is not None:
        now, lifetime_s = time.time(), float(days * DAY_S)
        try:
            also = desk.witness.doing("access_changed", number=name)
            token = company.own_tokens.issue(
                desk.identity, name, scopes, lifetime_s, limit, now, also
            )
        except NameTaken:
            problems["name"] = TAKEN_NAME
        except TooManyTokens:
            problems["name"] = TOO_MANY
        else:
            _note("own token issued", desk, token_name=name, scopes=sorted(scopes))
            until = datetime.now(UTC) + timedelta(seconds=lifetime_s)
            return page_response(OwnTokenPage(name, token, until))
    typed = OwnTokenForm(
        name[:80], scopes, form.get("dias", "")[:10], form.get("limite", "")[:10], problems
    )
    return _page(web, desk, typed, 400)


@routes.post("/conta/tokens/revogar")
@at_desk
def revoke(web: Web, desk: Desk) -> BaseResponse:
    company, name = _company(web, desk), request.form.get("nome", "")
    if company.own_tokens.revoke(desk.identity, name, desk.witness.doing("revoked", number=name)):
        _note("own token revoked", desk, token_name=name)
        show_notice(REVOKED.format(name))
    else:
        show_notice(f"{NOT_REVOKED}\nA lista abaixo mostra os seus.")
    return redirect(url_for("account.account"), 303)


@routes.post("/conta/sessoes")
@at_desk
def end_sessions(web: Web, desk: Desk) -> BaseResponse:
    """End one session of the person (``sessao``: its id), or all, this one too."""
    company = _company(web, desk)
    if "sessao" in request.form:
        return _end_session(web, desk, company, request.form["sessao"])
    company.people.end_sessions(
        desk.identity.owner, desk.witness.doing("access_changed", number=desk.identity.name)
    )
    _note("own sessions ended", desk)
    web.sessions.sign_out()
    show_notice(ENDED)
    return redirect(url_for("open.sign_in_form"), 303)


def _end_session(web: Web, desk: Desk, company: Company, session: str) -> BaseResponse:
    name = desk.identity.name
    also = desk.witness.doing("access_changed", number=name)
    if not company.people.end_session(desk.identity.owner, session, also):
        show_notice(NO_SESSION)
        return redirect(url_for("account.account"), 303)
    _note("own session ended", desk)
    if session == company.session_id:
        web.sessions.sign_out()
        show_notice(ENDED_HERE)
        return redirect(url_for("open.sign_in_form"), 303)
    show_notice(ENDED_ONE)
    return redirect(url_for("account.account"), 303)


def _company(web: Web, desk: Desk) -> Company:
    """Return the company of a person. A caller with a token has no own tokens and sessions."""
    if web.company is None or not desk.identity.is_person:
        abort(404)
    return web.company


def _page(web: Web, desk: Desk, form: OwnTokenForm, status: int = 200) -> BaseResponse:
    identity, company = desk.identity, web.company
    month, used = desk.month()
    ends_at = web.gatekeeper.expires_at(identity)
    person = None
    if company is not None and identity.is_person:
        known = company.people.find(identity.owner)
        person = PersonAccount(
            tokens=company.own_tokens.of(identity),
            entered_at=None if known is None else from_epoch(known.entered_at),
            seen_at=None if known is None else from_epoch(known.seen_at),
            ends_at_provider=web.sessions.is_by_proxy,
            sessions=() if known is None else known.sessions,
            session=company.session_id,
            form=form,
        )
    page = AccountPage(
        name=shown_caller(identity.name),
        scopes=identity.scopes,
        now=datetime.now(UTC),
        month=month,
        used=used,
        uses=desk.uses(),
        token_ends_at=None if ends_at is None else from_epoch(ends_at),
        person=person,
    )
    return page_response(page, status)


def _note(what: str, desk: Desk, **more: object) -> None:
    audit.info(what, extra={FIELDS: {"by": desk.identity.name, **more}})
