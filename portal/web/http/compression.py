"""HTML leaves as gzip where the visitor takes it: a vehicle's page is 20 kB instead of 80.

Pages carry a CSRF token and some repeat what was typed, so their compressed length could tell an
eavesdropper something about the token (BREACH). A file name of random length in the gzip header
blurs that length, as Django's GZipMiddleware does.

JSON answers are left alone: they are the upstream's bytes. ``Vary`` stays as promised, since
``no-store`` leaves nothing that a cache could mix up.
"""

import gzip
import secrets
from io import BytesIO
from typing import Final

from flask import Flask, Response, request

WORTH_IT_BYTES: Final = 1400  # less fits into one packet as it is
_LEVEL: Final = 5  # beyond it a page shrinks by hundredths and takes twice the time
_MOST_BLUR_BYTES: Final = 100


def register_compression(app: Flask) -> None:
    """Compresses every HTML response that is whole, plain and long enough."""
    app.after_request(compress_html)


def compress_html(response: Response) -> Response:
    """The same response, its body as gzip where that is asked for and helps."""
    if (
        response.mimetype != "text/html"
        or response.is_streamed
        or "Content-Encoding" in response.headers
        or not request.accept_encodings["gzip"]
    ):
        return response
    body = response.get_data()
    if len(body) >= WORTH_IT_BYTES:
        response.set_data(_gzip(body))  # sets Content-Length too
        response.headers["Content-Encoding"] = "gzip"
    return response


def _gzip(body: bytes) -> bytes:
    zipped = BytesIO()
    blur = "p" * (1 + secrets.randbelow(_MOST_BLUR_BYTES))
    with gzip.GzipFile(blur, "wb", _LEVEL, zipped, mtime=0) as writer:
        writer.write(body)
    return zipped.getvalue()
