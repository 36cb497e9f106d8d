"""Reads the one credential of a request."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from portal.system.token_format import is_token


class NoCredential(ValueError):
    """The request has no credential, several, or one not in a token's format: 401."""


def read_credential(headers: Sequence[str], query_string: bytes) -> str:
    """Return the one token of the Authorization headers and ``at`` parameters.

    Raises NoCredential. The same token in a header and in the query counts as one; two headers
    or two parameters are rejected, even with equal values. A server may join two headers as
    ``A,B``, or pass a non-ASCII header on as an empty text. Both are rejected, because a token
    contains no comma and is not empty.
    """
    query = _at(query_string)
    if len(headers) > 1 or len(query) > 1:
        raise NoCredential("two Authorization headers or two at parameters")
    given = {*headers, *query}
    if len(given) != 1:
        raise NoCredential("no credential, or two different ones")
    token = given.pop()
    if not is_token(token):
        raise NoCredential("not in the format of a token")
    return token


def _at(query_string: bytes) -> list[str]:
    """Return the values of ``at``, decoded as Latin-1.

    Each byte becomes one character, so non-ASCII bytes stay non-ASCII. Werkzeug's UTF-8 decoder
    would leave ``%FF`` as these three ASCII characters, which are valid in a token.
    """
    if not query_string:
        return []
    pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return [value for name, value in pairs if name == "at"]
