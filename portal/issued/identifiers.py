"""Creates a dossier's number and share key, and parses typed numbers.

The share key is the random text in the dossier's link.
"""

import re
import secrets
from typing import Final, NamedTuple

# Crockford's base 32, which omits I, L, O and U (https://www.crockford.com/base32.html).
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH: Final = 12
_GROUP: Final = 4
_MISREAD: Final = str.maketrans("OIL", "011", "-")
_NUMBER: Final = re.compile(rf"[{_ALPHABET}]{{{_LENGTH}}}", re.ASCII)
_KEY_BYTES: Final = 16
_KEY: Final = re.compile(r"[A-Za-z0-9_-]{22}", re.ASCII)


class Identifiers(NamedTuple):
    """A dossier's number (60 random bits) and share key (128 random bits).

    ``number`` has no hyphens. ``key`` is URL-safe.
    """

    number: str
    key: str


def new_identifiers() -> Identifiers:
    number = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    return Identifiers(number, secrets.token_urlsafe(_KEY_BYTES))


def parse_number(text: str) -> str | None:
    """Parse a typed dossier number. Return None if the text is not a dossier number.

    Ignores letter case and hyphens. Reads O as 0, and both I and L as 1.
    """
    if not text.isascii():
        return None
    number = text.strip().upper().translate(_MISREAD)
    return number if _NUMBER.fullmatch(number) else None


def display_number(number: str) -> str:
    """Return the number with hyphens, such as ``7F3K-9QMD-2XHA``."""
    return "-".join(number[at : at + _GROUP] for at in range(0, _LENGTH, _GROUP))


def is_share_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None
