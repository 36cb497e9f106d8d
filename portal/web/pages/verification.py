"""The page that verifies a dossier by its number, its QR code, its file, or the file's hash."""

import re
from typing import Final
from urllib.parse import unquote

from flask import Response, request
from werkzeug.exceptions import ServiceUnavailable

from portal.issued.verification import Verification
from portal.pdf.inspection import Busy
from portal.presentation.issued.verification import VerificationPage
from portal.vehicle.typed import visible
from portal.web.routing.responses import page_response
from portal.web.routing.routes import Routes
from portal.web.verifications import shown, verify_code, verify_hash, verify_sent
from portal.web.web import Web
from portal.wording import is_shown, with_hyphens

MAX_CODE_LENGTH: Final = 1000
_CODE_IN_AN_ADDRESS: Final = re.compile(r".*codigo=([^&#]*)", re.IGNORECASE)
# A number after words, or before a full stop: "Dossiê nº 7F3K-9QMD-2XHA."
_NUMBER_AFTER_WORDS: Final = re.compile(r"(?:.*[\s:º°])?(\w{4}-\w{4}-\w{4})[\s.,;:!)]*", re.DOTALL)
_DOSSIER_IN_AN_ADDRESS: Final = re.compile(r".*/(?:d|dossie)/([A-Za-z0-9_-]+)")
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")

routes = Routes("verification")


@routes.get("/verificar")
def verify(web: Web) -> Response:
    sha256 = request.args.get("sha256", "")
    if _SHA256.fullmatch(sha256):
        return _page(verify_hash(web, sha256), of_file=True)
    code = extract_code(request.args.get("codigo", ""))
    if not code:
        return page_response(VerificationPage())
    return _page(verify_code(web, code), code)


@routes.post("/verificar")
def verify_file(web: Web) -> Response:
    """Verify a sent file. The form needs no csrf_token, because it changes nothing."""
    try:
        verification = verify_sent(web, as_form=True)
    except Busy:
        raise ServiceUnavailable(retry_after=1) from None
    if verification is None:
        return page_response(VerificationPage(wants_file=True), 400)
    return _page(verification, of_file=True)


def _page(verification: Verification, code: str = "", *, of_file: bool = False) -> Response:
    page = VerificationPage(code, verification, shown(verification), of_file)
    return page_response(page)


def extract_code(text: str) -> str:
    """Return the code, number or link key in a pasted text, without invisible characters.

    The text may also be a URL, for example the URL in a QR code, or a shared link.
    """
    if number := _NUMBER_AFTER_WORDS.fullmatch(with_hyphens(visible(text))):
        return number[1]
    plain = "".join(c for c in text if is_shown(c) and not c.isspace())
    address = _CODE_IN_AN_ADDRESS.match(plain) or _DOSSIER_IN_AN_ADDRESS.match(plain)
    code = unquote(address[1]) if address else plain
    return with_hyphens(code)[:MAX_CODE_LENGTH]
