"""Reads what tells the versions of a model apart: cab, body, drive, gearbox and trim.

The register writes them cut and glued ("CDSRVA4FD", "10MT", "LT1", "CS13"), the price table in full
("Hilux CD SRV 4x4 2.8 Diesel Aut.").
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from msgspec import Struct

from portal.data_files import read_toml
from portal.vehicle.field import fold

Kind = Literal["cab", "body", "drive", "gearbox"]
_TABLE: Final = read_toml(__package__, "versions.toml", dict[str, dict[str, str]])
_TRIMS: Final = frozenset(_TABLE["trims"]["names"].split())
_KINDS: Final[tuple[Kind, ...]] = ("cab", "body", "drive", "gearbox")
# The word of each spelling, by kind. A blank in a spelling is an underscore in the table.
_MEANINGS: Final[Mapping[Kind, Mapping[str, str]]] = {
    kind: {
        spelling.replace("_", " "): word
        for word, spellings in _TABLE[kind].items()
        for spelling in spellings.split()
    }
    for kind in _KINDS
}
_CABS: Final = tuple(cab for cab in _MEANINGS["cab"] if " " not in cab)
_TOKEN: Final = re.compile(r"[A-Z0-9]+", re.ASCII)
_LETTERS: Final = re.compile(r"[A-Z]+", re.ASCII)
# A shorter name is never cut: LT is not LTZ.
_LEAST_CUT: Final = 4
# "6", "7G": the number of gears.
_LONGEST_GEARS: Final = 2


@dataclass(frozen=True, slots=True)
class Version:
    """What a name says of the version. A kind that it does not name is missing, a trim too."""

    kinds: Mapping[Kind, str]
    trims: frozenset[str]


class VersionMatch(Struct, frozen=True):
    """How a table's version compares with the register's.

    ``differing`` has the words of the table and of the register for each kind that both name
    otherwise: ``("cabine dupla", "cabine simples")``. ``same`` are the kinds that agree, and
    ``trims`` the trims. ``is_checked`` is false if only one of the two names a trim.
    """

    same: tuple[str, ...]
    trims: tuple[str, ...]
    differing: tuple[tuple[str, str], ...]
    is_checked: bool


_LABELS: Final[Mapping[Kind, str]] = {
    "cab": "cabine {}",
    "body": "{}",
    "drive": "tração {}",
    "gearbox": "caixa {}",
}


@lru_cache(512)
def version_of(text: str) -> Version:
    """Return what a version's name says."""
    words = fold(text.replace("-", " ")).replace(".", " ")
    tokens = _TOKEN.findall(words)
    parts = [*tokens, *(part for token in tokens for part in _LETTERS.findall(token))]
    kinds: dict[Kind, str] = {}
    for kind in _KINDS:
        for spelling, meaning in _MEANINGS[kind].items():
            # The letters of "HB20S" are no body.
            named = tokens if kind == "body" else parts
            is_named = spelling in named if " " not in spelling else f" {spelling} " in f" {words} "
            if is_named or (kind == "cab" and _is_glued(spelling, parts)):
                kinds.setdefault(kind, meaning)
    return Version(kinds, frozenset(trim for part in parts for trim in _trims_in(part)))


def compare(table: str, register: str, gearbox: str = "") -> VersionMatch:
    """Compare the name of a version in the price table with that of the register.

    ``gearbox`` is what the register says of the gearbox beside the name. If the two differ, a table
    that agrees with one of them does not agree.
    """
    offered, own = version_of(table), version_of(register)
    beside = _gearbox_of(gearbox)
    same: list[str] = []
    differing: list[tuple[str, str]] = []
    for kind in _KINDS:
        theirs, ours = offered.kinds.get(kind), own.kinds.get(kind)
        if kind == "gearbox" and beside and (ours is None or ours == theirs):
            ours = beside
        if theirs is None or ours is None:
            continue
        label = _LABELS[kind]
        if theirs == ours:
            same.append(label.format(theirs))
        else:
            differing.append((label.format(theirs), label.format(ours)))
    agreed = {
        trim for trim in offered.trims if any(_is_same(trim, own_trim) for own_trim in own.trims)
    }
    if offered.trims and own.trims and not agreed:
        differing.append((f"versão {_named(offered.trims)}", f"versão {_named(own.trims)}"))
    return VersionMatch(
        tuple(same), tuple(sorted(agreed)), tuple(differing), bool(offered.trims) == bool(own.trims)
    )


def _gearbox_of(text: str) -> str | None:
    """Return what a text says of the gearbox. A number of its casing says nothing."""
    words = _TOKEN.findall(fold(text.replace("-", " ")))
    if any(not word.isalpha() and len(word) > _LONGEST_GEARS for word in words):
        return None
    return version_of(" ".join(filter(str.isalpha, words))).kinds.get("gearbox")


def _named(trims: frozenset[str]) -> str:
    return " ".join(trim.title() if len(trim) > 3 else trim for trim in sorted(trims))


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= _LEAST_CUT and longer.startswith(shorter)


def _is_glued(cab: str, parts: list[str]) -> bool:
    """Return whether a word is a cab with a trim behind it: CDSRVA."""
    return cab in _CABS and any(
        part.startswith(cab) and part.isalpha() and any(_glued_trims(part[len(cab) :]))
        for part in parts
    )


def _glued_trims(text: str) -> Iterator[str]:
    """Yield the longest trim with which glued letters begin."""
    for length in range(min(len(text), 4), 1, -1):
        if text[:length] in _TRIMS:
            yield text[:length]
            return


def _trims_in(part: str) -> Iterator[str]:
    if part in _TRIMS:
        yield part
    elif len(part) >= _LEAST_CUT and part.isalpha():
        if any(trim.startswith(part) for trim in _TRIMS):
            yield part
        elif part[:2] in _CABS:
            yield from _glued_trims(part[2:])
