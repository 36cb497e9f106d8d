"""Normalises a typed or pasted search text, and finds plates in it.

If a text is not a valid plate or Renavam (registration number), this module explains the error, and
suggests the plate or Renavam that was probably meant.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.presentation.paths import subject_path
from portal.vehicle import (
    LETTER_PLACES,
    PLATE_LENGTH,
    RENAVAM_LENGTH,
    SHORT_RENAVAMS,
    Plate,
    Renavam,
    probable_subject,
    typed_signs,
    visible,
    without_label,
)
from portal.wording import listed, with_hyphens

_VIN_LENGTH: Final = 17
_LONGEST_SHOWN: Final = 20
_SHAPE: Final = "Uma placa tem 3 letras e 4 números (ABC1234) ou a forma Mercosul (ABC1D23)."
_RENAVAM_SHAPE: Final = (
    f"Um Renavam são {RENAVAM_LENGTH} algarismos seguidos, ou com um hífen só antes do último."
)
_SIGNS: Final = "Uma placa só tem letras de A a Z, sem acento, e algarismos."
_VIN: Final = (
    "Parece um chassi, que tem 17 caracteres. A busca é pela placa ou pelo Renavam, que estão no "
    "documento do veículo."
)
_SEPARATORS: Final = str.maketrans("", "", " .·•\t\u00a0\u2009\u202f")
# Matches a plate written as one word, inside any text.
_WHOLE_PLATE: Final = re.compile(r"(?<!\w)([A-Za-z]{3})[.-]?([0-9][A-Za-z0-9][0-9]{2})(?!\w)")
# Matches a plate written with a space, but also other texts such as "ano 2019" ("year 2019").
_SPACED_PLATE: Final = re.compile(r"(?<!\w)([A-Za-z]{3})[ .-]{1,3}([0-9][A-Za-z0-9][0-9]{2})(?!\w)")
_WORDS_AMONG_PLATES: Final = re.compile(r"\b(?:placas?|e|ou|ve[ií]culos?|n[º°o]?)\b", re.IGNORECASE)
_SIGN_WORDS: Final[Mapping[str, str]] = {
    "0": "um zero",
    "1": "o algarismo 1",
    "5": "o algarismo 5",
    "8": "o algarismo 8",
}
_ORDINALS: Final = ("primeiro", "segundo", "terceiro", "quarto", "quinto", "sexto", "sétimo")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The plate or Renavam that the visitor probably meant.

    ``reason`` is a sentence about the probable mistake in the typed text.
    """

    subject: Plate | Renavam
    reason: str

    @property
    def path(self) -> str:
        return subject_path(self.subject)


def normalise_query(text: str) -> str:
    """Normalise a typed or pasted plate or Renavam.

    Removes invisible format characters, spaces, dots and the word "renavam". Turns every dash into
    a hyphen. Also removes the hyphens if all other characters are digits.
    """
    plain = with_hyphens(without_label(visible(text)).translate(_SEPARATORS))
    digits = plain.replace("-", "")
    return digits if digits.isdecimal() else plain


def plates_in(text: str) -> tuple[Plate, ...]:
    """Return the plates in a text, in the order of the text and without duplicates.

    If any plate is written without a space, only such plates are returned. Otherwise, plates may
    contain a space, as in ``ABC 1D23 e KZZ 9999``. All remaining words must then be connecting
    words such as ``e`` ("and").
    """
    plain = with_hyphens(visible(text))
    found = _WHOLE_PLATE.findall(plain)
    if not found:
        rest = _WORDS_AMONG_PLATES.sub("", _SPACED_PLATE.sub("", plain))
        if not any(c.isalnum() for c in rest):
            found = _SPACED_PLATE.findall(plain)
    return tuple(dict.fromkeys(Plate.parse(letters + digits) for letters, digits in found))


def suggestion_for(text: str) -> Suggestion | None:
    """Suggest a plate or Renavam for a text with probable mistakes.

    For example, the letter O may stand in place of the digit 0.
    """
    typed = typed_signs(text).upper()
    match probable_subject(text):
        case Plate() as plate:
            pairs = enumerate(zip(typed, plate.text, strict=True))
            return Suggestion(plate, _why(typed, [at for at, (was, is_) in pairs if was != is_]))
        case Renavam() as renavam if not typed.isdecimal():
            letters = [sign for sign in dict.fromkeys(typed) if sign.isalpha()]
            reason = f"Um Renavam só tem algarismos, e aqui há {listed(letters)}."
            return Suggestion(renavam, reason)
    return None


def _why(typed: str, changed: list[int]) -> str:
    if len(changed) > 1:
        return "Há letras e algarismos que parecem trocados."
    (place,) = changed
    ordinal, sign = _ORDINALS[place], typed[place]
    if place in LETTER_PLACES:
        return (
            f"A placa começa por três letras, e aqui o {ordinal} caractere é {_SIGN_WORDS[sign]}."
        )
    return f"O {ordinal} caractere de uma placa é um algarismo, e aqui é a letra {sign}."


def padded_renavam(text: str) -> str:
    """Add leading zeros to a Renavam of nine or ten digits. Return "" for any other text."""
    meant = probable_subject(text)
    is_short = isinstance(meant, Renavam) and typed_signs(text).isdecimal()
    return meant.text if meant and is_short else ""


def what_is_wrong(text: str) -> str:
    """Explain why a text is neither a plate nor a Renavam.

    Returns "" for a text without letters or digits.
    """
    typed = typed_signs(text)
    count = len(typed)
    if not typed:
        return ""
    if not typed.isascii():
        return _SIGNS
    if count == _VIN_LENGTH and not typed.isdecimal() and not typed.isalpha():
        return _VIN
    if typed.isdecimal() and not typed.strip("0"):
        return "Um Renavam só de zeros não existe."
    if typed.isdecimal() and count == RENAVAM_LENGTH:
        return _RENAVAM_SHAPE
    if typed.isdecimal():
        old = " Documentos antigos omitem os zeros da frente." * (count in SHORT_RENAVAMS)
        return f"Um Renavam tem {RENAVAM_LENGTH} algarismos; aqui há {count}.{old}"
    if count < PLATE_LENGTH:
        return f"“{typed}” tem {count} dos {PLATE_LENGTH} caracteres de uma placa."
    if count > PLATE_LENGTH:
        shown = typed if count <= _LONGEST_SHOWN else f"{typed[:_LONGEST_SHOWN]}…"
        return f"“{shown}” tem {count} caracteres; uma placa tem {PLATE_LENGTH}."
    return _SHAPE
