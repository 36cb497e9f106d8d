"""Papers of dossiers, and what the check of a code shows."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import segno
from flask import render_template, request, url_for

from portal.access.tokens import Identity
from portal.desk.desk import Desk
from portal.dossier.dossier import Dossier
from portal.issued.archive import IssuedDossier
from portal.issued.identifiers import Identifiers, display_number
from portal.issued.issuer import Issuer
from portal.presentation.issued.summary import summary_of
from portal.presentation.issued.verification import VerifiedDossier, partly_hidden
from portal.presentation.paper.dossier import DossierPage, dossier_page
from portal.presentation.vehicle.sheet import Sheet, SheetPage, SheetsFile
from portal.system.local_time import utc_time
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate
from portal.web.http.rate_limits import refuse
from portal.web.web import Web, shown_name


def paper_of(web: Web, dossier: Dossier) -> DossierPage:
    """Return the printable document of a dossier, which is not issued."""
    return dossier_page(dossier, web.render_context().now, address=request.url_root.rstrip("/"))


def stamp_issued(page: DossierPage, identifiers: Identifiers, issuer: Issuer | None) -> DossierPage:
    """Add the issuer, the number and a QR code to a dossier.

    The QR code contains the URL of ``/verificar`` (verify) with the key of the dossier's link.
    """
    address = f"{page.address}/verificar?codigo={identifiers.key}"
    qr_code: Any = segno.make(address, error="m")
    return replace(
        page,
        issuer=issuer,
        number=display_number(identifiers.number),
        qr=str(qr_code.svg_data_uri(scale=2, border=2, light="white")),
    )


def find_issued(web: Web, code: str) -> VerifiedDossier | None:
    """Return the dossier with the number or key ``code``, or None if the portal has issued none.

    The key of a dossier works even after too many wrong guesses from the same address, because a
    key of 128 random bits cannot be guessed. A number has only 60 random bits, and is then refused:
    raises TooManyRequests.
    """
    dossier = web.desks.published.by_key(code)
    if dossier is not None:
        return _verified(dossier, path=url_for("shared.dossier", text=code))
    refuse(web.limits.guess_wait(request.remote_addr))
    dossier = web.desks.published.by_number(code)
    if dossier is not None:
        return _verified(dossier)
    web.limits.count_guess(request.remote_addr)
    return None


def _verified(dossier: IssuedDossier, path: str = "") -> VerifiedDossier:
    """Return those facts about a dossier that may be shown to the visitor.

    ``path`` is the path of the shared link, or "" if the visitor has entered the number instead of
    the link's key. Without ``path``, the result has a partly hidden plate and no summary, because
    the visitor may have guessed the number.
    """
    summary = summary_of(dossier)
    plate = summary.plate if summary else ""
    return VerifiedDossier(
        number=display_number(dossier.number),
        state=dossier.state,
        plate=plate if path else partly_hidden(plate),
        issuer=summary.issuer.name if summary and summary.issuer else "",
        issued_at=utc_time(dossier.issued_at),
        ended_at=utc_time(dossier.ended_at),
        path=path if summary else "",
        summary=summary if path else None,
    )


def batch_dossier(web: Web, desk: Desk, plate: Plate, ask: Collection[LookupName]) -> str | None:
    """Return the dossier of a plate in a batch as HTML, or None without a readable stored answer.

    ``ask`` contains the lookups that the batch makes.
    """
    page = paper_of(web, desk.issuing.of_batch(plate, ask))
    return render_template(page.template, page=page) if page.state == "ready" else None


def sheet_page(
    web: Web,
    identity: Identity,
    dossier: Dossier,
    chosen: str = "",
    problem: str = "",
    *,
    is_file: bool = False,
) -> SheetPage:
    """Return the sheet of a vehicle. For the other arguments see ``SheetPage``."""
    sheet = _sheet(web, identity, dossier)
    return SheetPage(sheet, web.desks.issuer, _address(), chosen, problem, is_file)


def sheets_file(web: Web, identity: Identity, dossiers: Sequence[Dossier]) -> SheetsFile:
    """Return one file with a sheet of each vehicle."""
    sheets = [_sheet(web, identity, dossier) for dossier in dossiers]
    return SheetsFile(sheets, web.desks.issuer, _address())


def _sheet(web: Web, identity: Identity, dossier: Dossier) -> Sheet:
    return Sheet(dossier, web.render_context().now, shown_name(identity))


def _address() -> str:
    return request.url_root.rstrip("/")
