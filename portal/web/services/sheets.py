"""The shop's sheets that pages and the JSON API make of a caller's dossiers."""

from collections.abc import Sequence

from flask import request
from portal.web.services.web import Web, shown_name

from portal.access.tokens import Identity
from portal.dossier.dossier import Dossier
from portal.presentation.vehicle.sheet import Sheet, SheetPage, SheetsFile


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
