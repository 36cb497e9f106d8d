"""Parses Brazilian plates, and Renavam (vehicle registration) numbers.

A plate has the old format ``LLLNNNN`` or the Mercosul format ``LLLNLNN``, in which L is a letter
and N a digit. Both formats are valid (Resolução CONTRAN 969/2022). Replacing the fifth character of
an old plate by a letter (0→A … 9→J) gives the same plate in the Mercosul format.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from portal.wording import DASHES

# Match _PLATE before upper(), because upper() turns ß into SS, which the pattern accepts. Use
# fullmatch, because $ accepts a final newline.
_PLATE = re.compile(r"([A-Za-z]{3})-?([0-9][A-Za-z0-9][0-9]{2})", re.ASCII)
_RENAVAM = re.compile(rf"'?([0-9]{{10}})[{DASHES}]?([0-9])", re.ASCII)
# A plate within a text. Up to three separators may follow the first three letters ("ABC - 1234").
_SOME_PLATE = re.compile(
    r"(?<![A-Z0-9])([A-Z]{3})[ .-]{0,3}([0-9][A-Z0-9][0-9]{2})(?![A-Z0-9])", re.ASCII
)
_LETTERS = "ABCDEFGHIJ"

_STATE_CODES = "AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO"
STATES = frozenset(_STATE_CODES.split())


class InvalidSubject(ValueError):
    """The text is not a valid plate or Renavam."""


@dataclass(frozen=True, slots=True)
class Plate:
    """A plate as seven upper-case ASCII characters without a hyphen."""

    text: str

    @classmethod
    def parse(cls, text: str) -> "Plate":
        """Parse ``LLLNNNN`` or ``LLLNLNN``, ignoring case. A hyphen may follow ``LLL``.

        Raises InvalidSubject if the text has neither format.
        """
        match = _PLATE.fullmatch(text)
        if match is None:
            raise InvalidSubject(text)
        return cls((match[1] + match[2]).upper())

    @property
    def is_mercosul(self) -> bool:
        return self.text[4].isalpha()

    @property
    def twin(self) -> "Plate | None":
        """The same plate in the other format, or None if the fifth character is K to Z."""
        fifth = self.text[4]
        if fifth.isdigit():
            other = _LETTERS[int(fifth)]
        elif fifth in _LETTERS:
            other = str(_LETTERS.index(fifth))
        else:
            return None
        return Plate(self.text[:4] + other + self.text[5:])

    @property
    def display(self) -> str:
        """The plate as displayed: ``ABC-1234`` or ``ABC1D23``."""
        return self.text if self.is_mercosul else f"{self.text[:3]}-{self.text[3:]}"

    def names_same_vehicle(self, text: str) -> bool:
        """Return False if the text contains plates, but none of them is this plate.

        The plate in the text may have either format. A text without a plate, such as "N/A", names
        no other vehicle, so the result is True.
        """
        text = text.upper()
        alone = "".join(filter(str.isalnum, text))
        spelled = [*_SOME_PLATE.findall(text), *_SOME_PLATE.findall(alone)]
        named = {Plate(letters + rest) for letters, rest in spelled}
        return not named or self in named or self.twin in named

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Renavam:
    """A vehicle's number in the national registry, with eleven digits."""

    text: str

    @classmethod
    def parse(cls, text: str) -> "Renavam":
        """Parse eleven digits. Raises InvalidSubject if the text has another format.

        A dash may precede the last digit, as in the portal's CSV files. An apostrophe may precede
        the first digit, because spreadsheets use an apostrophe to mark a number as text.
        """
        match = _RENAVAM.fullmatch(text)
        if match is None:
            raise InvalidSubject(text)
        return cls(match[1] + match[2])

    @property
    def display(self) -> str:
        return self.text

    @property
    def check_digit_holds(self) -> bool:
        """Whether the check digit is right (modulo 11, weights 3 2 9 8 7 6 5 4 3 2).

        The portal warns about a wrong check digit but accepts the Renavam, because some of the
        upstream's own examples have a wrong check digit.
        """
        weights = (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
        total = sum(w * int(d) for w, d in zip(weights, self.text, strict=False))
        return int(self.text[10]) == total * 10 % 11 % 10

    @property
    def is_invented(self) -> bool:
        """Whether all eleven digits are zero.

        The check digit of this number is right, but no vehicle has the number.
        """
        return not self.text.strip("0")

    def names_same_vehicle(self, text: str) -> bool:
        """Return False if the digits of the text form another number than this Renavam.

        A text without digits ("N/A") or with only zeros names no vehicle, so the result is True.
        The text may lack the leading zeros of an old, short Renavam.
        """
        digits = "".join(re.findall(r"[0-9]", text, re.ASCII))
        return not digits.strip("0") or digits.zfill(len(self.text)) == self.text

    def __str__(self) -> str:
        return self.text


def parse_subject(text: str) -> Plate | Renavam:
    """Parse a plate or a Renavam. Raises InvalidSubject."""
    try:
        return Plate.parse(text)
    except InvalidSubject:
        return Renavam.parse(text)


_Subject = TypeVar("_Subject", Plate, Plate | Renavam)


def each_once(subjects: Iterable[_Subject]) -> tuple[_Subject, ...]:
    """Return each vehicle once. Of the two formats of a plate, the first remains."""
    distinct: dict[_Subject, None] = {}
    for subject in subjects:
        if not isinstance(subject, Plate) or subject.twin not in distinct:
            distinct[subject] = None
    return tuple(distinct)
