"""Issued dossiers: the pages for the owner, and the pages behind a shared link."""

import re
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec
from flask import (
    Blueprint,
    Response,
    abort,
    flash,
    get_template_attribute,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.exceptions import TooManyRequests
from werkzeug.wrappers import Response as BaseResponse

from portal.access import Identity
from portal.dossiers import (
    Dossier,
    DossierArchive,
    IssuedSnapshot,
    Purged,
    display_number,
    is_share_key,
    new_identifiers,
    parse_number,
)
from portal.pdf import PDFUnavailable
from portal.presentation.issued.pages import (
    EndedDossierPage,
    IssuedDossierPage,
    IssuedListPage,
    IssuedRow,
)
from portal.presentation.issued.summary import issued_summary
from portal.presentation.paper.dossier import Issuer
from portal.vehicle import Plate
from portal.web.http.assets import Assets, UnknownAsset
from portal.web.http.errors import page_error
from portal.web.http.rate_limits import RateLimits
from portal.web.pages.dossier_code import stamp_issued
from portal.web.pages.responses import page_response, pdf_response
from portal.web.pages.sessions import SHARED, Sessions
from portal.web.pages.vehicle import VehiclePages
from portal.web.pages.verification import moment, read_summary

NOTHING_TO_ISSUE: Final = "Não há o que emitir"
NO_ANSWER: Final = (
    "Nenhuma consulta deste veículo tem resposta guardada, e um dossiê sem registros não prova "
    "nada. Consulte o veículo e emita depois."
)
PURGED: Final = (
    "Os dados deste veículo foram excluídos enquanto o dossiê era emitido. Nada foi emitido."
)
REVOKED: Final = "Dossiê revogado: o link e o PDF já não abrem"
ISSUED: Final = "Dossiê emitido"
# A stored dossier contains this placeholder. ``_paper_response`` replaces it with a toolbar, whose
# links depend on the visitor.
TOOLBAR: Final = "<!-- toolbar -->"
_HASHED_ASSET: Final = re.compile(r"/static/([\w./-]+?)\.[0-9a-f]{8}\.(\w+)(?=\")")


class IssuedPages:
    """The pages for the owner of issued dossiers. Other visitors get 404.

    A dossier belongs to the token or credential with which the visitor issued the dossier. In demo
    mode, a dossier belongs to the visitor's session.
    """

    def __init__(
        self,
        vehicle_pages: VehiclePages,
        sessions: Sessions,
        dossiers: DossierArchive,
        limits: RateLimits,
        assets: Assets,
        render_pdf: Callable[[str], bytes],
        issuer: Issuer | None,
    ) -> None:
        self._vehicle_pages = vehicle_pages
        self._sessions = sessions
        self._dossiers = dossiers
        self._limits = limits
        self._assets = assets
        self._render_pdf = render_pdf
        self._issuer = issuer

    def blueprint(self) -> Blueprint:
        pages = Blueprint("dossiers", __name__)
        issue = self._vehicle_pages.for_subject(Plate, self.issue)
        pages.add_url_rule("/placa/<text>/dossie/emitir", "issue", issue, methods=["POST"])
        signed_in = self._sessions.require_sign_in
        pages.add_url_rule("/dossies", "list", signed_in(self.list))
        for path, name, view, method in (
            ("/dossie/<text>", "dossier", self.dossier, "GET"),
            ("/dossie/<text>.pdf", "pdf", self.pdf, "GET"),
            ("/dossie/<text>/papel", "paper", self.paper, "GET"),
            ("/dossie/<text>/revogar", "revoke", self.revoke, "POST"),
        ):
            pages.add_url_rule(path, name, signed_in(self._for_owned(view)), methods=[method])
        pages.after_request(_keep_out_of_indexes)
        return pages

    def _for_owned(self, view: Callable[[Dossier], BaseResponse]) -> Callable[..., BaseResponse]:
        """Return a view that finds the visitor's dossier by the number in the URL.

        The returned view passes a valid dossier to ``view``. For an expired or revoked dossier, it
        returns a page with status 410. If the URL does not have the number's canonical form, the
        returned view redirects to the canonical URL.
        """

        def checked(text: str, identity: Identity) -> BaseResponse:  # noqa: ARG001
            number = parse_number(text)
            dossier = number and self._dossiers.owned(number, self._sessions.history_key)
            if not number or not dossier:
                abort(404)
            if text != display_number(number):
                assert request.endpoint is not None
                return redirect(url_for(request.endpoint, text=display_number(number)), 308)
            if dossier.state != "valid":
                return ended_response(dossier)
            return view(dossier)

        return checked

    def issue(self, plate: Plate, identity: Identity) -> BaseResponse:
        wait_s = self._limits.issue(request.remote_addr)
        if wait_s is not None:
            raise TooManyRequests(retry_after=wait_s)
        purge_mark = self._dossiers.purge_mark()
        page = self._vehicle_pages.issuable_dossier(plate, identity)
        if page.state != "ready":
            return page_error(409, NOTHING_TO_ISSUE, NO_ANSWER, plate.text)
        identifiers = new_identifiers()
        paper = stamp_issued(page, identifiers, self._issuer)
        html = render_template("issued_paper.html", page=paper)
        try:
            pdf = self._render_pdf(html)
        except PDFUnavailable:
            pdf = None
        snapshot = IssuedSnapshot(
            plate=plate.text,
            caller=identity.name,
            summary=msgspec.json.encode(issued_summary(page, self._issuer)).decode(),
        )
        owner = self._sessions.history_key
        try:
            self._dossiers.issue(owner, identifiers, snapshot, html, pdf, purge_mark=purge_mark)
        except Purged:
            return page_error(409, NOTHING_TO_ISSUE, PURGED, plate.text)
        flash(ISSUED)
        number = display_number(identifiers.number)
        return redirect(url_for("dossiers.dossier", text=number), 303)

    def list(self, identity: Identity) -> BaseResponse:  # noqa: ARG002
        dossiers = self._dossiers.all_owned(self._sessions.history_key)
        return page_response(IssuedListPage(tuple(map(_row, dossiers))))

    def dossier(self, dossier: Dossier) -> BaseResponse:
        number = display_number(dossier.number)
        path = url_for("dossiers.dossier", text=number)
        link = url_for("shared.dossier", text=dossier.key, _external=True)
        page = _page(dossier, path, link=link, revoke_path=f"{path}/revogar")
        return page_response(page)

    def pdf(self, dossier: Dossier) -> BaseResponse:
        return _pdf_response(dossier, self._dossiers)

    def paper(self, dossier: Dossier) -> BaseResponse:
        back = url_for("dossiers.dossier", text=display_number(dossier.number))
        return _paper_response(dossier, self._dossiers, self._assets, back)

    def revoke(self, dossier: Dossier) -> BaseResponse:
        self._dossiers.revoke(dossier.number, self._sessions.history_key)
        flash(REVOKED)
        return redirect(url_for("dossiers.list"), 303)


class SharedPages:
    """The pages behind a dossier's shared link. They change no data and use no session."""

    def __init__(self, dossiers: DossierArchive, limits: RateLimits, assets: Assets) -> None:
        self._dossiers = dossiers
        self._limits = limits
        self._assets = assets

    def blueprint(self) -> Blueprint:
        pages = Blueprint(SHARED, __name__)
        for path, name, view in (
            ("/d/<text>", "dossier", self.dossier),
            ("/d/<text>.pdf", "pdf", self.pdf),
            ("/d/<text>/papel", "paper", self.paper),
        ):
            pages.add_url_rule(path, name, partial(self._shared, view))
        pages.after_request(_keep_out_of_indexes)
        return pages

    def _shared(self, view: Callable[[Dossier, str], BaseResponse], text: str) -> BaseResponse:
        # The key of a dossier works even after too many wrong guesses from the same address. Many
        # people may share an address, and a key of 128 random bits cannot be guessed.
        dossier = self._dossiers.by_key(text) if is_share_key(text) else None
        if dossier is None:
            wait_s = self._limits.guess_wait(request.remote_addr)
            if wait_s is not None:
                raise TooManyRequests(retry_after=wait_s)
            self._limits.count_guess(request.remote_addr)
            page = EndedDossierPage("unknown", "", None, None)
            return page_response(page, 404)
        if dossier.state != "valid":
            return ended_response(dossier)
        return view(dossier, url_for("shared.dossier", text=text))

    def dossier(self, dossier: Dossier, path: str) -> BaseResponse:
        page = _page(dossier, path)
        return page_response(page)

    def pdf(self, dossier: Dossier, path: str) -> BaseResponse:  # noqa: ARG002
        return _pdf_response(dossier, self._dossiers)

    def paper(self, dossier: Dossier, path: str) -> BaseResponse:
        return _paper_response(dossier, self._dossiers, self._assets, path)


def ended_response(dossier: Dossier) -> Response:
    """Return the page of an expired or revoked dossier, with status 410."""
    page = EndedDossierPage(
        "revoked" if dossier.state == "revoked" else "expired",
        display_number(dossier.number),
        moment(dossier.issued_at),
        moment(dossier.revoked_at or dossier.expires_at),
    )
    return page_response(page, 410)


def _page(
    dossier: Dossier, path: str, *, link: str = "", revoke_path: str = ""
) -> IssuedDossierPage:
    summary = read_summary(dossier)
    assert summary is not None  # a valid dossier always has a summary
    return IssuedDossierPage(
        plate=Plate.parse(summary.plate),
        number=display_number(dossier.number),
        summary=summary,
        expires_at=moment(dossier.expires_at),
        paper_path=f"{path}/papel",
        pdf_path=f"{path}.pdf" if dossier.has_pdf else "",
        link=link,
        revoke_path=revoke_path,
    )


def _pdf_response(dossier: Dossier, dossiers: DossierArchive) -> BaseResponse:
    if not dossier.has_pdf:
        return page_error(501)
    pdf = dossiers.pdf(dossier)
    if pdf is None:
        abort(410)
    return pdf_response(pdf, display_number(dossier.number))


def _paper_response(
    dossier: Dossier, dossiers: DossierArchive, assets: Assets, back: str
) -> BaseResponse:
    """Return a stored dossier as HTML, with a toolbar and the current URLs of static files."""
    html = dossiers.html(dossier)
    if html is None:
        abort(410)
    toolbar = get_template_attribute("components/paper_toolbar.html", "paper_toolbar")(
        back, f"{back}.pdf" if dossier.has_pdf else ""
    )
    html = _HASHED_ASSET.sub(partial(_present_name, assets), html)
    return make_response(html.replace(TOOLBAR, toolbar, 1))


def _present_name(assets: Assets, match: re.Match[str]) -> str:
    try:
        return assets.url(f"{match[1]}.{match[2]}")
    except UnknownAsset:
        return match[0]


def _row(dossier: Dossier) -> IssuedRow:
    summary = read_summary(dossier)
    number = display_number(dossier.number)
    return IssuedRow(
        number=number,
        path=url_for("dossiers.dossier", text=number),
        state=dossier.state,
        plate=Plate.parse(summary.plate) if summary else None,
        name=summary.name if summary else "",
        look=summary.look if summary else None,
        finding=summary.finding if summary else "",
        issued_at=moment(dossier.issued_at),
        expires_at=moment(dossier.revoked_at or dossier.expires_at),
    )


def _keep_out_of_indexes(response: Response) -> Response:
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response
