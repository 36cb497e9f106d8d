"""Checks and formats the tax numbers of persons (CPF) and companies (CNPJ).

Since July 2026 the first twelve characters of a CNPJ may be letters or digits. The formula for the
check digits uses a character's ASCII code minus 48 as its value. The source is annex XV of the tax
authority's regulation "Instrução Normativa RFB 2.229/2024".
"""

import re
from collections.abc import Iterable
from typing import Final

_CPF: Final = re.compile(r"[0-9]{11}", re.ASCII)
_CNPJ: Final = re.compile(r"[0-9A-Z]{12}[0-9]{2}", re.ASCII)
_CPF_WEIGHTS: Final = range(2, 12)
_CNPJ_WEIGHTS: Final = (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5, 6)


def format_tax_number(text: str) -> str | None:
    """Format a number as ``CPF 123.456.789-09`` or ``CNPJ 12.345.678/0001-95``.

    Returns None if the number is invalid.
    """
    plain = re.sub(r"[.\-/\s]", "", text.upper())
    if _CPF.fullmatch(plain) and _holds(plain, _CPF_WEIGHTS):
        return f"CPF {plain[:3]}.{plain[3:6]}.{plain[6:9]}-{plain[9:]}"
    if _CNPJ.fullmatch(plain) and _holds(plain, _CNPJ_WEIGHTS):
        return f"CNPJ {plain[:2]}.{plain[2:5]}.{plain[5:8]}/{plain[8:12]}-{plain[12:]}"
    return None


def _holds(plain: str, weights: Iterable[int]) -> bool:
    """Return whether both check digits are right and the characters are not all equal.

    For example, the CPF 111.111.111-11 has right check digits, but is never issued.
    """
    body, digits = plain[:-2], plain[-2:]
    first = _check_digit(body, weights)
    return digits == f"{first}{_check_digit(f'{body}{first}', weights)}" and len({*plain}) > 1


def _check_digit(text: str, weights: Iterable[int]) -> int:
    """Return the check digit (modulo 11). The first weight belongs to the last character."""
    pairs = zip(reversed(text), weights, strict=False)
    remainder = sum((ord(character) - 48) * weight for character, weight in pairs) % 11
    return 0 if remainder < 2 else 11 - remainder
