"""Gzip compression of responses, which reduces a vehicle's page from 80 kB to 20 kB.

In the BREACH attack, an eavesdropper makes a browser send requests, and infers a secret in the
responses from the lengths of those that repeat the request's input. Pages contain a CSRF token, and
some repeat user input. Their gzip header therefore contains a file name of random length, which
hides the length of the page. Django's GzipMiddleware does the same. Other texts are compressed only
for requests without a cookie, which no browser can be made to send with a credential.
"""

import gzip
import secrets
from functools import lru_cache
from io import BytesIO
from typing import Final

from flask import Response, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

MIN_BYTES: Final = 1400  # a smaller body fits into one packet without compression
_PAGE_LEVEL: Final = 5  # higher levels take twice the time and save only a few per cent
# JSON and tables repeat names. Level 1 reduces them to a sixth, in a third of the time of level 5.
_DATA_LEVEL: Final = 1
_MAX_PADDING_BYTES: Final = 100
_DATA: Final = frozenset(
    {
        *("application/json", "application/problem+json", "application/jsonl"),
        *("application/yaml", "text/csv", "text/markdown", "text/plain", "text/calendar"),
    }
)


def compress(response: Response) -> Response:
    """Compress a text of at least MIN_BYTES if the client accepts gzip.

    A body that is streamed, because it is large, stays as it is.
    """
    is_page = response.mimetype == "text/html"
    if (
        not (is_page or (response.mimetype in _DATA and "Cookie" not in request.headers))
        or response.is_streamed
        or "Content-Encoding" in response.headers
        or not accepts_gzip(request.headers.get("Accept-Encoding", ""))
    ):
        return response
    body = response.get_data()
    if len(body) >= MIN_BYTES:
        response.set_data(_padded(body) if is_page else compressed(body))  # with Content-Length
        response.headers["Content-Encoding"] = "gzip"
    return response


@lru_cache(maxsize=64)
def accepts_gzip(header: str) -> bool:
    """Return whether a header Accept-Encoding allows gzip."""
    return parse_accept_header(header, Accept)["gzip"] > 0


def compressed(body: bytes) -> bytes:
    return gzip.compress(body, _DATA_LEVEL, mtime=0)


def _padded(body: bytes) -> bytes:
    packed = BytesIO()
    padding = "p" * (1 + secrets.randbelow(_MAX_PADDING_BYTES))
    with gzip.GzipFile(padding, "wb", _PAGE_LEVEL, packed, mtime=0) as writer:
        writer.write(body)
    return packed.getvalue()
