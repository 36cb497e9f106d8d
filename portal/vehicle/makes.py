"""Converts the vehicle register's spellings of makes and models to display names.

For example, the register writes "I/AUDI A3" (I for imported), "VW/GOL 1.0" or "SR/RANDON …" (SR for
semi-trailer). There is no official list of these spellings. The lists of ``makes.toml`` are from
public programs that read the register's texts.
"""

import re
from functools import lru_cache

import msgspec

from portal.data_files import read_toml
from portal.vehicle.decode import Decoded
from portal.vehicle.field import fold


class _Makes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    spellings: dict[str, tuple[str, ...]]
    before_slash: dict[str, str]
    one_maker: dict[str, str]
    words: dict[str, str]


_MAKES = read_toml(__package__, "makes.toml", _Makes)
_DISPLAY = {fold(name): name for name in (*_MAKES.spellings, *_MAKES.words["plain"].split())} | {
    spelling: name for name, spellings in _MAKES.spellings.items() for spelling in spellings
}

_ORIGIN = re.compile(r"(?:I|IMP\.?|N|E|SR|R|REB) ?/ ?", re.IGNORECASE | re.ASCII)
_ORIGINS = frozenset(("I", "IMP", "N", "E", "SR", "R", "REB"))
_WORD = re.compile(r"[^\W_]+")
_SHORT_NAMES = frozenset(_MAKES.words["short_names"].split())
_CODES = frozenset(_MAKES.words["codes"].split())
_VOWEL = re.compile(r"[AEIOUY]")


class VehicleName(msgspec.Struct, frozen=True):
    """The make and the model as displayed. Each is "" if unknown."""

    make: str
    model: str

    def __bool__(self) -> bool:
        return bool(self.make or self.model)

    def __str__(self) -> str:
        return f"{self.make} {self.model}".strip()


@lru_cache(1024)  # the names of a vehicle and of its prices are compared with each other
def read_name(text: str) -> VehicleName:
    """Read make and model from one registration text such as "I/AUDI A3"."""
    rest = " ".join(text.split())
    if origin := _ORIGIN.match(rest):
        rest = rest[origin.end() :]
    head, slash, tail = rest.partition("/")
    before = fold(head)
    if slash and (make := _DISPLAY.get(before) or _MAKES.before_slash.get(before)):
        return VehicleName(make, title_case(tail.strip()))
    make, words = _after_make(rest.split(" "))
    return VehicleName(make, title_case(_unrepeated(words, make) if make else rest))


def _after_make(words: list[str]) -> tuple[str, list[str]]:
    """Return the make that a text begins with, or "", and the words after it."""
    for count in (3, 2, 1):
        make = _DISPLAY.get(fold(" ".join(words[:count])))
        if make and len(words) >= count:
            return make, words[count:]
    return "", words


def _unrepeated(words: list[str], make: str) -> str:
    """Join the words after a make. A hyphen and the same make again are left out.

    For example, the words after "GM" in "GM - Chevrolet Onix" give "Onix".
    """
    if words[:1] != ["-"]:
        return " ".join(words).lstrip(" -")
    again, after = _after_make(words[1:])
    return " ".join(after if again == make else words[1:])


def is_same_maker(make: str, other: str) -> bool:
    """Return whether two makes, as displayed, are one, or names of one maker."""
    return make == other or _MAKES.one_maker.get(make) == other


def make_name(text: str) -> str:
    """Return the display name of a make, such as "Volkswagen" for "VW"."""
    name = read_name(text)
    return name.make if name.make and not name.model else title_case(text)


def vehicle_name(decoded: Decoded) -> VehicleName:
    """Return a vehicle's make, and its model without the make in front."""
    return _name_of(decoded.make.value, decoded.description.value)


@lru_cache(1024)  # each price of a vehicle is compared with its name
def _name_of(sent: str, description: str) -> VehicleName:
    # A make may be no more than the mark of an import or a trailer: "I", "SR".
    stated = read_name("" if fold(sent).strip("./ ") in _ORIGINS else sent)
    described = read_name(description)
    # If the lists lack the make, ``read_name`` returns the text of the make as ``model``.
    make = stated.make or stated.model or described.make
    model = described.model or (stated.model if stated.make else "")
    if not described.make and make and fold(model).startswith((fold(make) + " ", fold(make) + "/")):
        model = title_case(model[len(make) + 1 :].strip())
    elif fold(model) == fold(make):
        model = ""
    return VehicleName(make, model)


def title_case(text: str) -> str:
    """Capitalise names, and keep codes such as A3, TFSI, 16V and HR-V in upper case.

    A text with both upper and lower case is returned unchanged.
    """
    if text not in (text.upper(), text.lower()):
        return text
    text = text.upper()
    return _WORD.sub(lambda match: _cased(match[0]), text)


def _cased(word: str) -> str:
    if word in _SHORT_NAMES:
        return word.capitalize()
    is_code = len(word) <= 3 or not word.isalpha() or word in _CODES or not _VOWEL.search(word)
    return word if is_code else word.capitalize()
