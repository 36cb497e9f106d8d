"""Dossiers: drafts, those to issue, issued ones, those of a batch's archive, and calendars."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import segno
from flask import render_template, request, url_for

from portal.access.tokens import Identity, RefusedToken, TokensUnavailable, UnknownToken
from portal.desk.desk import Desk
from portal.dossier.answers import Panel
from portal.dossier.checklist import ticked_lines
from portal.dossier.dossier import Dossier
from portal.gateway.lookup import Spend
from portal.issued.archive import IssuedDossier
from portal.issued.identifiers import (
    Identifiers,
    display_number,
    is_share_key,
    parse_number,
)
from portal.issued.issuer import Issuer
from portal.presentation.exports.calendar import deadline_calendar
from portal.presentation.issued.summary import Changed, IssuedSummary, changed_since, summary_of
from portal.presentation.issued.verification import VerifiedDossier, partly_hidden
from portal.presentation.paper.dossier import DossierPage, dossier_page
from portal.system.local_time import utc_time
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate
from portal.web.http.rate_limits import refuse
from portal.web.http.spending import page_spend
from portal.web.services.web import Web

NOT_STORED_AT_ISSUE = "Não havia resposta guardada desta consulta quando o dossiê foi emitido."
NOT_STORED_IN_BATCH = "Não havia resposta guardada desta consulta quando o dossiê foi feito."
NOT_ASKED_IN_BATCH = (
    "Esta consulta não foi pedida no lote, e não havia resposta guardada dela quando o dossiê foi "
    "feito."
)


def draft_dossier(web: Web, plate: Plate, identity: Identity) -> DossierPage:
    """Return a dossier that is not issued. Only a user's request makes lookups."""
    return _page(web, web.desk(identity).dossier(plate, page_spend()))


def issuable_dossier(web: Web, plate: Plate, identity: Identity) -> DossierPage:
    """Return the dossier to issue, from stored answers and with masked names.

    For a lookup without a stored answer, the dossier states that the answer is missing. The form
    sends the lines of the checklist that the visitor has ticked.
    """
    desk = web.desk(identity, mask_names=True)
    page = _page(web, _stored(desk, plate, [NOT_STORED_AT_ISSUE] * len(LOOKUPS)))
    sent = request.form.getlist("conferido")
    return replace(page, ticked=ticked_lines(sent, page.dossier.today))


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


def since_issued(
    web: Web, issued: IssuedDossier, summary: IssuedSummary
) -> tuple[datetime | None, Sequence[Changed]] | None:
    """Return the time of the newest answer since the issue, and the figures that have changed.

    The time is None without a newer answer. Returns None if the issuer does not let the link show
    changes, or if the issuer's token is no longer valid. The upstream is never asked.
    """
    if issued.snapshot is None or not issued.snapshot.follows:
        return None
    try:
        identity = web.gatekeeper.authenticate_owner(issued.snapshot.follows)
    except (UnknownToken, RefusedToken, TokensUnavailable):
        return None
    (now,) = web.desk(identity, mask_names=True).stored([summary.subject])
    times = [panel.fetched_at for panel in now.answers.all if panel.fetched_at]
    newest = max(times, default=summary.issued_at)
    if newest <= summary.issued_at:
        return None, ()
    return newest, changed_since(summary, now)


def find_issued(web: Web, code: str) -> VerifiedDossier | None:
    """Return the dossier with the number or key ``code``, or None if the portal has issued none.

    The key of a dossier works even after too many wrong guesses from the same address, because a
    key of 128 random bits cannot be guessed. A number has only 60 random bits, and is then refused:
    raises TooManyRequests.
    """
    dossier = web.desks.archive.by_key(code) if is_share_key(code) else None
    if dossier is not None:
        return _verified(dossier, path=url_for("shared.dossier", text=code))
    refuse(web.limits.guess_wait(request.remote_addr))
    number = parse_number(code)
    dossier = web.desks.archive.by_number(number) if number else None
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


def stored_deadlines(web: Web, plate: Plate, identity: Identity) -> tuple[Panel, bytes | None]:
    """Return the panel of the stored fines, and the calendar, or None without a readable answer."""
    dossier = web.desk(identity).dossier(plate, Spend.NEVER, ["renainf"])
    name = f"Prazos de {plate.display}"
    return dossier.answers.renainf, deadline_calendar([dossier], name, dossier.today)


def batch_dossier(
    web: Web, plate: Plate, ask: Collection[LookupName], identity: Identity
) -> str | None:
    """Return the dossier of a plate in a batch as HTML, from stored answers.

    ``ask`` contains the lookups that the batch makes. For a lookup without a stored answer, the
    dossier states that the answer is missing, and whether the batch makes this lookup. Returns None
    if no lookup has a readable stored answer.
    """
    reasons = [NOT_STORED_IN_BATCH if lookup in ask else NOT_ASKED_IN_BATCH for lookup in LOOKUPS]
    page = _page(web, _stored(web.desk(identity), plate, reasons))
    return render_template(page.template, page=page) if page.state == "ready" else None


def _page(web: Web, dossier: Dossier) -> DossierPage:
    address = request.url_root.rstrip("/")
    return dossier_page(dossier, web.render_context().now, address=address)


def _stored(desk: Desk, plate: Plate, reasons: Sequence[str]) -> Dossier:
    """Return stored answers. A lookup without one is "unavailable", for its reason."""
    stored = desk.dossier(plate, Spend.NEVER)
    settled = dict(zip(LOOKUPS, map(_settled, stored.answers.all, reasons), strict=True))
    return replace(stored, answers=replace(stored.answers, **settled))


def _settled(panel: Panel, reason: str) -> Panel:
    if panel.state != "unasked":
        return panel
    return replace(panel, state="unavailable", reason=reason)
