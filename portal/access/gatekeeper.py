"""Authenticates a credential according to the portal's mode."""

from collections.abc import Callable, Sequence
from typing import Literal

from portal.access.sealing import name_credential
from portal.access.tokens import SCOPES, Identity, Tokens, UnknownToken, digest

Mode = Literal["demo", "managed", "pass-through"]
DEMO_TOKEN = "demo"  # noqa: S105 documented; gives access to fictitious data only
_DEMO_DIGEST = digest(DEMO_TOKEN)
_MOST_RENAMED = 10_000  # names remembered


class Gatekeeper:
    """Turns a credential into an Identity.

    The demo and managed modes check portal tokens. The pass-through mode accepts any credential
    except a portal token and leaves its verification to the upstream. ``secret`` is the portal's
    key; it keys the HMAC that identifies a pass-through credential. ``take_over`` is called with
    such an HMAC under each of the ``former`` keys and the present one, when a caller is first seen.
    """

    def __init__(
        self,
        mode: Mode,
        tokens: Tokens,
        secret: bytes,
        former: Sequence[bytes] = (),
        take_over: Callable[[str, str], object] = lambda _former, _present: None,
    ) -> None:
        self.mode = mode
        self._former = former
        self._take_over = take_over
        self._taken_over: set[str] = set()
        self._tokens = tokens
        self._secret = secret

    def authenticate(self, credential: str) -> Identity:
        """Return the identity of a credential.

        Raises UnknownToken (401), RefusedToken (403) or TokensUnavailable (503).
        """
        if self.mode == "pass-through":
            # A portal token must not go upstream. Callers may still send one if the operator
            # removed the upstream token, which puts the portal in this mode.
            if self._tokens.was_issued(digest(credential)):
                raise UnknownToken
            keyed = name_credential(self._secret, credential)
            if self._former and keyed not in self._taken_over:
                self._rename(credential, keyed)
            return Identity(f"credential:{keyed[:12]}", keyed, SCOPES - {"admin"}, 0, credential)
        return self.authenticate_digest(digest(credential))

    def _rename(self, credential: str, name: str) -> None:
        """Give a caller what is stored under the credential's names of old keys, once a process."""
        if len(self._taken_over) >= _MOST_RENAMED:
            self._taken_over.clear()
        self._taken_over.add(name)
        for key in self._former:
            self._take_over(name_credential(key, credential), name)

    def authenticate_digest(self, token_digest: str) -> Identity:
        """Return the identity of a token's digest; a session stores only the digest."""
        if self.mode == "demo" and token_digest == _DEMO_DIGEST:
            return self.visitor()
        return self._tokens.identify(token_digest)

    def visitor(self) -> Identity:
        """Return the identity that all visitors of the demonstration share."""
        return Identity(DEMO_TOKEN, _DEMO_DIGEST, SCOPES - {"admin"})
