"""Verifies numbers, QR codes, hashes and files for the page and the JSON API."""

from typing import Final

from flask import abort, request, url_for

from portal.issued.identifiers import display_number
from portal.issued.model import IssuedDossier
from portal.issued.verification import Verification
from portal.pdf.inspection import LARGEST_FILE
from portal.presentation.issued.summary import summary_of
from portal.presentation.issued.verification import VerifiedDossier, partly_hidden
from portal.system.local_time import utc_time
from portal.web.http.rate_limits import network, refuse
from portal.web.http.sent_files import read_form_with_file
from portal.web.web import Web

FIELD: Final = "file"


def newer_path(dossier: IssuedDossier) -> str:
    """Return the path of the check of a superseding dossier, or "" without one.

    The number says no more than the check of a number does. Whoever has a dossier's link has not
    been given that of the newer one.
    """
    newer = dossier.superseded_by
    return url_for("verification.verify", codigo=display_number(newer)) if newer else ""


def verify_code(web: Web, code: str) -> Verification:
    """Verify the number or key ``code``.

    The key of a dossier works even after too many wrong guesses from the same address, because a
    key of 128 random bits cannot be guessed. A number has only 60 random bits, and is then refused:
    raises TooManyRequests.
    """
    if (verification := web.desks.published.verifier.by_key(code)) is not None:
        return verification
    refuse(web.limits.guess_wait(request.remote_addr))
    if (verification := web.desks.published.verifier.by_number(code)) is not None:
        return verification
    web.limits.count_guess(request.remote_addr)
    return Verification("unknown")


def verify_hash(web: Web, sha256: str) -> Verification:
    """Verify a file by its hash. Raises TooManyRequests."""
    refuse(web.limits.verify(request.remote_addr))
    return web.desks.published.verifier.by_hash(sha256)


def verify_sent(web: Web, *, as_form: bool) -> Verification | None:
    """Verify the file in the request's body, or None without one.

    Nothing of it is kept, not even in a temporary file. The limits are counted before the body is
    read. Raises TooManyRequests, ServiceUnavailable or Busy, and aborts with 413.
    """
    refuse(web.limits.verify(request.remote_addr))
    with web.slots.files.slot(network(request.remote_addr)):
        if as_form:
            _, content = read_form_with_file(request, FIELD, LARGEST_FILE)
        else:
            content = _read_body()
        return web.desks.published.verifier.file(content) if content else None


def _read_body() -> bytes:
    request.max_content_length = LARGEST_FILE + 1
    content = request.get_data(cache=False)
    if len(content) > LARGEST_FILE:
        abort(413)
    return content


def shown(verification: Verification) -> VerifiedDossier | None:
    """Return those facts about a dossier that may be shown to the visitor, or None without one.

    Who holds the dossier sees its plate, its summary and its link. Who has only the number, which
    may be guessed or quoted anywhere, sees a partly hidden plate.
    """
    dossier = verification.dossier
    if dossier is None:
        return None
    summary, is_holder = summary_of(dossier), verification.by_holder
    plate = summary.plate if summary else ""
    path = url_for("shared.dossier", text=dossier.key) if dossier.key and is_holder else ""
    return VerifiedDossier(
        number=display_number(dossier.number),
        state=dossier.state,
        plate=plate if is_holder else partly_hidden(plate),
        issuer=summary.issuer.name if summary and summary.issuer else "",
        issued_at=utc_time(dossier.issued_at),
        ended_at=utc_time(dossier.ended_at),
        path=path,
        summary=summary if is_holder else None,
        superseded_by=display_number(dossier.superseded_by) if dossier.superseded_by else "",
        newer_path=newer_path(dossier),
    )
