"""Replaces people's names in free text by initials.

No list has all names. ``other_words`` of ``names.toml`` therefore lists the words that reports use
for other things, such as courts, agencies, makes and places. Several capitalised words in a row
that are not in ``other_words`` may be a name. ``mask_names`` states when such words are masked.
Masking the name of a vehicle model by mistake is better than printing a person's full name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from portal.data_files import read_words
from portal.vehicle.field import fold

_WORDS = {key: frozenset(words) for key, words in read_words(__package__, "names.toml").items()}
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_GAP = re.compile(r"[ -]|\. ?")
_CPF = re.compile(r"(?<![0-9])[0-9]{3}\.[0-9]{3}\.[0-9]{3}-?[0-9]{2}(?![0-9])", re.ASCII)
_MASKED_CPF = "***.***.***-**"
_TELEPHONE = re.compile(
    r"(?<![0-9(])(?:\+?55 ?)?(?:\([1-9][0-9]\) ?9? ?[0-9]{4}[- ]?|[1-9][0-9] 9?[0-9]{4}-)[0-9]{4}"
    r"(?![0-9])",
    re.ASCII,
)
_MASKED_TELEPHONE = "(**) *****-****"

# After one of these phrases, such as "em nome de" ("in the name of"), even a single capitalised
# word is treated as a name.
_PERSON = re.compile(
    r"(?:em nome d[aeo]s?|pertenc\w+ (?:ao?|à)s?|adquirid[ao] (?:por|de)|vendid[ao] (?:por|para|a)"
    r"|\bs(?:enho)?ra?\.?|\bdra?\.|transferid[ao] para|titular|nome)\s*[:,(–-]?\s*$",
    re.IGNORECASE,
)
# After one of these words, such as "proprietário" ("owner"), two or more capitalised words are
# treated as a name. A single capitalised word is not masked, because it may be an adjective.
_ROLE = re.compile(
    r"(?:propriet[áa]ri[ao]s?|compradora?|vendedora?|condutora?|possuidora?|arrendat[áa]ri[ao]"
    r"|don[ao]|infratora?)(?: (?:atua(?:l|is)|anterior(?:es)?|registrad[ao]s?|é|foi|era|como))*"
    r"\s*[:,(–-]?\s*$",
    re.IGNORECASE,
)
# After a title or the kind of a street, a word that is more often no name is one.
_TITLED = re.compile(
    r"\b(?:s(?:enho)?ra?\.?|dra?\.?|(?:rua|r\.|avenida|av\.?|alameda|travessa|pra[çc]a|estrada|rodovia)"
    r" d[aeo]s?) *$",
    re.IGNORECASE,
)
_CONTEXT = 48


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    folded: str
    is_capital: bool  # the word may be part of any name
    is_surname: (
        bool  # the word is in ``surnames_too``; it may be a name, but only after a given name
    )
    is_connector: bool


def mask_names(text: str, *, about_people: bool = False, by_capitals: bool = True) -> str:
    """Replace the words of full names by initials, and mask CPF (taxpayer) and telephone numbers.

    As a rule, only capitalised words that are not in ``other_words`` can be part of a name. Two or
    more such words in a row are masked if at least one of these statements is true:

    - ``by_capitals`` is true, and at least two of the words are in upper case and have three or
      more letters.
    - The first word is a common given name.
    - The words follow a word such as "proprietário" ("owner").
    - ``about_people`` is true.

    After a phrase such as "em nome de" ("in the name of"), even a single such word is masked.
    """
    out: list[str] = []
    done = 0
    for run in _runs(_words(text), text):
        if _is_name(run, text, about_people=about_people, by_capitals=by_capitals):
            out.append(text[done : run[0].start])
            out.append(" ".join(_initial(word) for word in run))
            done = run[-1].end
            # Skip a full stop after the name, because the last initial already has one.
            done += text[done : done + 1] == "."
    out.append(text[done:])
    return _TELEPHONE.sub(_MASKED_TELEPHONE, _CPF.sub(_MASKED_CPF, "".join(out)))


def _initial(word: _Word) -> str:
    return word.text if word.folded == "E" else f"{word.text[0].upper()}."


def _words(text: str) -> Iterator[_Word]:
    for match in _WORD.finditer(text):
        word, start, end = match[0], match.start(), match.end()
        folded = fold(word)
        in_code = text[start - 1 : start].isdigit() or text[end : end + 1].isdigit()
        is_connector = folded in _WORDS["connectors"]
        cased = word[0].isupper() and (word[1:].islower() or word.isupper())
        shaped = cased and not in_code and not is_connector
        is_capital = shaped and folded not in _WORDS["other_words"]
        is_surname = shaped and folded in _WORDS["surnames_too"]
        yield _Word(word, start, end, folded, is_capital, is_surname, is_connector)


def _runs(words: Iterator[_Word], text: str) -> Iterator[list[_Word]]:
    """Yield runs of words that may be names, with the connectors ("da") inside them."""
    run: list[_Word] = []
    pending: list[_Word] = []
    for word in words:
        before = (pending or run)[-1] if run else None
        if before is not None and not _adjoins(before, word, text):
            yield run
            run, pending = [], []
        opened = bool(run) and _opens_name(run[0], text)
        if word.is_surname and _is_titled(word, text):
            if run:
                yield run
            run, pending = [word], []
        elif word.is_capital or (opened and word.is_surname):
            run, pending = [*run, *pending, word], []
        elif run and word.is_connector:
            pending.append(word)
        elif run:
            yield run
            run, pending = [], []
    if run:
        yield run


def _opens_name(first: _Word, text: str) -> bool:
    """Return whether a surname may follow a word: a given name, or a name behind "proprietário"."""
    before = text[max(0, first.start - _CONTEXT) : first.start]
    is_verb = first.folded.endswith(("OU", "AVA", "ARAM"))
    return first.folded in _WORDS["given_names"] or bool(_ROLE.search(before) and not is_verb)


def _is_titled(word: _Word, text: str) -> bool:
    return bool(_TITLED.search(text[max(0, word.start - _CONTEXT) : word.start]))


def _adjoins(before: _Word, word: _Word, text: str) -> bool:
    gap = text[before.end : word.start]
    # A full stop ends the run, except after an initial.
    return bool(_GAP.fullmatch(gap)) and (not gap.startswith(".") or len(before.text) == 1)


def _is_name(run: list[_Word], text: str, *, about_people: bool, by_capitals: bool) -> bool:
    names = [word for word in run if not word.is_connector]
    before = text[max(0, run[0].start - _CONTEXT) : run[0].start]
    if _PERSON.search(before) or _TITLED.search(before):
        return any(len(word.text) > 1 for word in names)
    if len(names) < 2:
        return False
    # Upper-case words of two letters are more often codes ("GS", "CD") than names.
    if by_capitals and sum(word.text.isupper() and len(word.text) > 2 for word in names) >= 2:
        return True
    return about_people or names[0].folded in _WORDS["given_names"] or bool(_ROLE.search(before))
