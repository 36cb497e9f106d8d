"""The words of the checklist's lines: what a record says, what a person declares, what is open."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Final, Literal

from portal.law.declared import Declaration, Record, SettledLine
from portal.phrasebook.checklist import WORDS, something
from portal.phrasebook.sums import count_words
from portal.vehicle.operation_name import LookupName
from portal.wording import counted, day, listed, moment, money

SOURCES: Final[Mapping[LookupName, str]] = {
    "decode": "dados do veículo",
    "renainf": "Renainf",
    "renajud": "Renajud",
}
_STATES: Final[Mapping[Literal["nothing", "something"], str]] = {
    "nothing": "nada consta",
    "something": "consta",
}
NOT_CHECKED: Final = "não verificado"


def record_words(record: Record) -> str:
    """Say what a record has: ``1 multa e 1 autuação em aberto, R$ 325,39``."""
    if record.words:
        return f"“{record.words}”"
    match record.lookup:
        case "renajud" if record.count:
            return counted(record.count, "restrição judicial", "restrições judiciais")
        case "renajud":
            return "nenhuma restrição judicial"
        case "renainf" if record.count:
            fines = f"{count_words(record.count, record.notices)} em aberto"
            return fines + (f", {money(record.amount)}" if record.amount is not None else "")
        case "renainf" if record.amount is not None:
            return f"pode faltar {money(record.amount)} de multa paga"
        case "renainf":
            return "nenhuma multa em aberto"
    return _STATES[record.state]


def record_name(record: Record, today: date | None) -> str:
    """Name a record: ``registro de 14:02 (Renajud)``.

    What is printed is read on another day: without ``today`` the day is named too.
    """
    return f"registro{_of_time(record.at, today)} ({SOURCES[record.lookup]})"


def declared_by(declaration: Declaration) -> str:
    """Say who vouches: ``declarado por loja em 27/11/2026, Sinesp Cidadão``."""
    source = f", {declaration.source}" if declaration.source else ""
    return f"declarado por {declaration.who} em {day(declaration.on)}{source}"


def declaration_words(declaration: Declaration, something: str) -> str:
    """Say what a person declares: ``nada consta`` or ``roubo ou furto, R$ 10,00 (B.O. 12)``."""
    if declaration.state == "nothing":
        return _STATES["nothing"] + (f" ({declaration.what})" if declaration.what else "")
    amount = f", {money(declaration.amount)}" if declaration.amount is not None else ""
    return f"{something}{amount}" + (f" ({declaration.what})" if declaration.what else "")


def line_words(one: SettledLine) -> str:
    """Say how a line stands, without its source. An open line never reads as regular."""
    if one.record:
        return record_words(one.record)
    if one.declaration:
        return declaration_words(one.declaration, something(one.line))
    return NOT_CHECKED


def line_source(one: SettledLine, today: date | None = None) -> str:
    """Say by what a line is settled, or "" for an open line. For ``today`` see ``record_name``."""
    if one.record:
        return record_name(one.record, today)
    return declared_by(one.declaration) if one.declaration else ""


def warning_words(one: SettledLine) -> str:
    """Say what a written report warns of on an undeclared line, or return ""."""
    return f"a análise escrita aponta {something(one.line)}" if one.is_warned else ""


def contradicted_words(one: SettledLine) -> str:
    """Say what was declared before the record that says otherwise, or return ""."""
    if not one.is_contradicted or one.declaration is None:
        return ""
    words = declaration_words(one.declaration, something(one.line))
    return f"O registro veio depois e vale: antes, {declared_by(one.declaration)}: {words}."


def refusal(declaration: Declaration, record: Record, today: date) -> str:
    """Say why a declaration is refused, with the record that says otherwise."""
    title, state = WORDS[declaration.line].title, _STATES[declaration.state]
    return (
        f"“{title}” não pode ser declarada como “{state}”: o "
        f"{record_name(record, today)} traz {record_words(record)}."
    )


def obstacle_words(one: SettledLine) -> str:
    """Name what stops or may stop a stock entry: ``roubo ou furto (declarado)``."""
    if one.record:
        is_fines = one.record.lookup == "renainf" and one.line.settled_by == "renainf"
        return "multas exigíveis" if is_fines else something(one.line)
    return f"{something(one.line)} ({'declarado' if one.declaration else 'a análise aponta'})"


def obstacles_in_words(obstacles: tuple[SettledLine, ...]) -> str:
    return listed([obstacle_words(one) for one in obstacles], ", ")


def _of_time(at: datetime | None, today: date | None) -> str:
    if at is None:
        return ""
    if today is None:
        return f" de {moment(at)}"
    return f" de {at:%H:%M}" if at.date() == today else f" de {day(at.date())}"
