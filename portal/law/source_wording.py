"""Compare a fine's description with the infraction table.

The description may name one split (variant) of the fine's code, or belong to another code. The
source (the upstream API) sends the official wording, often cut, abbreviated and in capitals. Two
words match if one is the beginning of the other ("VEIC" and "veículo").
"""

import re
from functools import cache, lru_cache

from msgspec import Struct

from portal.law.infractions import Infraction, Row, joined, rows, rows_of
from portal.vehicle.field import fold
from portal.vehicle.spelling import sentence_case, spelled_like

_WORD = re.compile(r"[A-Z0-9%]+")
# These words occur in the descriptions of many infractions, so they do not identify an infraction.
_COMMON_WORDS = """
A AO AOS AS C COM CONDUTOR DA DAS DE DEIXAR DO DOS E EM NA NAO NAS NO NOS O OS OU P PARA POR QUE S
SE SEM VEIC VEICULO VEICULOS
"""
_COMMON = frozenset(_COMMON_WORDS.split())
# The least number of letters of an abbreviation. The source's shortest abbreviations have three.
_SHORTEST_STEM = 3


class WordingConflict(Struct, frozen=True):
    """The source's wording does not fit the fine's code.

    ``codes`` are those whose wording it is, or empty if it only names no word of the code's.
    """

    codes: tuple[str, ...] = ()


class Wording(Struct, frozen=True):
    """The wording in which a page describes a fine's infraction.

    ``text`` is the source's own wording in readable case, or the wording of the infraction table if
    the source sends no wording. ``table_text`` is the table's wording if it differs from ``text``,
    else "".
    """

    text: str
    table_text: str
    conflict: WordingConflict | None = None


def narrowed_to_wording(infraction: Infraction, description: str) -> Infraction:
    """Keep only the splits (variants) that ``description`` names, or else keep all."""
    if len(infraction.rows) == 1 or not description:
        return infraction
    folded = fold(description)
    exact = tuple(row for row in infraction.rows if folded in row.spellings)
    fitting = exact or tuple(row for row in infraction.rows if _opens(folded, row))
    if not fitting or len(fitting) == len(infraction.rows):
        return infraction
    split = fitting[0].split if len(fitting) == 1 else infraction.split
    return joined(infraction.code, split, fitting)


def wording_of(infraction: Infraction | None, description: str) -> Wording:
    if infraction is None:
        return Wording(sentence_case(description), "")
    table = infraction.description
    if not description:
        return Wording(table, "")
    own, folded = rows_of(infraction.code), fold(description)
    if exact := next((row for row in own if folded in row.spellings), None):
        text, conflict = exact.description, None
    else:
        text, conflict = _spelled(description, own), _conflict(folded, own)
    is_same = text == table or fold(text) == fold(table)
    return Wording(text, "" if is_same else table, conflict)


def _spelled(description: str, candidates: tuple[Row, ...]) -> str:
    alike = max(candidates, key=lambda row: _shared_opening(description, row.description))
    return spelled_like(description, alike.description)


def _shared_opening(description: str, model: str) -> int:
    pairs = zip(fold(description).split(), fold(model).split(), strict=False)
    return next((n for n, (word, other) in enumerate(pairs) if word != other), 99)


def _conflict(folded: str, own: tuple[Row, ...]) -> WordingConflict | None:
    if others := _by_wording().get(folded, ()):
        return WordingConflict(tuple(dict.fromkeys(others)))
    words = _words(folded)
    theirs = {word for row in own for word in _words(row.description)}
    if words and not any(_alike(word, other) for word in words for other in theirs):
        return WordingConflict()
    return None


def _opens(folded: str, row: Row) -> bool:
    words = _WORD.findall(folded)
    for text in row.spellings:
        theirs = _WORD.findall(text)
        if len(words) <= len(theirs) and all(map(_alike, words, theirs)):
            return True
    return False


def _alike(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return word == other or (len(shorter) >= _SHORTEST_STEM and longer.startswith(shorter))


@lru_cache(2048)
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(text))) - _COMMON


@cache
def _by_wording() -> dict[str, tuple[str, ...]]:
    codes: dict[str, tuple[str, ...]] = {}
    for row in rows():
        for text in row.spellings:
            codes[text] = (*codes.get(text, ()), row.code)
    return codes
