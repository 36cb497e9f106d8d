"""Authenticates callers. The portal's mode decides which credentials are valid.

A credential is read from the Authorization header or the query string.
"""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from portal.access.sealing import keyed_hash
from portal.access.tokens import SCOPES, Identity, Tokens, UnknownToken, digest
from portal.system.caller_credentials import Mode, is_token

DEMO_TOKEN = "demo"  # noqa: S105 not a secret, because it gives access to fictitious data only
_DEMO_DIGEST = digest(DEMO_TOKEN)


class NoCredential(ValueError):
    """The request has no credential, two credentials or a malformed credential. Status 401."""


class Gatekeeper:
    """Turns a credential into an Identity.

    In demo and managed mode, a credential is a token that the portal knows. In pass-through mode,
    the portal sends the credential to the upstream, and the upstream verifies the credential. In
    this mode, the portal rejects only its own tokens, which must not be sent to the upstream.

    In pass-through mode, a caller's data is stored under an HMAC of the credential. ``secret`` is
    the key of this HMAC.
    """

    def __init__(self, mode: Mode, tokens: Tokens, secret: bytes) -> None:
        self.mode = mode
        self._tokens = tokens
        self._secret = secret

    def authenticate(self, credential: str) -> Identity:
        """Return the identity of a credential.

        Raises UnknownToken (401), RefusedToken (403) or TokensUnavailable (503).
        """
        if self.mode == "pass-through":
            # An issued token must not be sent upstream. After the operator has switched from
            # managed to pass-through mode, callers may still send issued tokens.
            if self._tokens.was_issued(digest(credential)):
                raise UnknownToken
            keyed = keyed_hash(self._secret, b"credential", credential.encode())
            return Identity(f"credential:{keyed[:12]}", keyed, SCOPES - {"admin"}, 0, credential)
        return self.authenticate_digest(digest(credential))

    def authenticate_digest(self, token_digest: str) -> Identity:
        """Return the identity of the token with this digest.

        Requests of a browser session use this method, because a session stores no token, but only
        the token's digest.
        """
        if self.mode == "demo" and token_digest == _DEMO_DIGEST:
            return self.visitor()
        return self._tokens.identify(token_digest)

    def visitor(self) -> Identity:
        """Return the identity that all visitors of the demo mode share."""
        return Identity(DEMO_TOKEN, _DEMO_DIGEST, SCOPES - {"admin"})


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
