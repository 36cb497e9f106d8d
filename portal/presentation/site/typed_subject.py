"""Hints about search texts that are neither a plate nor a Renavam."""

import re
from typing import Final

_PLATE_LENGTH: Final = 7
_RENAVAM_LENGTH: Final = 11
# Old documents print the number without its leading zeros.
_SHORT_RENAVAMS: Final = (9, 10)
# "Renavam nº 798…" as it is copied from a document. A plate never follows this word.
_LABEL: Final = re.compile(r"\s*renavam[^0-9A-Za-z]*(?:n[^0-9A-Za-z]*)?(?=[0-9])", re.IGNORECASE)
_LONGEST_SHOWN: Final = 20
_SHAPE: Final = "Uma placa tem 3 letras e 4 números (ABC1234) ou a forma Mercosul (ABC1D23)."
_SIGNS: Final = "Uma placa só tem letras de A a Z, sem acento, e algarismos."


def without_label(text: str) -> str:
    """The text without the word "renavam" before a number."""
    return _LABEL.sub("", text, count=1) if _LABEL.match(text) else text


def padded_renavam(text: str) -> str:
    """The Renavam of eleven digits for a typed one of nine or ten; "" for any other text."""
    digits = "".join(c for c in without_label(text) if c.isalnum())
    if not (digits.isascii() and digits.isdecimal() and len(digits) in _SHORT_RENAVAMS):
        return ""
    return digits.zfill(_RENAVAM_LENGTH) if digits.strip("0") else ""


def what_is_wrong(text: str) -> str:
    """The hint after the contract's error message; "" without letters or digits."""
    typed = "".join(c for c in without_label(text) if c.isalnum())
    count = len(typed)
    if not typed:
        return ""
    if not typed.isascii():
        return _SIGNS
    if typed.isdecimal() and not typed.strip("0"):
        return "Um Renavam só de zeros não existe."
    if typed.isdecimal() and count != _RENAVAM_LENGTH:
        old = " Documentos antigos omitem os zeros da frente." * (count in _SHORT_RENAVAMS)
        return f"Um Renavam tem {_RENAVAM_LENGTH} algarismos; aqui há {count}.{old}"
    if count < _PLATE_LENGTH:
        return f"“{typed}” tem {count} dos {_PLATE_LENGTH} caracteres de uma placa."
    if count > _PLATE_LENGTH:
        shown = typed if count <= _LONGEST_SHOWN else f"{typed[:_LONGEST_SHOWN]}…"
        return f"“{shown}” tem {count} caracteres; uma placa tem {_PLATE_LENGTH}."
    return _SHAPE
