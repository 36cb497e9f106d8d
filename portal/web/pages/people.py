"""``/operacao/pessoas``: the people who sign in, the end of their sessions, and hand-overs."""

import logging
from datetime import UTC, datetime
from typing import Final

from flask import abort, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from portal.access.tokens import Identity
from portal.desk.hand_over import UnknownOwner
from portal.presentation.caller_name import shown_caller
from portal.presentation.operations.people import PeoplePage
from portal.web.http.company import Company
from portal.web.observability.logs import FIELDS
from portal.web.routing.operator import by_recent_sign_in, operator, sign_in_problem
from portal.web.routing.responses import page_response, show_notice
from portal.web.routing.routes import Routes
from portal.web.web import Web
from portal.wording import counted, listed

audit: Final = logging.getLogger("portal.audit")
ENDED: Final = "As sessões de {} foram encerradas."
UNKNOWN: Final = "Escolha duas pessoas ou dois tokens diferentes."
NOTHING: Final = "{} não tinha nada guardado."
HANDED: Final = "Agora é de {}: {}."

routes = Routes("people", robots="noindex, nofollow", limited=True)


@routes.get("/operacao/pessoas")
@operator
@by_recent_sign_in
def people(web: Web, _: Identity) -> BaseResponse:
    return _page(web, _company(web))


@routes.post("/operacao/pessoas")
@operator
@by_recent_sign_in
def change(web: Web, identity: Identity) -> BaseResponse:
    """End a person's sessions (``encerrar``: the id), or hand over (``de``, ``para``: names)."""
    company, form = _company(web), request.form
    if problem := sign_in_problem(web):
        return _page(web, company, problem)
    if "encerrar" in form:
        person = company.people.find(form["encerrar"])
        if person is None:
            abort(404)
        company.people.end_sessions(
            person.id, web.operator.doing(identity, "access_changed", person.caller)
        )
        _note("sessions ended", identity, person=person.caller)
        show_notice(ENDED.format(person.name))
        return redirect(url_for("people.people"), 303)
    former, new = form.get("de", ""), form.get("para", "")
    if former == new:
        return _page(web, company, UNKNOWN)
    try:
        number = f"{former} > {new}"
        handed = company.hand_over.between(
            former, new, web.operator.doing(identity, "access_changed", number)
        )
    except UnknownOwner:
        return _page(web, company, UNKNOWN)
    _note("handed over", identity, former=former, to=new, **handed._asdict())
    words = (
        ("lote", "lotes"),
        ("dossiê", "dossiês"),
        ("veículo do histórico", "veículos do histórico"),
        ("linha declarada", "linhas declaradas"),
    )
    parts = [counted(count, *word) for count, word in zip(handed, words, strict=True) if count]
    show_notice(
        HANDED.format(shown_caller(new), listed(parts))
        if parts
        else NOTHING.format(shown_caller(former))
    )
    return redirect(url_for("people.people"), 303)


def _company(web: Web) -> Company:
    if web.company is None:
        abort(404)
    return web.company


def _page(web: Web, company: Company, problem: str = "") -> BaseResponse:
    page = PeoplePage(
        now=datetime.now(UTC),
        people=company.people.listed(),
        owners={name: shown_caller(name) for name in sorted(company.hand_over.owners())},
        asks_token=not web.sessions.is_fresh,
        problem=problem,
    )
    return page_response(page, 400 if problem else 200)


def _note(what: str, identity: Identity, **more: object) -> None:
    audit.info(what, extra={FIELDS: {"by": identity.name, **more}})
