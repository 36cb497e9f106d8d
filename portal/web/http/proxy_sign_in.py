"""The person whom a trusted proxy names in a header of the request.

Whoever reaches the portal's port can write headers. So the header counts only in a request that
came through as many proxies as are trusted, each of which adds an address to ``X-Forwarded-For``,
and only with the secret that the proxy sends in ``X-Sign-In-Secret``, if there is one.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from portal.access.people import PROXY, Claims

SECRET_HEADER: Final = "X-Sign-In-Secret"  # noqa: S105 its name
LONGEST: Final = 200  # characters of a person's name
MOST_GROUPS: Final = 200


@dataclass(frozen=True, slots=True)
class ProxySignIn:
    """The headers of the proxy. ``hops`` is the number of trusted proxies, at least 1."""

    header: str
    groups_header: str
    hops: int
    secret: str | None = field(default=None, repr=False)

    def person_in(self, environ: Mapping[str, Any]) -> Claims | None:
        """Return the person whom the proxy names, or None if there is none to be believed.

        A name with a comma is refused: a server joins two headers of one name with a comma, so one
        of them may be the client's.
        """
        name = _text(environ.get(_key(self.header), ""))
        is_name = name is not None and 0 < len(name) <= LONGEST and "," not in name
        if not is_name or not self._is_of_the_proxy(environ):
            return None
        groups = _text(environ.get(_key(self.groups_header), "")) or ""
        named = [each.strip() for each in groups.split(",") if each.strip()]
        return Claims(PROXY, name or "", name or "", named[:MOST_GROUPS])

    def _is_of_the_proxy(self, environ: Mapping[str, Any]) -> bool:
        through = str(environ.get("HTTP_X_FORWARDED_FOR", "")).split(",")
        if sum(1 for each in through if each.strip()) < self.hops:
            return False
        if self.secret is None:
            return True
        sent = str(environ.get(_key(SECRET_HEADER), ""))
        return hmac.compare_digest(sent.encode("utf-8", "replace"), self.secret.encode())


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
