"""``/verificar`` (verify) checks the number or the link's key of an issued dossier."""

import re
from typing import Final
from urllib.parse import unquote

from flask import Response, request

from portal.presentation.issued.verification import VerificationPage
from portal.vehicle.typed import visible
from portal.web.services.dossiers import find_issued
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
    dossier = find_issued(web, code)
    return VerificationPage(code, dossier.state if dossier else "unknown", dossier)
