"""Issued dossiers: the pages for the owner, and those behind a shared link."""

import logging
import re
from collections.abc import Callable
from functools import wraps
from typing import Final

import msgspec
from flask import (
    abort,
    get_template_attribute,
    make_response,
    redirect,
    request,
    url_for,
)
from werkzeug.wrappers import Response as BaseResponse

from portal.access.idempotency import KeyReused
from portal.batch.typed_list import read_strings
from portal.desk.desk import Desk
from portal.desk.issuing import MOST_AT_ONCE, Issuable, NothingToIssue
from portal.issued.identifiers import display_number, parse_number
from portal.issued.model import IssuedDossier
from portal.phrasebook.issuing import (
    ISSUE_AGAIN,
    KEY_REUSED,
    NO_ANSWER,
    NOTHING_TO_ISSUE,
    PURGED,
)
from portal.presentation.issued.moment_form import moment_choices
from portal.presentation.issued.pages import (
    PAGE_SIZE,
    EndedDossierPage,
    IssuedDossierPage,
    IssuedListPage,
)
from portal.presentation.issued.summary import issued_summary, since_issued, summary_of
from portal.vehicle.plate import Plate, Renavam
from portal.web.http.assets import UnknownAsset
from portal.web.http.errors import page_error
from portal.web.http.rate_limits import refuse
from portal.web.http.sessions import SHARED, local_path
from portal.web.papers import issued_paper, paper_of
from portal.web.routing.responses import form_key, page_response, pdf_response, show_notice
from portal.web.routing.routes import Routes, View, at_desk
from portal.web.routing.vehicles import of_vehicle
from portal.web.verifications import newer_path
from portal.web.web import Web
from portal.wording import counted, listed_briefly

log = logging.getLogger(__name__)

LEFT_OUT: Final = "Nem todos\nFicaram de fora, sem resposta guardada ou além de doze: {}."
UNFINISHED: Final = "Nem todos\nUma falha interrompeu a emissão. Ficaram por emitir: {}."
MOST_NAMED: Final = 12  # vehicles in a notice
REVOKED: Final = "Dossiê revogado: o link e o PDF já não abrem"
ISSUED: Final = "Dossiê emitido"
# A stored dossier contains this placeholder. ``paper`` replaces it with a toolbar, whose
# links depend on the visitor.
TOOLBAR: Final = "<!-- toolbar -->"
_HASHED_ASSET: Final = re.compile(r"/static/([\w./-]+?)\.[0-9a-f]{8}\.(\w+)(?=\")")

routes = Routes("dossiers", robots="noindex, nofollow", limited=True)
shared_routes = Routes(SHARED, robots="noindex, nofollow", limited=True)

# Gets a valid dossier, and the number or key in the URL.
IssuedView = Callable[[Web, IssuedDossier, str], BaseResponse]


def own_newer_path(dossier: IssuedDossier) -> str:
    """Return the owner's page of the dossier that has taken another's place, "" without one."""
    newer = dossier.superseded_by
    return url_for("dossiers.dossier", text=display_number(newer)) if newer else ""


def owned(view: IssuedView) -> View:
    """Return a view that finds the visitor's dossier by the number in the URL.

    A dossier belongs to the token or credential with which the visitor issued the dossier, in demo
    mode to the visitor's session. Other visitors get 404. The returned view passes a valid dossier
    and its number to ``view``. It redirects to the URL with the number's canonical form, and
    returns a page with status 410 for an expired or revoked dossier.
    """

    @wraps(view)
    def checked(web: Web, desk: Desk, text: str) -> BaseResponse:
        number = parse_number(text)
        dossier = number and desk.issuing.owned(number)
        if not number or not dossier:
            abort(404)
        shown = display_number(number)
        if text != shown:
            assert request.endpoint is not None
            return redirect(url_for(request.endpoint, text=shown), 308)
        if dossier.state != "valid":
            return page_response(EndedDossierPage(dossier, own_newer_path(dossier)), 410)
        return view(web, dossier, shown)

    return at_desk(checked)


def shared(view: IssuedView) -> View:
    """Return a view that finds a dossier by the key of its shared link.

    It changes no data and uses no session. It passes a valid dossier and the key to ``view``.
    """

    @wraps(view)
    def checked(web: Web, text: str) -> BaseResponse:
        # The key of a dossier works even after too many wrong guesses from the same address. Many
        # people may share an address, and a key of 128 random bits cannot be guessed.
        dossier = web.desks.published.open(text)
        if dossier is None:
            refuse(web.limits.guess_wait(request.remote_addr))
            web.limits.count_guess(request.remote_addr)
            return page_response(EndedDossierPage(None), 404)
        if dossier.state != "valid":
            return page_response(EndedDossierPage(dossier, newer_path(dossier)), 410)
        return view(web, dossier, text)

    return checked


@routes.post("/placa/<text>/dossie/emitir")
@of_vehicle(Plate)
def issue(web: Web, desk: Desk, plate: Plate) -> BaseResponse:
    key = form_key()
    try:
        number = desk.issuing.issued_before(plate, key)
        if number is None:
            refuse(web.limits.issue_wait(request.remote_addr))
            issuable = desk.issuing.issuable(plate)
            if standing := _standing(desk, issuable):
                shown = display_number(standing.number)
                return redirect(url_for("dossiers.dossier", text=shown, existente=1), 303)
            number = _issue(web, desk, issuable, key)
    except KeyReused:
        return page_error(422, KEY_REUSED, ISSUE_AGAIN, plate.text)
    except NothingToIssue as error:
        advice = PURGED if error.why == "purged" else NO_ANSWER
        return page_error(409, NOTHING_TO_ISSUE, advice, plate.text)
    show_notice(ISSUED)
    return redirect(url_for("dossiers.dossier", text=display_number(number)), 303)


def _standing(desk: Desk, issuable: Issuable) -> IssuedDossier | None:
    """Return a dossier that says the same already, if the form prefers it to another number."""
    if "existente" not in request.form:
        return None
    return desk.issuing.standing(issuable, follow=bool(request.form.get("mudancas")))


def _to_issue(desk: Desk, subject: Plate | Renavam, key: str | None) -> Issuable | None:
    """Return what to issue, or None if a dossier is issued already. Raises NothingToIssue."""
    if desk.issuing.issued_before(subject, key):
        return None
    issuable = desk.issuing.issuable(subject)
    return None if _standing(desk, issuable) else issuable


def _issue(web: Web, desk: Desk, issuable: Issuable, key: str | None) -> str:
    """Issue a dossier, count it, and return its number. Raises NothingToIssue or KeyReused."""
    page, issuer = paper_of(web, issuable.dossier), web.desks.issuer
    number = desk.issuing.issue(
        issuable,
        lambda identifiers: issued_paper(web, page, identifiers, issuer),
        msgspec.json.encode(issued_summary(page, issuer)).decode(),
        follow=bool(request.form.get("mudancas")),
        key=key,
    )
    web.limits.count_issued(request.remote_addr)
    return number


@routes.post("/dossies/emitir")
@at_desk
def issue_several(web: Web, desk: Desk) -> BaseResponse:
    """Issue the dossiers of the ticked vehicles of a list.

    The form has one key, of which each vehicle gets its own, so that two clicks issue one dossier
    of each. The limit must allow all before the first is issued, without vehicles that have no
    answers or that an earlier click has issued. A failure ends the list, and the visitor sees what
    was issued before it.
    """
    key = form_key()
    subjects = read_strings(request.form.getlist("placas")).subjects
    issued = 0
    ready, left_out = [], []
    for subject in subjects[:MOST_AT_ONCE]:
        own_key = None if key is None else f"{key}.{subject.text}"
        try:
            issuable = _to_issue(desk, subject, own_key)
        except NothingToIssue:
            left_out.append(subject.display)
            continue
        if issuable is None:
            issued += 1
        else:
            ready.append((own_key, issuable))
    left_out += [subject.display for subject in subjects[MOST_AT_ONCE:]]
    if ready:
        refuse(web.limits.issue_wait(request.remote_addr, len(ready)))
    unfinished = []
    for at, (own_key, issuable) in enumerate(ready):
        subject = issuable.dossier.subject
        try:
            _issue(web, desk, issuable, own_key)
        except NothingToIssue:  # purged meanwhile
            left_out.append(subject.display)
        except Exception as error:
            if not issued:
                raise
            log.error("unexpected %s in a list of dossiers", type(error).__name__)
            unfinished = [issuable.dossier.subject.display for _, issuable in ready[at:]]
            break
        else:
            issued += 1
    show_notice(counted(issued, "dossiê emitido", "dossiês emitidos"))
    if unfinished:
        show_notice(UNFINISHED.format(listed_briefly(unfinished, MOST_NAMED)))
    if left_out:
        show_notice(LEFT_OUT.format(listed_briefly(left_out, MOST_NAMED)))
    return redirect(local_path(request.form.get("next", url_for("dossiers.listed"))), 303)


@routes.get("/dossies")
@at_desk
def listed(_: Web, desk: Desk) -> BaseResponse:
    number = parse_number(request.args.get("depois", ""))
    after = desk.issuing.owned(number) if number else None
    return page_response(IssuedListPage(desk.issuing.all(PAGE_SIZE + 1, after)))


def dossier(web: Web, issued: IssuedDossier, text: str) -> BaseResponse:
    """Return the dossier's page. Its owner also gets the shared link, and may revoke it."""
    summary = summary_of(issued)
    assert summary is not None  # a valid dossier always has a summary
    is_owner = request.blueprint == "dossiers"
    link = url_for("shared.dossier", text=issued.key, _external=True) if is_owner else ""
    path = url_for(".dossier", text=text)
    now = web.desks.published.now(issued, summary.subject)
    since = None if now is None else since_issued(summary, now)
    desk = web.visitor_desk() if is_owner else None
    may_ask = desk is not None and desk.caller.may("refresh")
    choices = moment_choices(desk.prices()) if desk and may_ask else ()
    is_repeated = is_owner and "existente" in request.args
    newer = own_newer_path(issued) if is_owner else newer_path(issued)
    return page_response(
        IssuedDossierPage(issued, summary, path, link, since, choices, is_repeated, newer)
    )


def pdf(web: Web, issued: IssuedDossier, _: str) -> BaseResponse:
    if not issued.has_pdf:
        return page_error(501)
    stored = web.desks.published.pdf(issued)
    if stored is None:
        abort(410)
    return pdf_response(stored, display_number(issued.number))


def paper(web: Web, issued: IssuedDossier, text: str) -> BaseResponse:
    """Return a stored dossier as HTML, with a toolbar and the current URLs of static files."""
    html = web.desks.published.html(issued)
    if html is None:
        abort(410)
    toolbar = get_template_attribute("components/paper_toolbar.html", "paper_toolbar")(
        url_for(".dossier", text=text), url_for(".pdf", text=text) if issued.has_pdf else ""
    )

    def present_name(match: re.Match[str]) -> str:
        try:
            return web.assets.url(f"{match[1]}.{match[2]}")
        except UnknownAsset:
            return match[0]

    return make_response(_HASHED_ASSET.sub(present_name, html).replace(TOOLBAR, toolbar, 1))


for view, ending in ((dossier, ""), (pdf, ".pdf"), (paper, "/papel")):
    routes.get(f"/dossie/<text>{ending}")(owned(view))
    shared_routes.get(f"/d/<text>{ending}")(shared(view))


@routes.post("/dossie/<text>/revogar")
@owned
def revoke(web: Web, issued: IssuedDossier, _: str) -> BaseResponse:
    desk = web.visitor_desk()
    assert desk is not None  # ``owned`` has found the dossier at this desk
    desk.issuing.revoke(issued.number)
    show_notice(REVOKED)
    return redirect(url_for("dossiers.listed"), 303)
