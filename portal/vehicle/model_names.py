"""Compares the names of models, in the spellings of the register and of the price table."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from portal.data_files import read_words
from portal.vehicle.field import fold

# The text before a cut. No model's name is longer.
_LONGEST: Final = 200
_WORD = re.compile(r"[A-Z0-9]+(?:\.[0-9]+)*", re.ASCII)
_PART = re.compile(r"[A-Z]+|[0-9]+")
_VALVES = re.compile(r"[0-9]{1,2}V|[0-9]P")  # or doors
_LITRES = re.compile(r"[0-9]{1,2}\.[0-9]", re.ASCII)
# The most letters of a name that is too short to be recognised when cut or joined.
_SHORT = 3
_FURTHER: Final = read_words(__package__, "model_names.toml")
# "GSIENA" and "PALIO WK" of the register.
_ABBREVIATED: Final = {"GRAND": ("G",), "WEEKEND": ("WK",)}


# The register's usual abbreviations of models' names, each behind a part that it always has.
_SPELLED_OUT: Final = (
    ("SIENA", re.compile(r"\bG[. ]?SIENA\b"), "GRAND SIENA"),
    ("C4", re.compile(r"\bC4 ?L\b"), "C4 LOUNGE"),
    ("STW", re.compile(r"\bSTW\b"), "STEPWAY"),
)


def parts_of(text: str) -> list[str]:
    """Return the runs of letters and of digits in a model's name: C, 3; CG, 160; HILUX, CD."""
    return [part for word in _words(text) for part in _PART.findall(word)]


@lru_cache(1024)
def is_other_model(one: str, other: str) -> bool:
    """Return whether two names clearly name different models. A name may be cut or go on."""
    parts, others = parts_of(one), parts_of(other)
    if not parts or not others:
        return False
    if not names(parts, others) and not names(others, parts):
        return True
    return names_further_model(one, other)


def names_further_model(one: str, other: str) -> bool:
    """Return whether only one of two like names goes on to another model: C3, C3 Aircross."""
    words, others = _words(one), _words(other)
    return any(
        _has_word(head, word, words) != _has_word(head, word, others)
        for head in _heads(words) & _heads(others)
        for word in _FURTHER[head]
    )


def names(model: list[str], text: list[str]) -> bool:
    """Return whether a text contains the first part of a model's name.

    Few letters name a model only with the digits after them ("CG 160"). Longer names may be cut or
    written together ("MEGANEGT"), but "GOL" is not "GOLF".
    """
    head, *more = model
    if head.isdecimal() or len(head) > _SHORT or not more:
        return any(_is_same(head, word) for word in text)
    if more[0].isdecimal() and (len(head) < _SHORT or len(more[0]) >= _SHORT):
        return (head, more[0]) in pairwise(text)
    # "HR-V" may be written "HRV".
    return head in text or text[0] == head + more[0]


@lru_cache(1024)  # the names of a vehicle and of its prices are compared with each other
def _words(text: str) -> Sequence[str]:
    read = fold(text[:_LONGEST]).replace("-", " ")
    for part, abbreviated, name in _SPELLED_OUT:
        if part in read:
            read = abbreviated.sub(name, read)
    words = _WORD.findall(read)
    return [word for word in words if not (_LITRES.fullmatch(word) or _VALVES.fullmatch(word))]


def _is_same(head: str, word: str) -> bool:
    if head.isdecimal() or min(len(head), len(word)) <= _SHORT:
        return head == word
    return head.startswith(word) or word.startswith(head) or head.endswith(word)


def _heads(words: Sequence[str]) -> set[str]:
    """Return the names that go on to further models, and with which a word begins or ends."""
    text = " ".join(words)
    return {
        head
        for head in _FURTHER
        if head in text and any(word.startswith(head) or word.endswith(head) for word in words)
    }


def _has_word(head: str, further: str, words: Sequence[str]) -> bool:
    """Return whether a name has a further model's word, alone, cut, or joined to the head."""
    spellings = (further, *_ABBREVIATED.get(further, ()))
    joined = {text for spelling in spellings for text in (head + spelling, spelling + head)}
    return any(
        word in joined
        or (len(word) > 1 and word in spellings)
        or (word.isdecimal() and word == further)
        or (len(word) > _SHORT and further.startswith(word))
        or (len(further) > _SHORT and word.startswith(further))
        for word in words
    )
