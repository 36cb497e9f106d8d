"""Exactly one credential out of a request, or none. Pure."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from portal.system.token_format import is_token


class NoCredential(ValueError):
    """None, more than one, or one that no token can look like: 401."""


def read_credential(headers: Sequence[str], query_string: bytes) -> str:
    """The one token of the Authorization headers and ``at`` parameters; raises NoCredential.

    The same token by header and by query is one; the same place twice is not. A server that
    joins two headers as ``A,B`` and hands a non-ASCII one on as an empty text is covered: a
    token holds no comma, and a present but empty one is no token.
    """
    query = _at(query_string)
    if len(headers) > 1 or len(query) > 1:
        raise NoCredential("the same place twice")
    given = {*headers, *query}
    if len(given) != 1:
        raise NoCredential("none, or two that differ")
    token = given.pop()
    if not is_token(token):
        raise NoCredential("not the form of a token")
    return token


def _at(query_string: bytes) -> list[str]:
    """The values of ``at``, byte for character: what is no ASCII stays none. A lenient UTF-8
    reader would turn ``%FF`` into the three ASCII characters of its own escape."""
    if not query_string:
        return []
    pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return [value for name, value in pairs if name == "at"]
