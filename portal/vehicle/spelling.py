"""Converts the registers' texts, which lack accents, to readable Portuguese.

The registers write "POLICIA RODOVIARIA FEDERAL" and "Alcool / Gasolina". ``spelling.toml`` lists
the words whose accents are restored. It leaves out ambiguous words such as "A", which may stand for
"a" or "à".
"""

import re
from collections.abc import Callable

from portal.data_files import read_words
from portal.vehicle.field import Field, fold
from portal.wording import bare

_WORDS = read_words(__package__, "spelling.toml")
_ACCENTED = {bare(word): word for word in _WORDS["accented"]}
# The list cannot convert "MICROONIBUS", because it only restores accents. The modern spelling
# also needs a hyphen.
_ACCENTED |= {"MICROONIBUS": "micro-ônibus"}

_PROPER = {bare(word): word for word in _WORDS["proper"]}
_SMALL = frozenset(_WORDS["small"])
_UNITS = {"KM": "km", "M": "m", "CM": "cm", "CV": "cv", "KG": "kg"}
_SHORT_WORDS = frozenset(_WORDS["short"])
_WORD = re.compile(r"[^\W\d_]+")
_VOWEL = re.compile(r"[AEIOUY]")
_HYPHEN_AND_DIGIT = re.compile(r"-[0-9]")


def sentence(field: Field) -> Field:
    """Respell a field as a sentence: "NAO EXIGIVEL" → "Não exigível"."""
    return _spelled(field, sentence_case)


def named(field: Field) -> Field:
    """Respell a field as a name: "POLICIA RODOVIARIA FEDERAL" → "Polícia Rodoviária Federal"."""
    return _spelled(field, name_case)


def _spelled(field: Field, spell: Callable[[str], str]) -> Field:
    return Field(spell(field.value)) if field else field


def sentence_case(text: str) -> str:
    """Spell an upper-case text as a sentence: "NAO EXIGIVEL" → "Não exigível".

    A text that has lower-case letters keeps its case, and only gets missing accents.
    """
    if _is_mixed(text):
        return accented(text)
    spelled = _WORD.sub(lambda match: _in_sentence(match, text), text)
    start = next((i for i, char in enumerate(spelled) if char.isalnum()), 0)
    return spelled[:start] + spelled[start : start + 1].upper() + spelled[start + 1 :]


def name_case(text: str) -> str:
    """Spell the name of an authority or place: "AV SAO JOAO" → "Av São João"."""
    if _is_mixed(text):
        return accented(text)
    return _WORD.sub(lambda match: _in_name(match, text), text)


def accented(text: str) -> str:
    """Add missing accents, and keep each word's case: "Alcool" → "Álcool"."""
    return _WORD.sub(lambda match: _with_accents(match[0]), text)


def spelled_like(text: str, model: str) -> str:
    """Return ``text`` in sentence case, with its first words spelled as in ``model``.

    The first words are those before the first word that differs from ``model`` in more than case
    and accents. ``model`` supplies the accents of ambiguous words, which ``spelling.toml`` leaves
    out. For example, the "A" of "SUPERIOR A MAXIMA" becomes "à" only if ``model`` begins with
    "superior à".
    """
    if fold(text) == fold(model):
        return model
    words, models = sentence_case(text).split(" "), model.split(" ")
    for position, (word, better) in enumerate(zip(words, models, strict=False)):
        if fold(word) != fold(better):
            break
        words[position] = better
    return " ".join(words)


def _is_mixed(text: str) -> bool:
    capitals = text.replace("ª", "").replace("º", "")
    return capitals != capitals.upper()


def _code_part(match: re.Match[str], text: str) -> str:
    """Spell a word that is part of a code such as "A3" or "BR-040", or return ""."""
    word, (start, end) = match[0], match.span()
    is_before_digit = text[end : end + 1].isdigit()
    if not (
        is_before_digit
        or text[start - 1 : start].isdigit()
        or (len(word) <= 3 and _HYPHEN_AND_DIGIT.match(text, end))
    ):
        return ""
    return word if is_before_digit else _UNITS.get(word, word)


def _in_sentence(match: re.Match[str], text: str) -> str:
    if code := _code_part(match, text):
        return code
    folded = bare(match[0])
    return _PROPER.get(folded) or _ACCENTED.get(folded, match[0].lower())


def _in_name(match: re.Match[str], text: str) -> str:
    if code := _code_part(match, text):
        return code
    word, folded = match[0], bare(match[0])
    if folded == "KM" or (folded in _SMALL and match.start() > 0):
        return word.lower()
    if folded in _PROPER:
        return _PROPER[folded]
    if folded in _ACCENTED:
        return _ACCENTED[folded].capitalize()
    is_acronym = (len(word) <= 3 and folded not in _SHORT_WORDS) or not _VOWEL.search(folded)
    return word if is_acronym else word.capitalize()


def _with_accents(word: str) -> str:
    spelling = _ACCENTED.get(bare(word))
    if spelling is None or len(spelling) != len(word) or not word.isascii():
        return word
    return "".join(
        good.upper() if sent.isupper() else good for sent, good in zip(word, spelling, strict=True)
    )
