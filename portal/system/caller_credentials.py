"""Who pays for upstream calls, and the tokens that say who calls, as requests send them."""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import parse_qsl

# Who pays for upstream calls. "demo": nobody, because a simulated upstream inside the portal
# answers lookups. "managed": the operator's token. "pass-through": the caller's own credential.
Mode = Literal["demo", "managed", "pass-through"]
MAX_LENGTH = 4096


class NoCredential(ValueError):
    """The request has no credential, two credentials or a malformed credential. Status 401."""


def is_token(text: str) -> bool:
    """Return whether a text is 1 to 4,096 printable ASCII characters without spaces and commas.

    A header value with a scheme, such as "Bearer abc", is therefore not a token.
    """
    return (
        0 < len(text) <= MAX_LENGTH
        and text.isascii()
        and text.isprintable()
        and " " not in text
        and "," not in text
    )


def read_credential(headers: Sequence[str], query_string: bytes) -> str:
    """Return the token from the Authorization header or the query parameter ``at``.

    Raises NoCredential. A request may send the same token in the header and in the query. Two
    Authorization headers or two ``at`` parameters are rejected, even with equal values. A WSGI
    server may join two headers to the value ``A,B``, or replace a non-ASCII value by "".
    ``is_token`` rejects ``A,B`` and "".
    """
    query = _at(query_string) if query_string else []
    if len(headers) > 1 or len(query) > 1:
        raise NoCredential("two Authorization headers or two at parameters")
    given = {*headers, *query}
    if len(given) != 1:
        raise NoCredential("no credential, or two different ones")
    token = given.pop()
    if not is_token(token):
        raise NoCredential("not in the format of a token")
    return token


def sends_credential(headers: Sequence[str], query_string: bytes) -> bool:
    """Return whether a request sends any credential, valid or not."""
    return bool(headers or (query_string and _at(query_string)))


def _at(query_string: bytes) -> list[str]:
    """Return the values of the query parameter ``at``, decoded as Latin-1.

    Latin-1 decodes each non-ASCII byte to a non-ASCII character, which ``is_token`` rejects.
    Werkzeug's UTF-8 decoder would leave ``%FF`` as it is, and ``is_token`` accepts these three
    ASCII characters.
    """
    pairs = parse_qsl(query_string.decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    return [value for name, value in pairs if name == "at"]
