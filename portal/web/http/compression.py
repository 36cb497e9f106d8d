"""Gzip compression of HTML responses, which reduces a vehicle's page from 80 kB to 20 kB.

Pages contain a CSRF token, and some repeat user input. In the BREACH attack, an eavesdropper infers
such a token from the lengths of compressed responses. The gzip header therefore contains a file
name of random length, which hides the length of the page. Django's GZipMiddleware does the same.

``Vary`` does not name ``Accept-Encoding``, because ``no-store`` keeps pages out of every cache.
"""

import gzip
import secrets
from io import BytesIO
from typing import Final

from flask import Response, request

MIN_BYTES: Final = 1400  # a smaller body fits into one packet without compression
_LEVEL: Final = 5  # higher levels take twice the time and save only a few per cent
_MAX_PADDING_BYTES: Final = 100


def compress_html(response: Response) -> Response:
    """Compress an HTML body of at least MIN_BYTES if the client accepts gzip."""
    if (
        response.mimetype != "text/html"
        or response.is_streamed
        or "Content-Encoding" in response.headers
        or not request.accept_encodings["gzip"]
    ):
        return response
    body = response.get_data()
    if len(body) >= MIN_BYTES:
        response.set_data(_gzip(body))  # also sets Content-Length
        response.headers["Content-Encoding"] = "gzip"
    return response


def _gzip(body: bytes) -> bytes:
    compressed = BytesIO()
    padding = "p" * (1 + secrets.randbelow(_MAX_PADDING_BYTES))
    with gzip.GzipFile(padding, "wb", _LEVEL, compressed, mtime=0) as writer:
        writer.write(body)
    return compressed.getvalue()
