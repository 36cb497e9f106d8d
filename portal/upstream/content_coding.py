"""Decompresses the body of a response, and limits the size of the result."""

import gzip
import io
import zlib

import requests

from portal.upstream.errors import Unusable
from portal.upstream.http1 import LONGEST_BODY


def decoded_body(reply: requests.Response) -> bytes:
    """Return the body, decoded from gzip if necessary. Raises Unusable."""
    body = reply.content
    match reply.headers.get("Content-Encoding", "").strip().lower():
        case "" | "identity":
            return body
        case "gzip" | "x-gzip":
            return _gunzip(body)
        case _:
            raise Unusable("unknown content encoding")


def _gunzip(body: bytes) -> bytes:
    """Decompress all members of a gzip body (RFC 1952 §2.2). Raises Unusable.

    Decompression stops after LONGEST_BODY bytes, so that a decompression bomb cannot fill the
    memory.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(body)) as members:
            plain = members.read(LONGEST_BODY + 1)
    except (OSError, EOFError, zlib.error):
        raise Unusable("bad gzip") from None
    if len(plain) > LONGEST_BODY:
        raise Unusable("body too large")
    return plain
