"""Normalises a typed or pasted search text, and finds plates in it.

``parse_subject`` decides whether a text is valid. If it rejects the text, this module explains the
error and suggests a correction.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.presentation.paths import subject_path
from portal.vehicle import InvalidPlate, Plate, Renavam, parse_subject
from portal.wording import DASHES, listed

_PLATE_LENGTH: Final = 7
_RENAVAM_LENGTH: Final = 11
_VIN_LENGTH: Final = 17
# Old documents print a Renavam without its leading zeros, in 9 or 10 digits.
_SHORT_RENAVAMS: Final = (9, 10)
# The words in front of the number in "Renavam nº 798…", as copied from a document. A digit must
# follow, so that a plate, which begins with a letter, does not match.
_LABEL: Final = re.compile(r"\s*renavam[^0-9A-Za-z]*(?:n[^0-9A-Za-z]*)?(?=[0-9])", re.IGNORECASE)
_LONGEST_SHOWN: Final = 20
_SHAPE: Final = "Uma placa tem 3 letras e 4 números (ABC1234) ou a forma Mercosul (ABC1D23)."
_RENAVAM_SHAPE: Final = (
    f"Um Renavam são {_RENAVAM_LENGTH} algarismos seguidos, ou com um hífen só antes do último."
)
_SIGNS: Final = "Uma placa só tem letras de A a Z, sem acento, e algarismos."
_VIN: Final = (
    "Parece um chassi, que tem 17 caracteres. A busca é pela placa ou pelo Renavam, que estão no "
    "documento do veículo."
)
_SEPARATORS: Final = str.maketrans("", "", " .·•\t\u00a0\u2009\u202f")
_DASHES: Final = str.maketrans(dict.fromkeys(DASHES, "-"))
# A plate written as one word, inside any text.
_WHOLE_PLATE: Final = re.compile(r"(?<!\w)([A-Za-z]{3})[.-]?([0-9][A-Za-z0-9][0-9]{2})(?!\w)")
# A plate written with a space. This expression also matches other texts such as "ano 2019" (year).
_SPACED_PLATE: Final = re.compile(r"(?<!\w)([A-Za-z]{3})[ .-]{1,3}([0-9][A-Za-z0-9][0-9]{2})(?!\w)")
_WORDS_AMONG_PLATES: Final = re.compile(r"\b(?:placas?|e|ou|ve[ií]culos?|n[º°o]?)\b", re.IGNORECASE)
_LIKE_LETTERS: Final[Mapping[str, str]] = {"0": "O", "1": "I", "5": "S", "8": "B"}
_LIKE_DIGITS: Final[Mapping[str, str]] = {"O": "0", "I": "1", "L": "1", "S": "5", "B": "8"}
_SIGN_WORDS: Final[Mapping[str, str]] = {
    "0": "um zero",
    "1": "o algarismo 1",
    "5": "o algarismo 5",
    "8": "o algarismo 8",
}
_ORDINALS: Final = ("primeiro", "segundo", "terceiro", "quarto", "quinto", "sexto", "sétimo")
_LETTER_PLACES: Final = (0, 1, 2)
_DIGIT_PLACES: Final = (3, 5, 6)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A plate or Renavam that was probably meant. ``reason`` is a sentence that explains why."""

    subject: Plate | Renavam
    reason: str

    @property
    def path(self) -> str:
        return subject_path(self.subject)


def visible(text: str) -> str:
    """Remove format characters, such as the zero-width ones that chat programs add."""
    return "".join(c for c in text if unicodedata.category(c) != "Cf")


def normalise_query(text: str) -> str:
    """Normalise a typed or pasted plate or Renavam.

    Removes invisible format characters, spaces, dots and the word "renavam". Turns every dash into
    a hyphen. Also removes the hyphens if all other characters are digits.
    """
    plain = without_label(visible(text)).translate(_SEPARATORS).translate(_DASHES)
    digits = plain.replace("-", "")
    return digits if digits.isdecimal() else plain


def plates_in(text: str) -> tuple[Plate, ...]:
    """Return the plates in a text, in the order of the text and without duplicates.

    Plates written with a space, as in ``ABC 1D23 e KZZ 9999``, are found only if the text has
    nothing but such plates and the words of _WORDS_AMONG_PLATES, for example ``e`` (and).
    """
    plain = visible(text).translate(_DASHES)
    found = _WHOLE_PLATE.findall(plain)
    if not found:
        rest = _WORDS_AMONG_PLATES.sub("", _SPACED_PLATE.sub("", plain))
        if not any(c.isalnum() for c in rest):
            found = _SPACED_PLATE.findall(plain)
    return tuple(dict.fromkeys(Plate.parse(letters + digits) for letters, digits in found))


def suggestion_for(text: str) -> Suggestion | None:
    """Return the plate or Renavam meant by a text with look-alike characters, such as O for 0."""
    typed = "".join(c for c in without_label(visible(text)) if c.isalnum()).upper()
    if not typed.isascii():
        return None
    if len(typed) == _PLATE_LENGTH:
        return _similar_plate(typed)
    return _similar_renavam(typed) if len(typed) == _RENAVAM_LENGTH else None


def _similar_plate(typed: str) -> Suggestion | None:
    signs = list(typed)
    for place in _LETTER_PLACES:
        signs[place] = _LIKE_LETTERS.get(signs[place], signs[place])
    for place in _DIGIT_PLACES:
        signs[place] = _LIKE_DIGITS.get(signs[place], signs[place])
    changed = [place for place, sign in enumerate(signs) if sign != typed[place]]
    try:
        plate = Plate.parse("".join(signs))
    except InvalidPlate:
        return None
    return Suggestion(plate, _why(typed, changed)) if changed else None


def _why(typed: str, changed: list[int]) -> str:
    if len(changed) > 1:
        return "Há letras e algarismos que parecem trocados."
    (place,) = changed
    ordinal, sign = _ORDINALS[place], typed[place]
    if place in _LETTER_PLACES:
        return (
            f"A placa começa por três letras, e aqui o {ordinal} caractere é {_SIGN_WORDS[sign]}."
        )
    return f"O {ordinal} caractere de uma placa é um algarismo, e aqui é a letra {sign}."


def _similar_renavam(typed: str) -> Suggestion | None:
    digits = "".join(_LIKE_DIGITS.get(sign, sign) for sign in typed)
    letters = [sign for sign in dict.fromkeys(typed) if sign.isalpha()]
    try:
        renavam = parse_subject(digits)
    except InvalidPlate:
        return None
    if not letters or not isinstance(renavam, Renavam) or renavam.is_invented:
        return None
    return Suggestion(renavam, f"Um Renavam só tem algarismos, e aqui há {listed(letters)}.")


def without_label(text: str) -> str:
    """Remove the word "renavam" if the text starts with it and a number follows."""
    return _LABEL.sub("", text, count=1) if _LABEL.match(text) else text


def padded_renavam(text: str) -> str:
    """Add leading zeros to a Renavam of nine or ten digits. Return "" for any other text."""
    digits = "".join(c for c in without_label(visible(text)) if c.isalnum())
    if not (digits.isascii() and digits.isdecimal() and len(digits) in _SHORT_RENAVAMS):
        return ""
    return digits.zfill(_RENAVAM_LENGTH) if digits.strip("0") else ""


def what_is_wrong(text: str) -> str:
    """Explain why a text is no plate or Renavam, or return "" if it has no letter or digit."""
    typed = "".join(c for c in without_label(visible(text)) if c.isalnum())
    count = len(typed)
    if not typed:
        return ""
    if not typed.isascii():
        return _SIGNS
    if count == _VIN_LENGTH and not typed.isdecimal() and not typed.isalpha():
        return _VIN
    if typed.isdecimal() and not typed.strip("0"):
        return "Um Renavam só de zeros não existe."
    if typed.isdecimal() and count == _RENAVAM_LENGTH:
        return _RENAVAM_SHAPE
    if typed.isdecimal():
        old = " Documentos antigos omitem os zeros da frente." * (count in _SHORT_RENAVAMS)
        return f"Um Renavam tem {_RENAVAM_LENGTH} algarismos; aqui há {count}.{old}"
    if count < _PLATE_LENGTH:
        return f"“{typed}” tem {count} dos {_PLATE_LENGTH} caracteres de uma placa."
    if count > _PLATE_LENGTH:
        shown = typed if count <= _LONGEST_SHOWN else f"{typed[:_LONGEST_SHOWN]}…"
        return f"“{shown}” tem {count} caracteres; uma placa tem {_PLATE_LENGTH}."
    return _SHAPE
