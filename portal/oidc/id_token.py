"""What a provider's ID token must be, so that its claims count (OpenID Connect Core 3.1.3.7)."""

import hmac
import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

# Signatures with a key pair. "none" is no signature, and with HS256 the client's secret would sign.
ALGORITHMS: Final = frozenset(
    {
        *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
        *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
    }
)
LEEWAY_S: Final = 60.0  # by which the clocks of portal and provider may differ
LONGEST_TOKEN: Final = 64_000
LONGEST_SUBJECT: Final = 255  # OpenID Connect Core 2


class ForgedToken(Exception):
    """The ID token is not of the provider, or not for this portal or this sign-in."""


def read_keys(document: Mapping[str, Any]) -> "KeySet":
    """Return the provider's keys for signatures. Keys that cannot be read are left out."""
    from joserfc.errors import JoseError  # imported late, because the package is optional
    from joserfc.jwk import ECKey, KeySet, OKPKey, RSAKey

    kinds: dict[str, Any] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
    found = []
    listed = document.get("keys")
    for each in listed if isinstance(listed, list) else ():
        if not isinstance(each, dict) or each.get("use", "sig") != "sig":
            continue
        kind = kinds.get(str(each.get("kty")))
        try:
            found += [kind.import_key(each)] if kind else []
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return KeySet(found)


def read_claims(
    token: str, keys: "KeySet", allowed: Collection[str] = ALGORITHMS
) -> dict[str, Any]:
    """Return the claims of a token that one of the keys has signed. Raises ForgedToken."""
    from joserfc import jwt
    from joserfc.errors import JoseError

    if len(token) > LONGEST_TOKEN:
        raise ForgedToken
    try:
        claims = jwt.decode(token, keys, algorithms=sorted(ALGORITHMS & set(allowed))).claims
    except (JoseError, ValueError, TypeError, KeyError, RecursionError):
        raise ForgedToken from None
    if not isinstance(claims, dict):
        raise ForgedToken
    return claims


def check_claims(
    claims: Mapping[str, Any],
    *,
    issuer: str,
    client_id: str,
    now: float,
    nonce: str | None = None,
    subject: str | None = None,
) -> None:
    """Raise ForgedToken unless the claims are of the issuer, for the client, and of now.

    ``nonce`` is that of the sign-in. A refreshed token has none, but the ``subject`` of the first.
    """
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience
    is_listed = isinstance(audiences, list) and client_id in audiences
    is_own_party = claims.get("azp", client_id) == client_id
    if isinstance(audiences, list) and len(audiences) > 1 and "azp" not in claims:
        is_own_party = False
    ends_at, issued_at = _seconds(claims.get("exp")), _seconds(claims.get("iat"))
    begins_at = _seconds(claims.get("nbf", 0))
    is_of_now = ends_at + LEEWAY_S > now >= max(issued_at, begins_at) - LEEWAY_S
    found = claims.get("sub")
    is_subject = isinstance(found, str) and 0 < len(found) <= LONGEST_SUBJECT
    sent = claims.get("nonce")
    is_of_sign_in = nonce is None or (
        isinstance(sent, str) and hmac.compare_digest(sent.encode(), nonce.encode())
    )
    if (
        claims.get("iss") != issuer
        or not (is_listed and is_own_party and is_of_now and is_subject and is_of_sign_in)
        or (subject is not None and found != subject)
    ):
        raise ForgedToken


def _seconds(value: object) -> float:
    """Return a time, or NaN, which compares as false, for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value)
