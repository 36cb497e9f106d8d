"""Gzip compression of HTML responses: a vehicle's page is 20 kB instead of 80.

Pages contain a CSRF token and some echo user input, so the compressed length could leak parts of
the token to an eavesdropper (BREACH). A file name of random length in the gzip header pads that
length, as Django's GZipMiddleware does.

JSON responses are not compressed, because they are the upstream's bytes. ``Vary`` does not name
``Accept-Encoding``, because with ``no-store`` no cache can serve the wrong encoding.
"""

import gzip
import secrets
from io import BytesIO
from typing import Final

from flask import Flask, Response, request

MIN_BYTES: Final = 1400  # a smaller body fits into one packet uncompressed
_LEVEL: Final = 5  # higher levels save only hundredths of the size and take twice the time
_MAX_PADDING_BYTES: Final = 100


def register_compression(app: Flask) -> None:
    """Compress HTML responses that are long enough, not streamed and not encoded."""
    app.after_request(compress_html)


def compress_html(response: Response) -> Response:
    """Compress the body if the client accepts gzip and the body is long enough."""
    if (
        response.mimetype != "text/html"
        or response.is_streamed
        or "Content-Encoding" in response.headers
        or not request.accept_encodings["gzip"]
    ):
        return response
    body = response.get_data()
    if len(body) >= MIN_BYTES:
        response.set_data(_gzip(body))  # sets Content-Length too
        response.headers["Content-Encoding"] = "gzip"
    return response


def _gzip(body: bytes) -> bytes:
    compressed = BytesIO()
    padding = "p" * (1 + secrets.randbelow(_MAX_PADDING_BYTES))
    with gzip.GzipFile(padding, "wb", _LEVEL, compressed, mtime=0) as writer:
        writer.write(body)
    return compressed.getvalue()
