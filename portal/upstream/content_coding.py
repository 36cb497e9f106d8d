"""Decodes the body of a response, and limits the size of the result.

The body alone decides, and not the response's headers, because servers label plain JSON with
content codings that do not exist, and compress a body twice. JSON never begins with the first bytes
of a gzip member.
"""

import gzip
import io
import zlib
from codecs import BOM_UTF8
from typing import Final

from portal.upstream.errors import Unusable
from portal.upstream.http1 import LONGEST_BODY

_GZIP: Final = b"\x1f\x8b"
_MOST_LAYERS: Final = 3


def decoded(body: bytes) -> bytes:
    """Return the body without layers of gzip and without a byte order mark. Raises Unusable.

    A reader may ignore the mark, and a server must not send one (RFC 8259 §8.1). The portal serves
    the decoded body, so it removes the mark.
    """
    for _ in range(_MOST_LAYERS):
        if not body.startswith(_GZIP):
            break
        body = _gunzip(body)
    return body.removeprefix(BOM_UTF8)


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
