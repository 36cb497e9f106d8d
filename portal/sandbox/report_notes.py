"""Read free members of a report's ``data`` (theft, auction, lien, owners…).

No contract defines their shapes. They read as yes, no or text; a value that is not understood
is quoted and never read as "clean".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from portal.sandbox.report_facts import is_silent
from portal.sandbox.wire_text import capitals
from portal.vehicle import HIDDEN_MARKER

_LONGEST = 160
_CLEAN = re.compile(
    r"\b(NADA CONSTA|NAO CONSTA|NAO HA|SEM|NENHUM|NEGATIVO|REGULAR|EM DIA|NORMAL|LIVRE|QUITAD|"
    r"BAIXAD|NAO POSSUI|INEXISTENTE|ORIGINAL|INTEGR|LICENCIAD)"
)
_BAD = re.compile(
    r"\b(IRREGULAR|VENCID|PENDEN|ATRAS|ROUBAD|FURTAD|ADULTERAD|REMARCAD|ALIENAD|FINANCIAD|ATIV|"
    r"SINISTR|POSITIVO|LEILOAD|BLOQUEAD|NAO LICENCIAD|NAO ORIGINAL)"
)
_YES = frozenset({"SIM", "S", "TRUE", "YES", "1"})
_NO = frozenset({"NAO", "N", "FALSE", "NO", "0"})
_ANSWERS = "consta possui existe ocorrencia situacao status resultado indicador registros"


@dataclass(frozen=True, slots=True)
class Reading:
    """The result for a member; ``mark`` is None if empty or its lookup failed."""

    mark: Literal["ok", "warning", "none"] | None
    text: str = ""


def read_note(
    value: object, subject: str, *, is_pending: bool = False, is_owner: bool = False
) -> Reading:
    """Read one member.

    ``subject`` completes "Consta …". ``is_pending``: a value of true means "in order".
    ``is_owner``: entries are owners, whose existence is not a finding.
    """
    if is_silent(value):
        return Reading(None)
    match value:
        case bool():
            return _yes_or_no(value is not is_pending, subject)
        case int() | float() if is_owner:
            return _owners(int(value)) if 0 <= value < 1000 else Reading(None)
        case int() | float():
            return _yes_or_no(value > 0, subject)
        case str():
            return _owner_words(value) if is_owner else _words(value, subject)
        case list():
            return _entries(value, subject, is_owner)
        case dict():
            return _object(value, subject, is_pending, is_owner)
        case _:
            return Reading(None)


def quote(text: str) -> str:
    """Return printable text on one line, clipped; "" for the hidden-value marker."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text[:1000]).split())
    words = words.replace("“", "'").replace("”", "'")
    if words == HIDDEN_MARKER:
        return ""
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"


def _yes_or_no(is_bad: bool, subject: str) -> Reading:
    if is_bad:
        return Reading("warning", f"Consta {subject} nos dados enviados.")
    return Reading("ok", f"Nada consta sobre {subject} nos dados enviados.")


def _words(text: str, subject: str) -> Reading:
    quoted = quote(text)
    plain = capitals(quoted)
    if not plain:
        return Reading(None)
    if plain in _NO:
        return _yes_or_no(False, subject)
    if plain in _YES:
        return _yes_or_no(True, subject)
    is_clean, is_bad = bool(_CLEAN.search(plain)), bool(_BAD.search(plain))
    # "Sem pendências" has a good and a bad word. A text with both is quoted without a mark.
    if is_clean != is_bad:
        return Reading("ok" if is_clean else "warning", f"Os dados enviados informam: “{quoted}”.")
    if "CONSTA" in plain and not is_clean:
        return Reading("warning", f"Os dados enviados informam: “{quoted}”.")
    return Reading("none", f"Os dados enviados informam: “{quoted}”. Confira o que isso significa.")


def _entries(entries: list[object], subject: str, is_owner: bool) -> Reading:
    if is_owner:
        return _owners(len(entries), [name for e in entries if (name := _name(e))])
    if not entries:
        return _yes_or_no(False, subject)
    word = "registro" if len(entries) == 1 else "registros"
    text = f"{len(entries)} {word} de {subject} nos dados enviados."
    return Reading("warning", text)


def _object(value: Mapping[str, object], subject: str, is_pending: bool, is_owner: bool) -> Reading:
    if is_owner:
        name = _name(value)
        inner = next((v for v in value.values() if isinstance(v, list | int) and v is not True), 0)
        return _owners(1, [name]) if name else read_note(inner, subject, is_owner=True)
    for name, answer in value.items():
        if capitals(name).lower() in _ANSWERS.split():
            reading = read_note(answer, subject, is_pending=is_pending)
            if reading.mark is not None:
                return reading
    parts = [
        f"{quote(name)}: {quote(str(inner))}"
        for name, inner in list(value.items())[:6]
        if isinstance(inner, str | int) and quote(str(inner))
    ]
    if not parts:
        return Reading(None)
    text = f"Os dados enviados informam: “{quote('; '.join(parts))}”. Confira o que isso significa."
    return Reading("none", text)


def _name(entry: object) -> str:
    if isinstance(entry, dict):
        entry = next((v for k, v in entry.items() if "nome" in k.lower()), None)
    return quote(entry) if isinstance(entry, str) else ""


def _owner_words(text: str) -> Reading:
    quoted = quote(text)
    return Reading("none", f"Proprietário informado: {quoted}.") if quoted else Reading(None)


def _owners(count: int, names: list[str] | None = None) -> Reading:
    if count == 0:
        return Reading("none", "Os dados enviados não nomeiam nenhum proprietário.")
    word = "proprietário" if count == 1 else "proprietários"
    named = f": {', '.join(names[:5])}" if names else ""
    text = f"{count} {word} nos dados enviados{named}."
    if count > 4:
        return Reading("warning", f"{text} São muitas trocas: pergunte o motivo.")
    return Reading("ok", text)
