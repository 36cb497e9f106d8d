"""``/verificar`` (verify) checks the number or the link's key of an issued dossier."""

import re
from typing import Final
from urllib.parse import unquote

from flask import Response, request, url_for

from portal.dossiers.archive import Dossier
from portal.dossiers.identifiers import display_number, is_share_key, parse_number
from portal.presentation.issued.summary import summary_of
from portal.presentation.issued.verification import VerificationPage, VerifiedDossier, partly_hidden
from portal.system.local_time import utc_time
from portal.vehicle.typed import visible
from portal.web.http.rate_limits import refuse
from portal.web.services.responses import page_response
from portal.web.services.routes import Routes
from portal.web.services.web import Web
from portal.wording import with_hyphens

MAX_CODE_LENGTH: Final = 1000
_CODE_IN_AN_ADDRESS: Final = re.compile(r".*codigo=([^&#]*)", re.IGNORECASE)
# A number after words, or before a full stop: "Dossiê nº 7F3K-9QMD-2XHA."
_NUMBER_AFTER_WORDS: Final = re.compile(r"(?:.*[\s:º°])?(\w{4}-\w{4}-\w{4})[\s.,;:!)]*", re.DOTALL)
_DOSSIER_IN_AN_ADDRESS: Final = re.compile(r".*/(?:d|dossie)/([A-Za-z0-9_-]+)")


def extract_code(text: str) -> str:
    """Return the code, number or link key in a pasted text, without invisible characters.

    The text may also be a URL, for example the URL in a QR code, or a shared link.
    """
    if number := _NUMBER_AFTER_WORDS.fullmatch(with_hyphens(visible(text))):
        return number[1]
    plain = "".join(c for c in text if c.isprintable() and not c.isspace())
    address = _CODE_IN_AN_ADDRESS.match(plain) or _DOSSIER_IN_AN_ADDRESS.match(plain)
    code = unquote(address[1]) if address else plain
    return with_hyphens(code)[:MAX_CODE_LENGTH]


routes = Routes("verification")


@routes.get("/verificar")
def verify(web: Web) -> Response:
    code = extract_code(request.args.get("codigo", ""))
    return page_response(_page(web, code) if code else VerificationPage())


def _page(web: Web, code: str) -> VerificationPage:
    # The key of a dossier works even after too many wrong guesses from the same address, because a
    # key of 128 random bits cannot be guessed. A number is refused after too many wrong guesses,
    # because it has only 60 random bits.
    dossier = web.dossiers.by_key(code) if is_share_key(code) else None
    if dossier is not None:
        verified = _verified(dossier, path=url_for("shared.dossier", text=code))
        return VerificationPage(code, dossier.state, dossier=verified)
    refuse(web.limits.guess_wait(request.remote_addr))
    number = parse_number(code)
    dossier = web.dossiers.by_number(number) if number else None
    if dossier is not None:
        return VerificationPage(code, dossier.state, dossier=_verified(dossier))
    web.limits.count_guess(request.remote_addr)
    return VerificationPage(code, "unknown")


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
        plate=plate if path else partly_hidden(plate),
        issuer=summary.issuer.name if summary and summary.issuer else "",
        issued_at=utc_time(dossier.issued_at),
        ended_at=utc_time(dossier.ended_at),
        path=path if summary else "",
        summary=summary if path else None,
    )
