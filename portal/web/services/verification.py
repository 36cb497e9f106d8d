"""Finds an issued dossier by its number or by its link's key, for somebody who checks it."""

from flask import request, url_for

from portal.dossiers.archive import Dossier
from portal.dossiers.identifiers import display_number, is_share_key, parse_number
from portal.presentation.issued.summary import summary_of
from portal.presentation.issued.verification import VerifiedDossier, partly_hidden
from portal.system.local_time import utc_time
from portal.web.http.rate_limits import refuse
from portal.web.services.web import Web


def find_issued(web: Web, code: str) -> VerifiedDossier | None:
    """Return the dossier with the number or key ``code``, or None if the portal has issued none.

    The key of a dossier works even after too many wrong guesses from the same address, because a
    key of 128 random bits cannot be guessed. A number has only 60 random bits, and is then refused:
    raises TooManyRequests.
    """
    dossier = web.dossiers.by_key(code) if is_share_key(code) else None
    if dossier is not None:
        return _verified(dossier, path=url_for("shared.dossier", text=code))
    refuse(web.limits.guess_wait(request.remote_addr))
    number = parse_number(code)
    dossier = web.dossiers.by_number(number) if number else None
    if dossier is not None:
        return _verified(dossier)
    web.limits.count_guess(request.remote_addr)
    return None


def _verified(dossier: Dossier, path: str = "") -> VerifiedDossier:
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
