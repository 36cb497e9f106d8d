"""Parse and normalise plates, in both national formats, and Renavam numbers.

Res. CONTRAN 969/2022: the old ``LLLNNNN`` plates remain valid beside the Mercosul ``LLLNLNN``
plates. A conversion turns the fifth character into a letter, 0→A … 9→J.
"""

import re
from dataclasses import dataclass

# re.ASCII and fullmatch are required: \d would accept Arabic digits, $ would accept a newline,
# and upper() turns ß into SS.
_PLATE = re.compile(r"([A-Za-z]{3})-?([0-9][A-Za-z0-9][0-9]{2})", re.ASCII)
_RENAVAM = re.compile(r"[0-9]{11}", re.ASCII)
# Plates inside a record's text, with any separators around and within them.
_SOME_PLATE = re.compile(
    r"(?<![A-Z0-9])([A-Z]{3})[ .-]{0,3}([0-9][A-Z0-9][0-9]{2})(?![A-Z0-9])", re.ASCII
)
_LETTERS = "ABCDEFGHIJ"

STATES = frozenset(
    {
        "AC",
        "AL",
        "AM",
        "AP",
        "BA",
        "CE",
        "DF",
        "ES",
        "GO",
        "MA",
        "MG",
        "MS",
        "MT",
        "PA",
        "PB",
        "PE",
        "PI",
        "PR",
        "RJ",
        "RN",
        "RO",
        "RR",
        "RS",
        "SC",
        "SE",
        "SP",
        "TO",
    }
)


class InvalidPlate(ValueError):
    """The text is neither a plate nor, where one is allowed, a Renavam."""


@dataclass(frozen=True, slots=True)
class Plate:
    """A plate in canonical form: seven upper-case ASCII characters, no hyphen."""

    text: str

    @classmethod
    def parse(cls, text: str) -> "Plate":
        """Parse ``LLLNNNN`` or ``LLLNLNN``, any case, optional hyphen after the letters.

        Raises InvalidPlate for any other text.
        """
        match = _PLATE.fullmatch(text)
        if match is None:
            raise InvalidPlate(text)
        return cls((match[1] + match[2]).upper())

    @property
    def is_mercosul(self) -> bool:
        return self.text[4].isalpha()

    @property
    def twin(self) -> "Plate | None":
        """The same vehicle's plate in the other format; None for a fifth letter K to Z."""
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
        """The display form: ``ABC-1234`` for the old format, ``ABC1D23`` for Mercosul."""
        return self.text if self.is_mercosul else f"{self.text[:3]}-{self.text[3:]}"

    def names_same_vehicle(self, text: str) -> bool:
        """Return whether a record's text names this plate, in either format, or no plate.

        A text without a plate ("N/A") does not name another vehicle.
        """
        text = text.upper()
        alone = "".join(c for c in text if c.isalnum())
        found = [*_SOME_PLATE.findall(text), *_SOME_PLATE.findall(alone)]
        named = {Plate(letters + rest) for letters, rest in found}
        return not named or self in named or self.twin in named

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Renavam:
    """The eleven digits of the national vehicle registry."""

    text: str

    @classmethod
    def parse(cls, text: str) -> "Renavam":
        if _RENAVAM.fullmatch(text) is None:
            raise InvalidPlate(text)
        return cls(text)

    @property
    def display(self) -> str:
        return self.text

    @property
    def check_digit_holds(self) -> bool:
        """Whether the check digit matches: mod 11, weights 3 2 9 8 7 6 5 4 3 2.

        A mismatch is a warning and no reason to reject: the upstream's own samples fail it.
        """
        weights = (3, 2, 9, 8, 7, 6, 5, 4, 3, 2)
        total = sum(w * int(d) for w, d in zip(weights, self.text, strict=False))
        return int(self.text[10]) == total * 10 % 11 % 10

    @property
    def is_invented(self) -> bool:
        """Whether all digits are zeros, which satisfies the check digit but names no vehicle."""
        return not self.text.strip("0")

    def names_same_vehicle(self, text: str) -> bool:
        """Return whether a record's text names this Renavam or none at all ("N/A", "0").

        The text may omit the leading zeros of an old short Renavam.
        """
        digits = "".join(re.findall(r"[0-9]", text, re.ASCII))
        return not digits.strip("0") or digits.zfill(len(self.text)) == self.text

    def __str__(self) -> str:
        return self.text


def parse_subject(text: str) -> Plate | Renavam:
    """Parse a plate or a Renavam; raises InvalidPlate for any other text."""
    try:
        return Plate.parse(text)
    except InvalidPlate:
        return Renavam.parse(text)
