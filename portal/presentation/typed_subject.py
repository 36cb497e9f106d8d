"""Explains what is wrong with a typed plate or Renavam, and finds plates in a search text.

A Renavam is a vehicle's registration number.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from portal.batch.typed_list import read_list
from portal.data_files import read_csv
from portal.presentation.paths import subject_path
from portal.vehicle.plate import STATES, Plate, Renavam, each_once, parse_subject
from portal.vehicle.typed import (
    LETTER_PLACES,
    PLATE_IN_TEXT,
    PLATE_LENGTH,
    RENAVAM_LENGTH,
    SHORT_RENAVAMS,
    Doubt,
    Typed,
    begins_with_model,
    read_typed,
    read_within,
    visible,
)
from portal.wording import listed, sanitise_echo, with_hyphens

_LONGEST_SHOWN: Final = 20
# The doubts of a part of a text, which the text as a whole does not leave.
_OF_SURROUNDINGS: Final[tuple[Doubt, ...]] = ("vin", "negated", "address")
_SHAPE: Final = "Uma placa tem 3 letras e 4 números (ABC1234) ou a forma Mercosul (ABC1D23)."
_REASONS: Final[Mapping[str, str]] = {
    line["doubt"]: line["reason"] for line in read_csv(__package__, "doubts.csv", dict[str, str])
}
_PLATE: Final = re.compile(PLATE_IN_TEXT)
_ENDS_IN_PLATE: Final = re.compile(rf"{PLATE_IN_TEXT}\s+$")
_BEGINS_WITH_PLATE: Final = re.compile(rf"\s+{PLATE_IN_TEXT}")
# The separators of a plate that is written as one word. "ano 2019" ("year 2019") has another.
_WITHIN_WORD: Final = ("", ".", "-")
_WORDS_AMONG_PLATES: Final = re.compile(r"\b(?:placas?|e|ou|ve[ií]culos?|n[º°o]?)\b", re.IGNORECASE)
# The names of numbers that plates may be read in, and of plates.
_PLATE_NAME: Final = re.compile(r"placas?|plates?", re.IGNORECASE)
_LABEL: Final = re.compile(
    r"(?<![^\W_])(placas?|plates?|chassis?|vin|niv|motor|s[ée]rie|serial|c[óo]d(?:igo)?|crlv|cr[vt]"
    r"|nota fiscal|nf-?e?|protocolo|ap[óo]lice|contrato|processo|auto|pedido)(?![^\W_])",
    re.IGNORECASE,
)
_IS_LABELLED_AFTER: Final = re.compile(r"[\W_]+(?:chassis?|vin|niv)[\W_]*$", re.IGNORECASE)
# What is joined to a plate without a space. Another plate is joined as "ABC1D23/KZZ9999".
_JOINED_BEFORE: Final = re.compile(r"(?P<part>\w[\w./-]*)[./_-]+$")
_JOINED_AFTER: Final = re.compile(r"[./_-]+(?P<part>\w[\w./-]*)")
# A maker's code, of which a digit is the first sign, begins the VIN of a car made in Brazil (9BW).
_MAKER_OF_A_VIN: Final = re.compile(
    r"(?<![^\W_])[1-9](?=[A-HJ-NPR-Z0-9]*[A-Z])[A-HJ-NPR-Z0-9]{2,}[\s.-]+$", re.IGNORECASE
)
# What may be a misread plate beside a right one, and what has the look of one, with a sign less or
# more, or as in the plates of another country.
_MISREAD: Final = re.compile(
    r"(?<![^\W_])(?:[A-Za-z0-9]{3}[.-]?|[A-Za-z]{3}\s(?=[0-9]))[A-Za-z0-9]{4}(?![^\W_])"
)
_LIKE_PLATE: Final = re.compile(
    r"[A-Z]{3}[.-]?[0-9][A-Z0-9][0-9]|(?=(?:[A-Z0-9][.-]?){6,8}$)(?=(?:[^0-9]*[0-9]){3})[A-Z]{2}.*",
    re.IGNORECASE | re.ASCII,
)
_WORD: Final = re.compile(r"[^\W_]+(?:[.-][^\W_]+)*")
_MOST_OFFERED: Final = 4
_AMONG_WORDS: Final = "Há mais texto além da placa."
_ORDINALS: Final = ("primeiro", "segundo", "terceiro", "quarto", "quinto", "sexto", "sétimo")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The plate or Renavam that the visitor probably meant.

    ``reason`` is a sentence about the probable mistake in the typed text, and ``question`` is the
    text of the link to the vehicle.
    """

    subject: Plate | Renavam
    reason: str
    question: str

    @property
    def path(self) -> str:
        return subject_path(self.subject)


def plates_in(text: str) -> tuple[Plate, ...]:
    """Return the plates in a text that the portal may look up without a question.

    They are in the order of the text, each vehicle once. Words beside a single plate that is
    written as one word are ignored, as in "vendo ABC1D23 2019", unless one may be a misread plate
    ("ABC1D23 KLM1AZ7"). In every other text with words, or with a plate that leaves a doubt, the
    visitor must choose. The result is then empty.
    """
    plain = with_hyphens(visible(text))
    matches = list(_PLATE.finditer(plain))
    rest = _beside_plates(plain)
    has_words = any(map(str.isalnum, rest))
    as_words = [match for match in matches if _separator(match) in _WITHIN_WORD]
    certain = [
        match
        for match in matches
        if read_within(match, has_words=has_words or len(matches) > 1).is_certain
        and not _is_beside_another(match, plain)
        and not _is_within_identifier(match, plain)
    ]
    chosen = [match for match in certain if match in as_words] if has_words else certain
    plates = each_once(Plate.parse(match[1] + match[2]) for match in chosen)
    is_clear = all(match in chosen for match in as_words or matches) and not (
        _misread(rest) or _is_like_plate(rest)
    )
    return plates if is_clear and (not has_words or len(plates) == 1) else ()


def _beside_plates(text: str) -> str:
    """Return a text without its plates, and without the words that join them."""
    return _WORDS_AMONG_PLATES.sub("", _PLATE.sub(" ", text))


def _misread(rest: str) -> list[Typed]:
    """Return what, beside plates, may be a plate with a wrong sign."""
    read = (read_typed(match[0]) for match in _MISREAD.finditer(rest))
    return [typed for typed in read if typed.doubt == "letters"]


def _is_like_plate(rest: str) -> bool:
    """Return whether a word beside plates looks like one that nothing can read."""
    words = (match[0] for match in _WORD.finditer(rest))
    return any(_LIKE_PLATE.fullmatch(word) and not begins_with_model(word) for word in words)


def _separator(match: re.Match[str]) -> str:
    return match[0][len(match[1]) : -len(match[2])]


def _is_beside_another(match: re.Match[str], text: str) -> bool:
    """Return whether nothing but a space parts letters and a number from another plate.

    The second may describe the first, as in "ABC 1D23 lote 1204".
    """
    if _separator(match) in _WITHIN_WORD or not match[2].isdecimal():
        return False
    before, after = text[: match.start()], text[match.end() :]
    return bool(_ENDS_IN_PLATE.search(before) or _BEGINS_WITH_PLATE.match(after))


def _is_within_identifier(match: re.Match[str], text: str) -> bool:
    """Return whether a plate may be a part of a longer number, such as a VIN in groups."""
    before, after = text[: match.start()], text[match.end() :]
    labels = _LABEL.findall(before)
    if (labels and not _PLATE_NAME.fullmatch(labels[-1])) or _IS_LABELLED_AFTER.match(after):
        return True
    joined = (_JOINED_BEFORE.search(before), _JOINED_AFTER.match(after))
    if not all(_leaves_apart(part["part"]) for part in joined if part):
        return True
    return bool(_MAKER_OF_A_VIN.search(before)) and not _ENDS_IN_PLATE.search(before)


def _leaves_apart(part: str) -> bool:
    """Return whether what is joined to a plate is a label, its state or another plate."""
    return bool(_PLATE_NAME.fullmatch(part) or part.upper() in STATES or _PLATE.search(part))


def suggestion_for(text: str) -> Suggestion | None:
    """Suggest a plate or Renavam for a text that leaves a doubt, or return None.

    For example, the letter O may stand in place of the digit 0.
    """
    typed = read_typed(text)
    return _suggestion(typed) if typed.subject is not None and typed.doubt else None


def suggestions_for(text: str) -> tuple[Suggestion, ...]:
    """Return what the visitor may have meant by a text that is not looked up without a question.

    The text may contain several vehicles, beside other words.
    """
    if single := suggestion_for(text):
        return (single,)
    listed = read_list(text)
    misread = _misread(_beside_plates(with_hyphens(visible(text)))) if listed.subjects else []
    wrong = [(entry.value, entry.typed) for entry in listed.wrong]
    wrong += [(typed.signs, typed) for typed in misread]
    reason = _named(*wrong[0]) if wrong else _AMONG_WORDS
    certain = [
        Suggestion(subject, reason, f"Consultar {subject.display}") for subject in listed.subjects
    ]
    doubtful = [
        _suggestion(Typed(parse_subject(entry.suggestion), entry.doubt, entry.signs))
        for entry in listed.wrong
        if entry.suggestion
    ]
    known = {typed.subject for typed in (*certain, *doubtful)}
    others = [_suggestion(typed) for typed in misread if typed.subject not in known]
    return (*certain, *doubtful, *others)[:_MOST_OFFERED]


def _suggestion(typed: Typed) -> Suggestion:
    assert typed.subject is not None
    question = f"Quis dizer {typed.subject.display}?"
    if typed.doubt == "zeros":
        question = f"Consultar o Renavam {typed.subject.display}, com os zeros"
    elif typed.signs.upper() == typed.subject.text:
        question = f"Consultar {typed.subject.display} mesmo assim"
    return Suggestion(typed.subject, doubt_reason(typed), question)


def what_is_wrong(text: str) -> str:
    """Explain why a text is neither a plate nor a Renavam, or why it leaves a doubt.

    Returns "" for a text without letters or digits.
    """
    typed, listed = read_typed(text), read_list(text)
    if typed.doubt:
        return doubt_reason(typed)
    doubtful = [entry.typed for entry in listed.wrong if entry.doubt in _OF_SURROUNDINGS]
    return doubt_reason(doubtful[0] if doubtful else typed)


def _named(value: str, typed: Typed) -> str:
    """Say which part of a text was not read, and why."""
    reason = doubt_reason(typed)
    if reason.startswith("“"):
        return reason
    return f"“{sanitise_echo(value, _LONGEST_SHOWN)}”: {reason[:1].lower()}{reason[1:]}"


def doubt_reason(typed: Typed) -> str:
    """Return a sentence about what is wrong with a text, or about the doubt that it leaves."""
    if typed.doubt in ("", "zeros"):
        return _wrong_shape(typed.signs)
    if typed.doubt == "letters":
        return _similar_signs(typed.signs.upper(), typed.subject)
    return _REASONS[typed.doubt]


def _similar_signs(typed: str, meant: Plate | Renavam | None) -> str:
    if not isinstance(meant, Plate):
        letters = [sign for sign in dict.fromkeys(typed) if sign.isalpha()]
        return f"Um Renavam só tem algarismos, e aqui há {listed(letters)}."
    pairs = enumerate(zip(typed, meant.text, strict=False))
    changed = [at for at, (sign, better) in pairs if sign != better]
    # A draft of a former version has no signs, only its text with the label.
    if len(typed) != PLATE_LENGTH or len(changed) != 1:
        return "Há letras e algarismos que parecem trocados."
    (place,) = changed
    ordinal, sign = _ORDINALS[place], typed[place]
    if place in LETTER_PLACES:
        name = "um zero" if sign == "0" else f"o algarismo {sign}"
        return f"A placa começa por três letras, e aqui o {ordinal} caractere é {name}."
    return f"O {ordinal} caractere de uma placa é um algarismo, e aqui é a letra {sign}."


def _wrong_shape(typed: str) -> str:
    count = len(typed)
    if not typed:
        return ""
    if not typed.isascii():
        return _REASONS["signs"]
    if typed.isdecimal() and not typed.strip("0"):
        return "Um Renavam só de zeros não existe."
    if typed.isdecimal():
        old = " Documentos antigos omitem os zeros da frente." * (count in SHORT_RENAVAMS)
        return f"Um Renavam tem {RENAVAM_LENGTH} algarismos; aqui há {count}.{old}"
    if count < PLATE_LENGTH:
        return f"“{typed}” tem {count} dos {PLATE_LENGTH} caracteres de uma placa."
    if count > PLATE_LENGTH:
        shown = typed if count <= _LONGEST_SHOWN else f"{typed[:_LONGEST_SHOWN]}…"
        return f"“{shown}” tem {count} caracteres; uma placa tem {PLATE_LENGTH}."
    return _SHAPE
