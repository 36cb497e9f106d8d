"""Page sessions: sign-in, sign-out and CSRF checks."""

import hmac
import math
import secrets
import time
from collections.abc import Callable
from typing import Final, cast

from flask import Flask, Request, abort, g, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface

from portal.access.sealing import SubjectKeys
from portal.access.tokens import (
    DEMO_TOKEN,
    Gatekeeper,
    Identity,
    RefusedToken,
    TokensUnavailable,
    UnknownToken,
    digest,
)
from portal.web.http.company import SESSION_KEY, Company
from portal.web.http.errors import is_json_path
from portal.web.http.rate_limits import network
from portal.web.http.slot_limits import SlotLimiter

# An operator may issue and revoke tokens for this many seconds after signing in, or after entering
# the token of the session again.
FRESH_SIGN_IN_S: Final = 600
# The blueprint of shared dossiers, whose pages read no session and set no cookie.
SHARED: Final = "shared"
SHARED_CALENDAR: Final = "calendars"
# The routes whose path has the credential. They read no session.
WITHOUT_SESSION: Final = frozenset({SHARED, SHARED_CALENDAR})
# The endpoint that reads a sent file, changes nothing, and reads no session.
CHANGES_NOTHING: Final = frozenset({"verification.verify_file", "statement.check"})
# Browsers silently drop cookies over 4,096 bytes. Encryption and two rounds of base64 nearly double
# the length of a credential, and the cookie has other content.
MAX_CREDENTIAL_LENGTH: Final = 2000
_PURPOSE: Final = "purpose"
# What a session has after a sign-in with a token, a credential, or at the company's provider.
_SIGN_INS: Final = ("token", "credential", SESSION_KEY)


class DynamicSecureCookies(SecureCookieSessionInterface):
    """Gives the session cookie the attribute Secure only if the request used TLS."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if self.get_cookie_name(app) not in request.cookies:  # API clients send no cookie
            return self.session_class()
        return super().open_session(app, request)

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 Flask's signature
        return request.is_secure


class Sessions:
    """The sessions of visitors, in signed cookies.

    A cookie contains the digest of the visitor's token. In pass-through mode, a visitor signs in
    with an upstream credential instead, and the cookie contains the encrypted credential. A person
    of the ``company`` signs in at its provider, or is named by its proxy in each request. The proxy
    counts before a cookie, because it knows who sits at the browser.
    """

    def __init__(
        self,
        gatekeeper: Gatekeeper,
        keys: SubjectKeys,
        forms: SlotLimiter,
        clock: Callable[[], float] = time.time,
        company: Company | None = None,
    ) -> None:
        self._clock = clock
        self._company = company
        self._forms = forms
        self._gatekeeper = gatekeeper
        self._keys = keys
        # A browser sends a cookie to every port of a host, so portals on one host may receive each
        # other's cookies. None can decrypt a credential for another upstream.
        self._purpose = f"session|{keys.namespace}".encode()

    @property
    def is_demo(self) -> bool:
        return self._gatekeeper.mode == "demo"

    @property
    def is_pass_through(self) -> bool:
        return self._gatekeeper.mode == "pass-through"

    def current(self) -> Identity | None:
        """Return the signed-in identity, else the demo identity in demo mode, else None.

        If the session's token was revoked or has expired, this method clears the session. The
        result is cached during the request. After a database error, a second call returns None, so
        that the error page does not query the database again.
        """
        if "identity" not in g:
            g.identity = None
            g.identity = self._identify()
        return cast("Identity | None", g.identity)

    def _identify(self) -> Identity | None:
        if self._company is not None and (person := self._company.met()) is not None:
            g.by_proxy = True
            return person
        try:
            if SESSION_KEY in session:
                if self._company is not None:
                    return self._company.of_session()
            elif sealed := session.get("credential"):
                credential = self._keys.decrypt(self._purpose, sealed.encode())
                if credential is not None and self.is_pass_through:
                    return self._gatekeeper.authenticate(credential.decode())
            elif (token_digest := session.get("token")) and not self.is_pass_through:
                return self._gatekeeper.authenticate_digest(token_digest)
        except (UnknownToken, RefusedToken):
            pass
        if self._has_sign_in:
            session.clear()
        return self._gatekeeper.visitor() if self.is_demo else None

    @property
    def signed_in(self) -> Identity | None:
        """The identity that has signed in, or None.

        Unlike ``current``, this property is None for a demo visitor who has not signed in.
        """
        if not self.is_sent:
            return None
        identity = self.current()
        return identity if self._has_sign_in or self.is_by_proxy else None

    @property
    def _has_sign_in(self) -> bool:
        return any(sign_in in session for sign_in in _SIGN_INS)

    @property
    def is_by_proxy(self) -> bool:
        """Whether the proxy has named the person who has signed in."""
        self.current()
        return bool(g.get("by_proxy"))

    @property
    def is_at_provider(self) -> bool:
        """Whether the session began at the company's provider."""
        return SESSION_KEY in session

    @property
    def is_sent(self) -> bool:
        """Whether the request has a sign-in, by its cookie or by the proxy."""
        return self._has_sign_in or (self._company is not None and self._company.named is not None)

    @property
    def signed_in_if_known(self) -> Identity | None:
        """``signed_in``, but None while the token database is unavailable.

        The portal can then still render error pages.
        """
        try:
            return self.signed_in
        except TokensUnavailable:
            return None

    @property
    def history_key(self) -> str:
        """The key of the visitor's history: the token's owner, or a random id in the session.

        In demo mode, this property renews the cookie and makes the session permanent, so that a
        returning visitor finds their batches. In the other modes, a new sign-in with a token of
        the same owner gives the same key.
        """
        identity = self.signed_in
        # The demo token is public, so its digest does not identify a visitor.
        if identity is not None and identity.digest != digest(DEMO_TOKEN):
            return identity.owner
        if "visitor" not in session:
            session["visitor"] = secrets.token_hex(16)
        if self.is_demo:
            session.permanent = True
        return str(session["visitor"])

    @property
    def known_history_key(self) -> str:
        """``history_key``, or "" for a demo visitor who has none yet."""
        identity = self.signed_in
        if identity is not None and identity.digest != digest(DEMO_TOKEN):
            return identity.owner
        return str(session.get("visitor", ""))

    def is_too_long(self, token: str) -> bool:
        """Return whether a session's cookie cannot hold an upstream credential."""
        return self.is_pass_through and len(token) > MAX_CREDENTIAL_LENGTH

    def sign_in(self, token: str) -> None:
        """Start a session. Raises UnknownToken or RefusedToken."""
        self._gatekeeper.authenticate(token)
        session.clear()  # prevents session fixation
        self.forget_identity()
        if self.is_pass_through:
            session["credential"] = self._keys.encrypt(self._purpose, token.encode()).decode()
        else:
            session["token"] = digest(token)
            session["entered_at"] = int(self._clock())

    @property
    def is_fresh(self) -> bool:
        """Whether the sign-in is recent. A person whom the proxy names has just signed in."""
        if self.is_by_proxy:
            return True
        elapsed_s = self._clock() - float(session.get("entered_at", -math.inf))
        return 0 <= elapsed_s <= FRESH_SIGN_IN_S

    def enter_again(self, token: str) -> bool:
        """Return whether ``token`` is the token of this session. If so, renew the sign-in."""
        own = str(session.get("token", ""))
        if not hmac.compare_digest(digest(token), own):
            return False
        session["entered_at"] = int(self._clock())
        return True

    @property
    def purpose(self) -> str:
        """The purpose that the visitor picked after this sign-in, or ""."""
        identity = self.signed_in
        owner, purpose = session.get(_PURPOSE, ("", ""))
        return str(purpose) if identity is not None and owner == identity.owner else ""

    def pick(self, purpose: str) -> None:
        """Keep the purpose of the session's lookups. Nothing is kept without a sign-in."""
        if (identity := self.signed_in) is not None:
            session[_PURPOSE] = (identity.owner, purpose)

    def sign_out(self) -> None:
        if self._company is not None:
            self._company.leave()
        session.clear()
        self.forget_identity()

    def forget_identity(self) -> None:
        """Let the rest of the request read who has signed in again."""
        for name in ("identity", "by_proxy"):
            g.pop(name, None)

    def csrf_token(self) -> str:
        if "csrf" not in session:
            session["csrf"] = secrets.token_urlsafe(24)
        return str(session["csrf"])

    def check_csrf(self) -> None:
        """Abort a POST with 400 if a page's form does not contain the session's ``csrf_token``."""
        if request.routing_exception or is_json_path(request.path):
            return
        if request.endpoint in CHANGES_NOTHING:
            return
        # Check the session before the form, so that the portal does not read the body of a request
        # without a session.
        expected = str(session.get("csrf", ""))
        if not expected:
            abort(400)
        with self._forms.slot(network(request.remote_addr)):
            token = request.form.get("csrf_token", "")
        if not hmac.compare_digest(token.encode("utf-8", "replace"), expected.encode()):
            abort(400)


def local_path(path: str) -> str:
    """Return ``path`` if a redirect to it stays on this portal, else "/"."""
    # A browser drops control characters, and reads a backslash as a slash.
    is_plain = path.isprintable() and "\\" not in path
    return path if is_plain and path.startswith("/") and not path.startswith("//") else "/"
