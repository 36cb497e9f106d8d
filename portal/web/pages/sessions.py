"""Who is looking at the pages: sessions, signing in and out, and forms that are really ours."""

import hmac
import re
import secrets
from typing import Final, cast
from urllib.parse import urlsplit

from flask import Flask, abort, g, request, session
from flask.sessions import SecureCookieSessionInterface
from werkzeug.exceptions import TooManyRequests

from portal.access import (
    DEMO_TOKEN,
    Gatekeeper,
    Identity,
    RefusedToken,
    TokensUnavailable,
    UnknownToken,
    digest,
    open_text,
    seal_text,
)
from portal.web.http.errors import is_json_path
from portal.web.http.rate_limits import RateLimits, network
from portal.web.http.upload_limits import UploadLimiter

SESSION_S: Final = 12 * 3600
# A browser drops a cookie over 4,096 bytes without a word. Encryption and two rounds of base64
# make a credential nearly twice as long, and the cookie holds more than it.
LONGEST_SEALED: Final = 2000


class DynamicSecureCookies(SecureCookieSessionInterface):
    """Cookies are Secure exactly when the visitor came over TLS."""

    def get_cookie_secure(self, app: Flask) -> bool:  # noqa: ARG002 Flask's
        return request.is_secure


class Sessions:
    """The session holds a token's digest, or in pass-through mode the credential encrypted."""

    def __init__(
        self, gatekeeper: Gatekeeper, secret: bytes, forms: UploadLimiter, namespace: str
    ) -> None:
        self._forms = forms
        self._gatekeeper = gatekeeper
        self._secret = secret
        self._namespace = namespace

    @property
    def is_demo(self) -> bool:
        return self._gatekeeper.mode == "demo"

    @property
    def is_pass_through(self) -> bool:
        return self._gatekeeper.mode == "pass-through"

    def current(self) -> Identity | None:
        """Who is signed in; in the demonstration everybody is a visitor. A revoked token's
        session ends here. Asked once a request: a page that tells of a fault asks nobody again.
        """
        if "identity" not in g:
            g.identity = None
            g.identity = self._identify()
        return cast("Identity | None", g.identity)

    def _identify(self) -> Identity | None:
        try:
            if sealed := session.get("credential"):
                credential = open_text(self._secret, self._namespace, sealed)
                if credential is not None and self.is_pass_through:
                    return self._gatekeeper.admit(credential)
            elif (token_digest := session.get("token")) and not self.is_pass_through:
                return self._gatekeeper.admit_digest(token_digest)
        except (UnknownToken, RefusedToken):
            pass
        if "credential" in session or "token" in session:
            session.clear()
        return self._gatekeeper.visitor() if self.is_demo else None

    @property
    def signed_in(self) -> Identity | None:
        """Who has signed in: in the demonstration a mere visitor has not."""
        if "token" not in session and "credential" not in session:
            return None
        identity = self.current()
        return identity if "token" in session or "credential" in session else None

    @property
    def signed_in_name(self) -> str | None:
        """For the head of a page, which does without it rather than fail, error pages above all."""
        try:
            identity = self.signed_in
        except TokensUnavailable:
            return None
        return None if identity is None else _shown_name(identity)

    @property
    def mark(self) -> str:
        """What tells this person's history from others': the token, or the browser's session."""
        identity = self.signed_in
        # The demonstration's token is everybody's: it tells nobody apart.
        if identity is not None and identity.digest != digest(DEMO_TOKEN):
            return identity.digest
        if "visitor" not in session:
            session["visitor"] = secrets.token_hex(16)
        return str(session["visitor"])

    def sign_in(self, token: str) -> None:
        """Start a session; raises UnknownToken or RefusedToken."""
        self._gatekeeper.admit(token)
        if self.is_pass_through and len(token) > LONGEST_SEALED:
            raise UnknownToken
        session.clear()  # a new session: nothing planted before survives (session fixation)
        if self.is_pass_through:
            session["credential"] = seal_text(self._secret, self._namespace, token)
        else:
            session["token"] = digest(token)

    def sign_out(self) -> None:
        session.clear()

    def csrf_token(self) -> str:
        if "csrf" not in session:
            session["csrf"] = secrets.token_urlsafe(24)
        return str(session["csrf"])

    def check_csrf(self) -> None:
        """A POST to a page carries the session's csrf_token, or it is not our form."""
        if request.method != "POST" or request.routing_exception or is_json_path(request.path):
            return
        # The session first: a body from nowhere is not even read.
        expected = str(session.get("csrf", ""))
        if not expected:
            abort(400)
        with self._forms.reading(network(request.remote_addr)):
            given = request.form.get("csrf_token", "")
        if not hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode()):
            abort(400)


def _shown_name(identity: Identity) -> str:
    return "credencial própria" if identity.credential is not None else identity.name


def local_path(wish: str) -> str:
    """Where to go after signing in: a path of this portal, or the front page."""
    try:
        parts = urlsplit(wish)
    except ValueError:  # as of "//["
        return "/"
    sound = (
        wish.startswith("/")
        and not wish.startswith(("//", "/\\"))
        and not parts.scheme
        and not parts.netloc
        and wish.isprintable()
        and "\\" not in wish
    )
    return wish if sound else "/"


def limit_pages(app: Flask, limits: RateLimits, visitors: Sessions) -> None:
    """Pages about vehicles count towards the limits; the JSON face judges its own order."""

    def judge() -> None:
        if request.blueprint != "vehicle":
            return
        # Visitors of the demonstration share a token, and are told apart by address alone.
        identity = visitors.signed_in
        wait_s = limits.request(request.remote_addr, identity.digest if identity else None)
        if wait_s is not None:
            raise TooManyRequests(retry_after=wait_s)

    app.before_request(judge)


def is_user_initiated() -> bool:
    """Whether this GET is a person's: not a prefetch, not from another site, not a known bot.

    Absent headers count as a person.
    """
    headers = request.headers
    purpose = " ".join(headers.get(name, "") for name in _PURPOSES).lower()
    early = any(word in purpose for word in ("prefetch", "prerender", "preview"))
    foreign = headers.get("Sec-Fetch-Site", "").strip().lower() == "cross-site"
    bot = _BOTS.search(headers.get("User-Agent", "")) is not None
    return request.method in ("GET", "POST") and not (early or foreign or bot)


_PURPOSES: Final = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")
# Programs that read pages unasked. Not the browsers inside Telegram or Pinterest, which carry a
# person, nor Cubot's phones.
_BOTS: Final = re.compile(
    r"(?<!cu)bot|crawl|spider|slurp|preview|facebookexternalhit|facebookcatalog|meta-external"
    r"|whatsapp/|embedly|iframely|slack-imgproxy|ia_archiver|google-read-aloud|googleother"
    r"|google-inspectiontool|mediapartners|apis-google|feedfetcher|bytespider|vkshare|skypeuri",
    re.IGNORECASE,
)
