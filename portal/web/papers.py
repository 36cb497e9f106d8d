"""Papers of dossiers."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import segno
from flask import render_template, request

from portal.access.tokens import Identity
from portal.desk.desk import Desk
from portal.desk.issuing import Paper
from portal.desk.moments import Render
from portal.dossier.dossier import Dossier
from portal.dossier.moment import Moment
from portal.issued.identifiers import Identifiers, display_number
from portal.issued.issuer import Issuer
from portal.pdf.archival import Embedded
from portal.pdf.renderer import PDFUnavailable
from portal.pdf.signing import SignedPdf
from portal.presentation.exports.explained import explained_json
from portal.presentation.issued.summary import issued_summary
from portal.presentation.paper.dossier import DossierPage, dossier_page
from portal.presentation.vehicle.sheet import Sheet, SheetPage, SheetsFile
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate
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
        verify_address=address,
        qr=str(qr_code.svg_data_uri(scale=2, border=2, light="white")),
    )


def data_of(page: DossierPage) -> Embedded:
    """Return the file that the PDF of a dossier contains: its records as explained JSON."""
    return Embedded(explained_json(page.dossier, page.made_at), page.made_at)


def issued_paper(
    web: Web, page: DossierPage, identifiers: Identifiers, issuer: Issuer | None
) -> Paper:
    """Return the paper of a dossier with its number, and its PDF, signed if there is a key."""
    key = web.signing_key
    stamped = stamp_issued(page, identifiers, issuer)
    signed = replace(stamped, signer=key.signer if key is not None else "")
    html, data = render_template("issued_paper.html", page=signed), data_of(page)
    try:
        pdf = web.render_signed_pdf(html, data)
        if pdf.signature is None and signed.signer:
            # The key does not work. The paper must not state a signature.
            html = render_template("issued_paper.html", page=stamped)
            pdf = SignedPdf(web.render_pdf(html, data), None)
    except PDFUnavailable:
        return Paper(html, None)
    return Paper(html, pdf)


def moment_paper(web: Web) -> Render:
    """Return a function that renders the dossier of a moment, and encodes its summary."""

    def render(dossier: Dossier, moment: Moment, identifiers: Identifiers) -> tuple[Paper, str]:
        page, issuer = replace(paper_of(web, dossier), moment=moment), web.desks.issuer
        summary = msgspec.json.encode(issued_summary(page, issuer)).decode()
        return issued_paper(web, page, identifiers, issuer), summary

    return render


def batch_dossier(
    web: Web, desk: Desk, plate: Plate, ask: Collection[LookupName]
) -> tuple[str, Embedded] | None:
    """Return the dossier of a plate in a batch as HTML, and its data.

    Returns None without a readable stored answer.

    ``ask`` contains the lookups that the batch makes.
    """
    page = paper_of(web, desk.issuing.of_batch(plate, ask))
    if page.state != "ready":
        return None
    return render_template(page.template, page=page), data_of(page)


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
