"""Finds the plate or Renavam (registration number) that a mistyped text means.

The search page and the batches (lookups of many vehicles) use this module, so both make the same
suggestion for the same text. The portal looks up a suggestion only after the user accepts it,
because a wrong guess costs money and shows the records of another vehicle.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from portal.vehicle.plate import InvalidSubject, Plate, Renavam

PLATE_LENGTH: Final = 7
RENAVAM_LENGTH: Final = 11
# The lengths of a Renavam in old documents, which omit the leading zeros.
SHORT_RENAVAMS: Final = (9, 10)
# The indexes of the letters and of the digits in a plate. Neither list has index 4, where a plate
# has a letter or a digit.
LETTER_PLACES: Final = (0, 1, 2)
_DIGIT_PLACES: Final = (3, 5, 6)
_LIKE_LETTERS: Final[Mapping[str, str]] = {"0": "O", "1": "I", "5": "S", "8": "B"}
_LIKE_DIGITS: Final[Mapping[str, str]] = {"O": "0", "I": "1", "L": "1", "S": "5", "B": "8"}
# Matches "Renavam nº" before a number ("Renavam nº 798…"), as in a text copied from a document. A
# digit must follow, so "Renavam nº" before a plate does not match.
_LABEL: Final = re.compile(r"\s*renavam[^0-9A-Za-z]*(?:n[^0-9A-Za-z]*)?(?=[0-9])", re.IGNORECASE)


def probable_subject(text: str) -> Plate | Renavam | None:
    """Return the plate or Renavam that ``text`` probably means, or None.

    People confuse letters and digits that look alike, such as O and 0, and omit the leading zeros
    of a Renavam. If ``text`` needs no correction, the result is None.
    """
    signs = typed_signs(text)
    if not signs.isascii():
        return None
    signs = signs.upper()
    if len(signs) == PLATE_LENGTH:
        return _similar_plate(signs)
    if signs.isdecimal() and len(signs) in SHORT_RENAVAMS:
        return _real_renavam(signs.zfill(RENAVAM_LENGTH))
    if len(signs) == RENAVAM_LENGTH and not signs.isdecimal():
        return _real_renavam("".join(_LIKE_DIGITS.get(sign, sign) for sign in signs))
    return None


def typed_signs(text: str) -> str:
    """Return a text's letters and digits, without the word "renavam" before a number."""
    return "".join(c for c in without_label(visible(text)) if c.isalnum())


def visible(text: str) -> str:
    """Remove format characters, such as zero-width characters from chat programs."""
    if text.isascii():
        return text
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def without_label(text: str) -> str:
    """Remove the word "renavam" if the text starts with it and a number follows."""
    return _LABEL.sub("", text, count=1) if _LABEL.match(text) else text


def _similar_plate(signs: str) -> Plate | None:
    meant = list(signs)
    for place in LETTER_PLACES:
        meant[place] = _LIKE_LETTERS.get(meant[place], meant[place])
    for place in _DIGIT_PLACES:
        meant[place] = _LIKE_DIGITS.get(meant[place], meant[place])
    try:
        plate = Plate.parse("".join(meant))
    except InvalidSubject:
        return None
    return None if plate.text == signs else plate


def _real_renavam(digits: str) -> Renavam | None:
    try:
        renavam = Renavam.parse(digits)
    except InvalidSubject:
        return None
    return None if renavam.is_invented else renavam
