"""Redacts secrets, plates and Renavams (vehicle register numbers) in log texts.

The portal itself logs no plates or tokens. The redaction is for the log lines of libraries and the
texts of exceptions.
"""

import base64
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from portal.wording import DASHES

HIDDEN: Final = "[hidden]"

_PATTERNS: Final = (
    # The values of the query parameter ``at`` (a token) and of credential and cookie headers.
    re.compile(r"(?i)\b(at(?:=|%3D))[^&\s\"'<>]+"),
    re.compile(r"(?i)\b((?:proxy-)?authorization|(?:set-)?cookie)(['\"]?\s*[:=,]\s*)[^\r\n]+"),
    # Issued tokens, digests and encrypted values: 40 or more base64url characters in a row.
    re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{40,}={0,2}"),
    # Plates, and Renavams: 11 digits, sometimes with a dash before the last digit.
    re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{3}(?:-|%2D)?[0-9][A-Za-z0-9][0-9]{2}(?![A-Za-z0-9])"),
    re.compile(rf"(?<![0-9])[0-9]{{10}}(?:[{DASHES}]|%2D|%E2%80%9[0134]|%E2%88%92)?[0-9](?![0-9])"),
)


class Redactor:
    """Hides ``secrets`` and all matches of _PATTERNS in log texts.

    Secrets of fewer than four characters are not hidden.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        encodings = {form for secret in secrets if len(secret) >= 4 for form in _encodings(secret)}
        # A regular expression takes the first alternative that matches. With the secrets "abcd" and
        # "abcdef" in this order, the "ef" would not be hidden. Longer secrets therefore come first.
        words = sorted(encodings, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, words)), re.I) if words else None

    def __call__(self, text: str) -> str:
        if self._secrets is not None:
            text = self._secrets.sub(HIDDEN, text)
        credential, header, *rest = _PATTERNS
        text = credential.sub(rf"\1{HIDDEN}", text)
        text = header.sub(rf"\1\2{HIDDEN}", text)
        for pattern in rest:
            text = pattern.sub(HIDDEN, text)
        return text


def _encodings(secret: str) -> set[str]:
    raw = secret.encode()
    encoded = (base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode())
    return {secret, quote(secret, safe=""), *encoded, *(text.rstrip("=") for text in encoded)}
