"""The operator's pages: figures, and forms that issue and revoke tokens.

Each page requires the scope ``admin``.
"""

import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from flask import (
    Blueprint,
    abort,
    flash,
    redirect,
    request,
    url_for,
)
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import ServiceUnavailable
from werkzeug.wrappers import Response as BaseResponse

from portal.access import SCOPES, Identity, NameTaken, Tokens, is_token_name
from portal.batch import BatchUnderWay
from portal.gateway import OPERATIONS, Gateway, StoreSize, UsageLog
from portal.presentation.operations.page import (
    OperationsPage,
    OriginBreaker,
    chosen_period,
)
from portal.presentation.operations.tokens import IssueForm, NewTokenPage, RevokePage
from portal.web.http.rate_limits import RateLimits, seconds
from portal.web.observability.json_logs import FIELDS
from portal.web.pages.public import TOO_MANY_TRIES
from portal.web.pages.responses import keep_out_of_indexes, page_response
from portal.web.pages.sessions import Sessions

log = logging.getLogger("portal.audit")

_MOST_DAYS: Final = 3650
_MOST_CALLS: Final = 2**31 - 1
_NUMBER: Final = re.compile(r"[0-9]{1,10}", re.ASCII)
_DAY_S: Final = 86400
ENTER_OWN: Final = "Este não é o token com que você entrou."
WRONG_NAME: Final = "Só letras sem acento, números e os sinais . _ @ -; comece por letra ou número."
TAKEN_NAME: Final = "Já existe um token com este nome, talvez revogado. Escolha outro."
NO_SCOPE: Final = "Escolha ao menos uma permissão."
WRONG_DAYS: Final = f"Um número de dias de 1 a {_MOST_DAYS}, ou nada."
WRONG_LIMIT: Final = "Um número de chamadas por dia, ou nada."
REVOKED: Final = "O token {} foi revogado."
NOT_REVOKED: Final = "Nenhum token válido se chama {}."


@dataclass(frozen=True, slots=True)
class OperationsSources:
    """The sources of the figures on ``/operacao``. Reading them may raise SQLAlchemyError."""

    usage: UsageLog
    tokens: Tokens
    breakers: Sequence[OriginBreaker]
    daily_limit: int
    store_size: Callable[[], StoreSize | None]
    database_bytes: Callable[[], int | None]
    purges: Callable[[], int]
    batches: Callable[[], Sequence[BatchUnderWay]]


class OperationsPages:
    """The page ``/operacao`` (operation), and the pages that issue and revoke tokens.

    Issuing or revoking a token requires a sign-in within the last FRESH_SIGN_IN_S seconds, because
    another person may use a browser that the operator has left open.
    """

    def __init__(
        self,
        sources: OperationsSources,
        gateway: Gateway,
        sessions: Sessions,
        limits: RateLimits,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._sources = sources
        self._gateway = gateway
        self._sessions = sessions
        self._limits = limits
        self._clock = clock

    def blueprint(self) -> Blueprint:
        pages = Blueprint("operations", __name__)
        issue, revoke = "/operacao/tokens/emitir", "/operacao/tokens/<name>/revogar"
        for path, name, view, method in (
            ("/operacao", "overview", self.overview, "GET"),
            (issue, "issue_form", self.issue_form, "GET"),
            (issue, "issue", self.issue, "POST"),
            (revoke, "revoke_form", self.revoke_form, "GET"),
            (revoke, "revoke", self.revoke, "POST"),
        ):
            pages.add_url_rule(path, name, self._require_operator(view), methods=[method])
        pages.after_request(keep_out_of_indexes)
        return pages

    def _require_operator(self, view: Callable[..., BaseResponse]) -> Callable[..., BaseResponse]:
        """Return a view that admits only operators and passes the identity to ``view``.

        In pass-through mode, the returned view refuses all visitors, because upstream credentials
        have no scope ``admin``.
        """

        def guarded(**parts: str) -> BaseResponse:
            if self._sessions.is_pass_through:
                abort(403)
            identity = self._sessions.signed_in
            if identity is None:
                return redirect(url_for("open.sign_in", next="/operacao"), 303)
            if not identity.has_scope("admin"):
                abort(403)
            try:
                return view(identity, **parts)
            except SQLAlchemyError:
                raise ServiceUnavailable(retry_after=1) from None

        return guarded

    def overview(self, identity: Identity) -> BaseResponse:  # noqa: ARG002
        sources, usage = self._sources, self._sources.usage
        days = chosen_period(request.args.get("dias", ""))
        first = usage.today() - timedelta(days=days - 1)
        page = OperationsPage(
            now=datetime.fromtimestamp(self._clock(), UTC),
            days=days,
            by_day=usage.by_day(first),
            by_caller=usage.by_caller(first),
            failures=usage.failures(first),
            breakers=sources.breakers,
            origins=usage.origins_today(),
            calls_today=usage.calls_today(),
            daily_limit=sources.daily_limit,
            terms={name: self._gateway.terms(name) for name in OPERATIONS},
            store=sources.store_size(),
            database_bytes=sources.database_bytes(),
            purges=sources.purges(),
            batches=sources.batches(),
            tokens=sources.tokens.listed(),
        )
        return page_response(page)

    def issue_form(self, identity: Identity) -> BaseResponse:  # noqa: ARG002
        return page_response(IssueForm(asks_token=not self._sessions.is_fresh))

    def issue(self, identity: Identity) -> BaseResponse:
        typed = _typed_token()
        problems = dict(typed.problems)
        if not problems and (problem := self._sign_in_problem()):
            problems["token"] = problem
        token = ""
        if not problems:
            try:
                token = self._sources.tokens.issue(
                    typed.name, frozenset(typed.scopes), typed.lifetime_s, typed.daily_limit
                )
            except NameTaken:
                problems["name"] = TAKEN_NAME
        if problems:
            form = IssueForm(
                asks_token=not self._sessions.is_fresh,
                name=typed.name[:80],
                scopes=typed.scopes,
                days=request.form.get("dias", "")[:10],
                daily_limit=request.form.get("limite", "")[:10],
                problems=problems,
            )
            return page_response(form, 400)
        _note(
            "token issued",
            identity,
            typed.name,
            scopes=sorted(typed.scopes),
            daily_limit=typed.daily_limit,
            lifetime_s=typed.lifetime_s,
        )
        # The response is not a redirect, because the portal would have to store the new token until
        # the next request.
        return page_response(NewTokenPage(typed.name, token))

    def revoke_form(self, identity: Identity, name: str) -> BaseResponse:
        if not is_token_name(name):
            abort(404)
        return self._revoke_question(identity, name)

    def revoke(self, identity: Identity, name: str) -> BaseResponse:
        if not is_token_name(name):
            abort(404)
        if problem := self._sign_in_problem():
            return self._revoke_question(identity, name, problem)
        if self._sources.tokens.revoke(name):
            _note("token revoked", identity, name)
            flash(REVOKED.format(name))
        else:
            flash(f"{NOT_REVOKED.format(name)}\nA lista abaixo mostra o que vale agora.")
        return redirect(url_for("operations.overview") + "#tokens", 303)

    def _revoke_question(self, identity: Identity, name: str, problem: str = "") -> BaseResponse:
        page = RevokePage(
            name=name,
            is_own=name == identity.name,
            asks_token=not self._sessions.is_fresh,
            problem=problem,
        )
        return page_response(page, 400 if problem else 200)

    def _sign_in_problem(self) -> str:
        """Return an error message if the sign-in is too old and cannot be renewed, else "".

        A form asks for the session's token if the sign-in is too old. The correct token renews the
        sign-in.
        """
        if self._sessions.is_fresh:
            return ""
        if (wait_s := self._limits.sign_in(request.remote_addr)) is not None:
            return TOO_MANY_TRIES.format(seconds(wait_s))
        if not self._sessions.enter_again(request.form.get("token", "").strip()):
            return ENTER_OWN
        self._limits.reset_sign_in(request.remote_addr)
        return ""


@dataclass(frozen=True, slots=True)
class _TypedToken:
    name: str
    scopes: tuple[str, ...]
    lifetime_s: float | None
    daily_limit: int
    problems: Mapping[str, str]


def _typed_token() -> _TypedToken:
    name = request.form.get("nome", "").strip()
    scopes = tuple(scope for scope in request.form.getlist("permissao") if scope in SCOPES)
    days = _number(request.form.get("dias", ""), 1, _MOST_DAYS)
    limit = _number(request.form.get("limite", ""), 0, _MOST_CALLS)
    checks = {
        "name": "" if is_token_name(name) else WRONG_NAME,
        "scopes": "" if scopes else NO_SCOPE,
        "days": WRONG_DAYS if days == -1 else "",
        "limit": WRONG_LIMIT if limit == -1 else "",
    }
    problems = {field: text for field, text in checks.items() if text}
    lifetime_s = float(days * _DAY_S) if days is not None else None
    return _TypedToken(name, scopes, lifetime_s, limit or 0, problems)


def _number(text: str, least: int, most: int) -> int | None:
    """Return a typed number, None if the field is empty, or -1 if the text is invalid."""
    text = text.strip()
    if not text:
        return None
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        return -1
    return int(text)


def _note(what: str, identity: Identity, name: str, **more: Any) -> None:
    """Log the operator, the action and the name of the token, but never the token itself."""
    log.info(what, extra={FIELDS: {"by": identity.name, "token_name": name, **more}})
