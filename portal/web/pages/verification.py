"""``/verificar`` (verify) checks the number or key of an issued dossier, or the code of a draft."""

import re
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote

import msgspec
from flask import Blueprint, render_template, request, url_for
from werkzeug.exceptions import TooManyRequests

from portal.dossiers import (
    Dossier,
    DossierArchive,
    display_number,
    is_share_key,
    parse_number,
)
from portal.presentation.issued.summary import IssuedSummary
from portal.presentation.issued.verification import VerificationPage, VerifiedDossier, partly_hidden
from portal.vehicle import visible
from portal.web.http.rate_limits import RateLimits
from portal.web.pages.dossier_code import DossierCodes
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


class Verification:
    def __init__(self, codes: DossierCodes, dossiers: DossierArchive, limits: RateLimits) -> None:
        self._codes = codes
        self._dossiers = dossiers
        self._limits = limits

    def blueprint(self) -> Blueprint:
        pages = Blueprint("verification", __name__)
        pages.add_url_rule("/verificar", "verify", self.verify)
        return pages

    def verify(self) -> str:
        code = extract_code(request.args.get("codigo", ""))
        page = self._page(code) if code else VerificationPage()
        return render_template(page.template, page=page)

    def _page(self, code: str) -> VerificationPage:
        if (signed := self._codes.read(code)) is not None:
            return VerificationPage(code, "signed", signed=signed)
        # The key of a dossier works even after too many wrong guesses from the same address,
        # because a key of 128 random bits cannot be guessed. A number is refused after too many
        # wrong guesses, because it has only 60 random bits.
        dossier = self._dossiers.by_key(code) if is_share_key(code) else None
        if dossier is not None:
            verified = _verified(dossier, path=url_for("shared.dossier", text=code))
            return VerificationPage(code, dossier.state, dossier=verified)
        wait_s = self._limits.guess_wait(request.remote_addr)
        if wait_s is not None:
            raise TooManyRequests(retry_after=wait_s)
        number = parse_number(code)
        dossier = self._dossiers.by_number(number) if number else None
        if dossier is not None:
            return VerificationPage(code, dossier.state, dossier=_verified(dossier))
        self._limits.count_guess(request.remote_addr)
        return VerificationPage(code, "unknown")


def read_summary(dossier: Dossier) -> IssuedSummary | None:
    """Return the stored summary of a dossier, or None if the dossier is expired or revoked."""
    if dossier.snapshot is None:
        return None
    return msgspec.json.decode(dossier.snapshot.summary, type=IssuedSummary)


def moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _verified(dossier: Dossier, path: str = "") -> VerifiedDossier:
    """Return those facts about a dossier that may be shown to the visitor.

    ``path`` is the path of the shared link, or "" if the visitor has entered the number instead of
    the link's key. Without ``path``, the result has a partly hidden plate and no summary, because
    the visitor may have guessed the number.
    """
    summary = read_summary(dossier)
    plate = summary.plate if summary else ""
    return VerifiedDossier(
        number=display_number(dossier.number),
        plate=plate if path else partly_hidden(plate),
        issuer=summary.issuer.name if summary and summary.issuer else "",
        issued_at=moment(dossier.issued_at),
        ended_at=moment(dossier.revoked_at or dossier.expires_at),
        path=path if summary else "",
        summary=summary if path else None,
    )
