"""The operator's pages: figures, and forms that issue and revoke tokens.

Each page requires the scope ``admin``.
"""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from flask import abort, redirect, request, url_for
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import (
    Identity,
    NameTaken,
    is_token_name,
)
from portal.presentation.exports.tables import csv_lines
from portal.presentation.operations.page import (
    MOST_CALLERS,
    MOST_ENDED,
    MOST_NAMED,
    MOST_TOKENS,
    SOON_DAYS,
    OperationsPage,
    chosen_period,
    usage_table,
)
from portal.presentation.operations.tokens import IssueForm, NewTokenPage, RevokePage
from portal.system.local_time import DAY_S
from portal.web.http.errors import page_error
from portal.web.observability.logs import FIELDS
from portal.web.routing.operator import by_recent_sign_in, operator, sign_in_problem
from portal.web.routing.responses import (
    file_response,
    page_response,
    show_notice,
)
from portal.web.routing.routes import Routes
from portal.web.routing.token_terms import read_terms
from portal.web.web import Web

log = logging.getLogger("portal.audit")

WRONG_NAME: Final = "Só letras sem acento, números e os sinais . _ @ -; comece por letra ou número."
TAKEN_NAME: Final = "Já existe um token com este nome, talvez revogado. Escolha outro."
TEST_SENT: Final = "O teste está a caminho; em instantes a lista de avisos diz se chegou."
NO_ADDRESS: Final = (
    "Nenhum teste foi enviado: falta para onde. Configure SMTP_URL, MAIL_FROM e MAIL_TO, ou "
    "WEBHOOK_URL."
)
REVOKED: Final = "O token {} foi revogado."
NOT_REVOKED: Final = "Nenhum token válido se chama {}."


routes = Routes("operations", robots="noindex", limited=True)
ISSUE: Final = "/operacao/tokens/emitir"
REVOKE: Final = "/operacao/tokens/<name>/revogar"


@routes.handle(SQLAlchemyError)
def _database_away(_: Web, __: SQLAlchemyError) -> BaseResponse:
    return page_error(503, retry_after_s=1)


@routes.get("/operacao")
@operator
def overview(web: Web, _: Identity) -> BaseResponse:
    days = chosen_period(request.args.get("dias", ""))
    usage = web.operator.usage
    today = usage.today()
    first = today - timedelta(days=days - 1)
    after = request.args.get("depois", "")
    after = after if is_token_name(after) else ""
    tokens = web.operator.tokens.overview(
        after, MOST_TOKENS + 1, MOST_ENDED, SOON_DAYS * DAY_S, MOST_NAMED + 1
    )
    shown = (*tokens.valid, *tokens.ended, *tokens.full)
    uses = web.operator.uses()
    budgets = (use for use in uses if use[0].limit.period == "month")
    budget, budget_ends_on = next(budgets, (None, None))
    calls = usage.calls(min(first, today.replace(day=1)))
    page = OperationsPage(
        now=datetime.now(UTC),
        days=days,
        by_day=usage.by_day(calls),
        by_caller=usage.dearest_callers(MOST_CALLERS),
        failures=usage.failures(calls, first),
        breakers=web.operator.breakers,
        origins=usage.origins_today(calls),
        calls_today=usage.calls_today(token.name for token in shown),
        daily_limit=web.operator.daily_limit,
        budget=budget,
        budget_ends_on=budget_ends_on,
        strained=web.operator.strained([use for use, _ in uses]),
        terms=web.operator.gateway.terms,
        store=web.operator.store_size(),
        database_bytes=web.operator.database_bytes(),
        purges=web.operator.last_purge(),
        batches=web.operator.batches_under_way(),
        deliveries=web.operator.deliveries(),
        gets_messages=web.operator.gets_messages,
        tokens=tokens,
        has_people=web.company is not None,
        checkup=web.operator.checkup() if request.args.get("verificar") == "1" else None,
        key_ends_at=web.signing_key.ends_at if web.signing_key else None,
    )
    return page_response(page)


@routes.post("/operacao/avisos/teste")
@operator
def send_test(web: Web, identity: Identity) -> BaseResponse:
    if web.operator.gets_messages:
        web.operator.send_test()
        _note("test message sent", identity, "")
        show_notice(TEST_SENT)
    else:
        show_notice(NO_ADDRESS)
    return redirect(url_for("operations.overview", _anchor="avisos"), 303)


@routes.get("/operacao/uso.csv")
@operator
def usage_file(web: Web, _: Identity) -> BaseResponse:
    days = chosen_period(request.args.get("dias", ""))
    usage = web.operator.usage
    calls = usage.calls(usage.today() - timedelta(days=days - 1))
    table = usage_table(usage.by_day(calls))
    body = "".join(csv_lines(table)).encode()
    return file_response(body, "text/csv; charset=utf-8", f"uso-{days}-dias.csv")


@routes.get(ISSUE)
@operator
@by_recent_sign_in
def issue_token_form(web: Web, _: Identity) -> BaseResponse:
    return page_response(IssueForm(asks_token=not web.sessions.is_fresh))


@routes.post(ISSUE)
@operator
@by_recent_sign_in
def issue_token(web: Web, identity: Identity) -> BaseResponse:
    form = request.form
    name = form.get("nome", "").strip()
    terms = read_terms(form, is_priced=not web.operator.unpriced)
    problems = {"name": WRONG_NAME} if not is_token_name(name) else {}
    problems |= terms.problems
    if not problems and (problem := sign_in_problem(web)):
        problems["token"] = problem
    token = ""
    if not problems:
        try:
            token = web.operator.tokens.issue(
                *(name, frozenset(terms.scopes), terms.lifetime_s),
                *(terms.daily_limit, terms.monthly_budget),
                also=web.operator.doing(identity, "access_changed", name),
            )
        except NameTaken:
            problems["name"] = TAKEN_NAME
    if problems:
        page = IssueForm(
            asks_token=not web.sessions.is_fresh,
            name=name[:80],
            scopes=terms.scopes,
            days=form.get("dias", "")[:10],
            daily_limit=form.get("limite", "")[:10],
            monthly_budget=form.get("orcamento", "")[:20],
            problems=problems,
        )
        return page_response(page, 400)
    shown = {
        "daily_limit": terms.daily_limit,
        "monthly_budget": str(terms.monthly_budget),
        "lifetime_s": terms.lifetime_s,
    }
    _note("token issued", identity, name, scopes=sorted(terms.scopes), **shown)
    # The response is not a redirect, because the portal would have to store the new token until the
    # next request.
    lifetime_s = terms.lifetime_s
    until = None if lifetime_s is None else datetime.now(UTC) + timedelta(seconds=lifetime_s)
    return page_response(NewTokenPage(name, token, until, terms.daily_limit, terms.monthly_budget))


@routes.get(REVOKE)
@operator
@by_recent_sign_in
def revoke_token_form(web: Web, identity: Identity, name: str) -> BaseResponse:
    return _revoke_question(web, identity, name)


@routes.post(REVOKE)
@operator
@by_recent_sign_in
def revoke_token(web: Web, identity: Identity, name: str) -> BaseResponse:
    if not is_token_name(name):
        abort(404)
    if problem := sign_in_problem(web):
        return _revoke_question(web, identity, name, problem)
    if web.operator.tokens.revoke(name, web.operator.doing(identity, "revoked", name)):
        _note("token revoked", identity, name)
        show_notice(REVOKED.format(name))
    else:
        show_notice(f"{NOT_REVOKED.format(name)}\nA lista abaixo mostra o que vale agora.")
    return redirect(url_for("operations.overview", _anchor="tokens"), 303)


def _revoke_question(web: Web, identity: Identity, name: str, problem: str = "") -> BaseResponse:
    if not is_token_name(name):
        abort(404)
    page = RevokePage(
        name=name,
        is_own=name == identity.name,
        asks_token=not web.sessions.is_fresh,
        problem=problem,
    )
    return page_response(page, 400 if problem else 200)


def _note(what: str, identity: Identity, name: str, **more: Any) -> None:
    """Log the operator, the action and the name of the token, but never the token itself."""
    log.info(what, extra={FIELDS: {"by": identity.name, "token_name": name, **more}})
