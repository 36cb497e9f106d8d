"""Authenticates callers. The portal's mode decides which credentials are valid."""

from portal.access.sealing import name_credential
from portal.access.tokens import SCOPES, Identity, Tokens, UnknownToken, digest
from portal.system.caller_credentials import Mode

DEMO_TOKEN = "demo"  # noqa: S105 not a secret, because it gives access to fictitious data only
_DEMO_DIGEST = digest(DEMO_TOKEN)


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
            keyed = name_credential(self._secret, credential)
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
