"""The company's OpenID Connect provider: addresses, keys, sign-in, refresh, end of session."""

import base64
import hashlib
import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit

from portal.access.people import Claims, Confirmed, NotConfirmed, ProviderAway
from portal.oidc.exchange import Exchange
from portal.oidc.id_token import ALGORITHMS, ForgedToken, check_claims, read_claims, read_keys
from portal.system.repeated_warning import RepeatedWarning

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

METADATA_S: Final = 3600.0
KEYS_S: Final = 3600.0
# Seconds between two readings of the keys because of a token that none of them has signed.
KEYS_AGAIN_S: Final = 20.0
MOST_GROUPS: Final = 500
_NAMES: Final = ("preferred_username", "email", "name", "sub")
_warn = RepeatedWarning(logging.getLogger(__name__))


class SignInFailed(Exception):
    """The provider's answer does not sign anyone in."""


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of a sign-in: where the browser goes, and what its session keeps."""

    url: str
    state: str
    nonce: str
    verifier: str = field(repr=False)


class OidcProvider:
    """A provider with one issuer, and this portal as its client.

    Its addresses are read when they are first needed, so that the portal starts without it.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str,
        groups_claim: str,
        *,
        exchange: Exchange | None = None,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._groups_claim = groups_claim
        self._exchange = exchange or Exchange()
        self._clock = clock
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._metadata: tuple[float, dict[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None

    # Sign-in

    def start(self, redirect_uri: str, *, again: bool = False) -> Start:
        """Begin a sign-in. ``again`` asks the person to prove who they are. Raises ProviderAway."""
        metadata = self.metadata()
        state, nonce = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        verifier = secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
        scopes = ["openid", "profile", "email"]
        offered = metadata.get("scopes_supported")
        for name in ("groups", "offline_access"):
            if isinstance(offered, list) and name in offered:
                scopes.append(name)
        query = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": " ".join(scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge.decode().rstrip("="),
            "code_challenge_method": "S256",
            **({"prompt": "login"} if again else {}),
        }
        return Start(_with_query(metadata["authorization_endpoint"], query), state, nonce, verifier)

    def finish(
        self, code: str, *, issuer: str | None, nonce: str, verifier: str, redirect_uri: str
    ) -> Confirmed:
        """Exchange the code of a sign-in. ``issuer`` is that of the response (RFC 9207), if any.

        Raises SignInFailed or ProviderAway.
        """
        metadata = self.metadata()
        is_named = metadata.get("authorization_response_iss_parameter_supported") is True
        if issuer != self.issuer and (issuer is not None or is_named):
            raise SignInFailed
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        status, answer = self._token_request(metadata, form)
        token = answer.get("id_token")
        if status != 200 or not isinstance(token, str):
            raise SignInFailed
        try:
            claims = self._checked(token, nonce=nonce)
        except ForgedToken:
            raise SignInFailed from None
        return self._confirmed(metadata, claims, answer)

    def confirm(self, refresh_token: str, subject: str) -> Confirmed:
        """Ask whether a person may still sign in. Raises NotConfirmed or ProviderAway."""
        metadata = self.metadata()
        form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
        status, answer = self._token_request(metadata, form)
        if status == 400 and answer.get("error") == "invalid_grant":
            raise NotConfirmed
        if status != 200:
            _warn(f"the provider refused to refresh a sign-in: status {status}")
            raise ProviderAway
        claims: Mapping[str, Any] = {"sub": subject}
        if isinstance(token := answer.get("id_token"), str):
            try:
                claims = self._checked(token, subject=subject)
            except ForgedToken:
                raise NotConfirmed from None
        try:
            return self._confirmed(metadata, claims, answer)
        except SignInFailed:
            raise ProviderAway from None

    def end_session_url(self, back: str) -> str | None:
        """Return where a person ends the provider's session, or None. Raises ProviderAway."""
        endpoint = self.metadata().get("end_session_endpoint")
        if not isinstance(endpoint, str) or not self._is_safe(endpoint):
            return None
        query = {"client_id": self._client_id, "post_logout_redirect_uri": back}
        return _with_query(endpoint, query)

    # What the provider says of itself

    def metadata(self) -> dict[str, Any]:
        """Return the provider's description. Raises ProviderAway.

        A description that is of another issuer, or has an address without TLS, counts as none.
        """
        known = self._metadata
        if known is not None and self._monotonic() - known[0] < METADATA_S:
            return known[1]
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        status, found = self._exchange.get(url)
        needed = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        if status != 200 or found.get("issuer") != self.issuer:
            _warn("the provider's description is missing, or names another issuer")
            raise ProviderAway
        if not all(self._is_safe(found.get(name)) for name in needed):
            _warn("the provider's description lacks an https:// address")
            raise ProviderAway
        self._metadata = self._monotonic(), found
        return found

    def _is_safe(self, url: object) -> bool:
        """Return whether an address has TLS, or is of a provider without it on this machine."""
        if not isinstance(url, str):
            return False
        own, parts = urlsplit(self.issuer), urlsplit(url)
        return parts.scheme == "https" or (parts.scheme, parts.hostname) == ("http", own.hostname)

    def _signing_keys(self, *, again: bool = False) -> "KeySet | None":
        """Return the provider's keys. With ``again``, read them anew, or None if it is too soon."""
        with self._lock:
            known, now = self._keys, self._monotonic()
            if known is not None:
                age_s = now - known[0]
                if age_s < KEYS_S and not again:
                    return known[1]
                if again and age_s < KEYS_AGAIN_S:
                    return None
            status, document = self._exchange.get(self.metadata()["jwks_uri"])
            if status != 200:
                raise ProviderAway
            keys = read_keys(document)
            self._keys = now, keys
            return keys

    def _checked(
        self, token: str, *, nonce: str | None = None, subject: str | None = None
    ) -> dict[str, Any]:
        """Return the claims of an ID token. The provider may have changed its keys.

        Raises ForgedToken or ProviderAway.
        """
        offered = self.metadata().get("id_token_signing_alg_values_supported")
        allowed = {str(each) for each in offered} if isinstance(offered, list) else ALGORITHMS
        keys = self._signing_keys()
        try:
            if keys is None:
                raise ForgedToken
            claims = read_claims(token, keys, allowed)
        except ForgedToken:
            keys = self._signing_keys(again=True)
            if keys is None:
                raise
            claims = read_claims(token, keys, allowed)
        check_claims(
            claims,
            issuer=self.issuer,
            client_id=self._client_id,
            now=self._clock(),
            nonce=nonce,
            subject=subject,
        )
        return claims

    def _token_request(
        self, metadata: Mapping[str, Any], form: Mapping[str, str]
    ) -> tuple[int, dict[str, Any]]:
        methods = metadata.get("token_endpoint_auth_methods_supported")
        sent, headers = dict(form), {}
        if isinstance(methods, list) and "client_secret_basic" not in methods:
            sent |= {"client_id": self._client_id, "client_secret": self._client_secret}
        else:  # RFC 6749, section 2.3.1
            pair = f"{quote(self._client_id, safe='')}:{quote(self._client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return self._exchange.post(metadata["token_endpoint"], urlencode(sent), headers)

    def _confirmed(
        self, metadata: Mapping[str, Any], claims: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> Confirmed:
        """Return whom the claims are of. Groups that they lack are asked for.

        Raises SignInFailed or ProviderAway.
        """
        found, endpoint = dict(claims), metadata.get("userinfo_endpoint")
        access_token = answer.get("access_token")
        if self._groups_claim not in found:
            if not self._is_safe(endpoint) or not isinstance(access_token, str):
                if "iss" not in found:  # neither a new ID token, nor a way to ask
                    raise SignInFailed
            else:
                headers = {"Authorization": f"Bearer {access_token}"}
                status, more = self._exchange.get(str(endpoint), headers)
                if status != 200 or more.get("sub") != found["sub"]:
                    raise SignInFailed
                found = {**more, **found}
        name = next(each for each in map(found.get, _NAMES) if isinstance(each, str) and each)
        groups = found.get(self._groups_claim)
        listed = groups if isinstance(groups, list) else [groups]
        named = [each for each in listed if isinstance(each, str)]
        refresh_token = answer.get("refresh_token")
        return Confirmed(
            Claims(self.issuer, found["sub"], name, named[:MOST_GROUPS]),
            refresh_token if isinstance(refresh_token, str) else None,
        )


def _with_query(url: str, query: Mapping[str, str]) -> str:
    return f"{url}{'&' if urlsplit(url).query else '?'}{urlencode(query)}"
