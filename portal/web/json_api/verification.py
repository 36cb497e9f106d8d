"""Verifies a dossier's file, or its hash, for programs. No credential is needed."""

import re
from typing import Final

import msgspec
from flask import Response, abort, request
from werkzeug.exceptions import RequestEntityTooLarge

from portal.issued.verification import Verification
from portal.pdf.inspection import LARGEST_FILE, Busy
from portal.presentation.issued.verification import verification_document
from portal.web.http.errors import message_response
from portal.web.json_api.calls import UNKNOWN_PARAMETER
from portal.web.json_api.routes import JsonRoutes, Refusal
from portal.web.routing.responses import LONGEST_NAME
from portal.web.verifications import verify_hash, verify_sent
from portal.web.web import Web
from portal.wording import sanitise_echo

PATH: Final = "/api/v1/dossiers/verify"
INVALID_SHA256: Final = "Em “sha256” vai o SHA-256 do arquivo, 64 algarismos hexadecimais."
NO_FILE: Final = "O corpo deve ser o arquivo PDF."
TOO_LARGE: Final = f"O arquivo passa de {LARGEST_FILE // 2**20} MB."
_SHA256: Final = re.compile(r"[0-9a-fA-F]{64}")
_TYPES: Final = ("application/pdf", "application/octet-stream", "")

routes = JsonRoutes("verification_api")


@routes.get(PATH)
def verify_by_hash(web: Web) -> Response:
    _refuse_unknown({"sha256", "cached"})  # nothing is ever asked, with ``cached`` or without
    if request.args.get("cached", "true") not in ("true", "false"):
        raise Refusal("parameter_invalid")
    texts = request.args.getlist("sha256")
    if len(texts) != 1 or not _SHA256.fullmatch(texts[0]):
        raise Refusal("parameter_invalid", INVALID_SHA256)
    return _answer(verify_hash(web, texts[0]))


@routes.post(PATH)
def verify_file(web: Web) -> Response:
    if request.mimetype not in _TYPES:
        abort(415)
    if (request.content_length or 0) > LARGEST_FILE:
        return message_response("body_too_large", TOO_LARGE)
    _refuse_unknown(set())
    try:
        verification = verify_sent(web, as_form=False)
    except RequestEntityTooLarge:
        return message_response("body_too_large", TOO_LARGE)
    except Busy:
        return message_response("portal_unavailable", retry_after_s=1)
    if verification is None:
        raise Refusal("body_invalid", NO_FILE)
    return _answer(verification)


def _refuse_unknown(known: set[str]) -> None:
    for name in request.args:
        if name not in known:
            shown = sanitise_echo(name, LONGEST_NAME)
            raise Refusal("parameter_unknown", UNKNOWN_PARAMETER.format(shown))


def _answer(verification: Verification) -> Response:
    body = msgspec.json.encode(verification_document(verification))
    return Response(body, 200, content_type="application/json")
