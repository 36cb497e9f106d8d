"""Who may ask: a credential becomes an Identity, by the portal's mode."""

from typing import Literal

from portal.access.sealing import name_credential
from portal.access.tokens import SCOPES, Identity, Tokens, UnknownToken, digest

Mode = Literal["demo", "managed", "pass-through"]
DEMO_TOKEN = "demo"  # noqa: S105 documented, opens fictitious data alone
_DEMO_DIGEST = digest(DEMO_TOKEN)


class Gatekeeper:
    """Knows the mode: demo and managed check portal tokens, pass-through accepts any credential
    but a portal token and lets the upstream judge. ``secret`` is the portal's, under which it names
    their credentials."""

    def __init__(self, mode: Mode, tokens: Tokens, secret: bytes) -> None:
        self.mode = mode
        self._tokens = tokens
        self._secret = secret

    def admit(self, credential: str) -> Identity:
        """Raises UnknownToken (401), RefusedToken (403) or TokensUnavailable (503)."""
        if self.mode == "pass-through":
            # Also where the operator's upstream token got lost: callers then still send theirs.
            if self._tokens.was_issued(digest(credential)):
                raise UnknownToken
            own = name_credential(self._secret, credential)
            return Identity(f"credential:{own[:12]}", own, SCOPES - {"admin"}, 0, credential)
        return self.admit_digest(digest(credential))

    def admit_digest(self, token_digest: str) -> Identity:
        """The same for a session, which holds a digest alone."""
        if self.mode == "demo" and token_digest == _DEMO_DIGEST:
            return self.visitor()
        return self._tokens.identify(token_digest)

    def visitor(self) -> Identity:
        """Anybody who looks at the demonstration."""
        return Identity(DEMO_TOKEN, _DEMO_DIGEST, SCOPES - {"admin"})
