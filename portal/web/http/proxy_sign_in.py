"""The person whom a trusted proxy names in a header of the request.

Whoever reaches the portal's port can write headers. So the header counts only in a request that
came through as many proxies as are trusted, each of which adds an address to ``X-Forwarded-For``,
and only with the secret that the proxy sends in ``X-Sign-In-Secret``, if there is one.
"""

import hmac
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from portal.access.people import PROXY, Claims
from portal.system.repeated_warning import RepeatedWarning
from portal.system.sight import SignInRefusal, SignInSeen

SECRET_HEADER: Final = "X-Sign-In-Secret"  # noqa: S105 its name
LONGEST: Final = 200  # characters of a person's name
MOST_GROUPS: Final = 200
# Without anything of the headers: a wrong secret may be the right one of another portal.
_WARNINGS: Final[Mapping[SignInRefusal, str]] = {
    "no secret": f"the request has no {SECRET_HEADER}",
    "other secret": f"its {SECRET_HEADER} is not PORTAL_SIGN_IN_SECRET",
    "proxies": "its X-Forwarded-For names fewer proxies than PORTAL_TRUSTED_PROXIES",
    "name": f"the name has a comma, unreadable letters or more than {LONGEST} characters",
}


class SignInMemory:
    """What became of the last request that named a person. A refusal is a warning in the log."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._warn = RepeatedWarning(logging.getLogger(__name__))
        self._seen: SignInSeen | None = None

    def last(self) -> SignInSeen | None:
        return self._seen

    def remember(self, refusal: SignInRefusal) -> None:
        self._seen = SignInSeen(self._clock(), refusal)
        if refusal:
            self._warn(
                f"a person named by PORTAL_SIGN_IN_HEADER is not let in: {_WARNINGS[refusal]}"
            )


@dataclass(frozen=True, slots=True)
class ProxySignIn:
    """The headers of the proxy. ``hops`` is the number of trusted proxies, at least 1."""

    header: str
    groups_header: str
    hops: int
    secret: str | None = field(default=None, repr=False)
    memory: SignInMemory = field(default_factory=SignInMemory, repr=False, compare=False)

    def person_in(self, environ: Mapping[str, Any]) -> Claims | None:
        """Return the person whom the proxy names, or None if there is none to be believed.

        A name with a comma is refused: a server joins two headers of one name with a comma, so one
        of them may be the client's.
        """
        sent = str(environ.get(_key(self.header), ""))
        if not sent.strip():
            return None  # the header names no person
        name = _text(sent)
        refusal = self._refusal(environ, name)
        self.memory.remember(refusal)
        if name is None or refusal:
            return None
        groups = _text(environ.get(_key(self.groups_header), "")) or ""
        named = [group.strip() for group in groups.split(",") if group.strip()]
        return Claims(PROXY, name, name, named[:MOST_GROUPS])

    def _refusal(self, environ: Mapping[str, Any], name: str | None) -> SignInRefusal:
        through = str(environ.get("HTTP_X_FORWARDED_FOR", "")).split(",")
        if sum(1 for hop in through if hop.strip()) < self.hops:
            return "proxies"
        if self.secret is not None:
            sent = str(environ.get(_key(SECRET_HEADER), ""))
            if not hmac.compare_digest(sent.encode("utf-8", "replace"), self.secret.encode()):
                return "other secret" if sent else "no secret"
        if name is None or not 0 < len(name) <= LONGEST or "," in name:
            return "name"
        return ""


def _key(header: str) -> str:
    return f"HTTP_{header.upper().replace('-', '_')}"


def _text(value: str) -> str | None:
    """Return a header's text, or None if it is no UTF-8 or has control characters.

    WSGI hands the bytes of a header on as Latin-1.
    """
    try:
        text = value.encode("latin-1").decode().strip()
    except UnicodeError:
        return None
    return text if text.isprintable() else None
