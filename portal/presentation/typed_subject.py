"""Explains what is wrong with a typed plate or Renavam, and finds plates in a search text.

A Renavam is a vehicle's registration number.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.data_files import read_csv
from portal.presentation.paths import subject_path
from portal.vehicle.plate import Plate, Renavam
from portal.vehicle.typed import (
    LETTER_PLACES,
    PLATE_IN_TEXT,
    PLATE_LENGTH,
    RENAVAM_LENGTH,
    SHORT_RENAVAMS,
    Doubt,
    read_typed,
    typed_signs,
    visible,
)
from portal.wording import listed, with_hyphens

_VIN_LENGTH: Final = 17
_LONGEST_SHOWN: Final = 20
_SHAPE: Final = "Uma placa tem 3 letras e 4 números (ABC1234) ou a forma Mercosul (ABC1D23)."
_VIN: Final = (
    "Parece um chassi, que tem 17 caracteres. A busca é pela placa ou pelo Renavam, que estão no "
    "documento do veículo."
)
_REASONS: Final[Mapping[str, str]] = {
    line["doubt"]: line["reason"] for line in read_csv(__package__, "doubts.csv", dict[str, str])
}
# Matches a plate written as one word, inside any text.
_WHOLE_PLATE: Final = re.compile(r"(?<!\w)([A-Za-z]{3})[.-]?([0-9][A-Za-z0-9][0-9]{2})(?!\w)")
# Matches a plate written with a space, but also other texts such as "ano 2019" ("year 2019").
_SPACED_PLATE: Final = re.compile(PLATE_IN_TEXT)
_WORDS_AMONG_PLATES: Final = re.compile(r"\b(?:placas?|e|ou|ve[ií]culos?|n[º°o]?)\b", re.IGNORECASE)
_ORDINALS: Final = ("primeiro", "segundo", "terceiro", "quarto", "quinto", "sexto", "sétimo")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The plate or Renavam that the visitor probably meant.

    ``reason`` is a sentence about the probable mistake in the typed text, and ``question`` is the
    text of the link to the vehicle.
    """

    subject: Plate | Renavam
    reason: str
    question: str

    @property
    def path(self) -> str:
        return subject_path(self.subject)


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
    """Suggest a plate or Renavam for a text that leaves a doubt, or return None.

    For example, the letter O may stand in place of the digit 0.
    """
    typed = read_typed(text)
    if typed.subject is None or not typed.doubt:
        return None
    question = f"Quis dizer {typed.subject.display}?"
    if typed.doubt == "zeros":
        question = f"Consultar o Renavam {typed.subject.display}, com os zeros"
    elif typed_signs(text).upper() == typed.subject.text:
        question = f"Consultar {typed.subject.display} mesmo assim"
    return Suggestion(typed.subject, doubt_reason(typed.doubt, text, typed.subject), question)


def what_is_wrong(text: str) -> str:
    """Explain why a text is neither a plate nor a Renavam, or why it leaves a doubt.

    Returns "" for a text without letters or digits.
    """
    typed = read_typed(text)
    return doubt_reason(typed.doubt, text, typed.subject) if typed.doubt else _wrong_shape(text)


def doubt_reason(doubt: Doubt, text: str, meant: Plate | Renavam | None) -> str:
    """Return a sentence about the doubt that ``text`` leaves."""
    if doubt == "zeros":
        return _wrong_shape(text)
    if doubt == "letters":
        return _similar_signs(typed_signs(text).upper(), meant)
    return _REASONS[doubt]


def _similar_signs(typed: str, meant: Plate | Renavam | None) -> str:
    if not isinstance(meant, Plate):
        letters = [sign for sign in dict.fromkeys(typed) if sign.isalpha()]
        return f"Um Renavam só tem algarismos, e aqui há {listed(letters)}."
    changed = [at for at, sign in enumerate(typed) if sign != meant.text[at]]
    if len(changed) != 1:
        return "Há letras e algarismos que parecem trocados."
    (place,) = changed
    ordinal, sign = _ORDINALS[place], typed[place]
    if place in LETTER_PLACES:
        name = "um zero" if sign == "0" else f"o algarismo {sign}"
        return f"A placa começa por três letras, e aqui o {ordinal} caractere é {name}."
    return f"O {ordinal} caractere de uma placa é um algarismo, e aqui é a letra {sign}."


def _wrong_shape(text: str) -> str:
    typed = typed_signs(text)
    count = len(typed)
    if not typed:
        return ""
    if not typed.isascii():
        return _REASONS["signs"]
    if count == _VIN_LENGTH and not typed.isdecimal() and not typed.isalpha():
        return _VIN
    if typed.isdecimal() and not typed.strip("0"):
        return "Um Renavam só de zeros não existe."
    if typed.isdecimal():
        old = " Documentos antigos omitem os zeros da frente." * (count in SHORT_RENAVAMS)
        return f"Um Renavam tem {RENAVAM_LENGTH} algarismos; aqui há {count}.{old}"
    if count < PLATE_LENGTH:
        return f"“{typed}” tem {count} dos {PLATE_LENGTH} caracteres de uma placa."
    if count > PLATE_LENGTH:
        shown = typed if count <= _LONGEST_SHOWN else f"{typed[:_LONGEST_SHOWN]}…"
        return f"“{shown}” tem {count} caracteres; uma placa tem {PLATE_LENGTH}."
    return _SHAPE
