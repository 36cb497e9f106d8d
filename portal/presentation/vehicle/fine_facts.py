"""The details of a fine, shown when the visitor expands the fine's line."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

from portal import formats
from portal.dossier.details import Detail, payment, speeds
from portal.law import AssessedFine, Infraction, Standing
from portal.vehicle import EMPTY, HIDDEN, Field
from portal.vehicle.source_text import named, sentence
from portal.wording import counted

# Abbreviations of issuing bodies for the list of fines. An expanded line shows the full name.
_ABBREVIATIONS: Final = (
    (re.compile(r"^prefeitura (municipal )?d[aeo]s? ", re.IGNORECASE), "Pref. "),
    (re.compile(r"^pol[ií]cia rodovi[aá]ria federal$", re.IGNORECASE), "PRF"),
    (re.compile(r"^departamento (estadual )?de tr[aâ]nsito\b", re.IGNORECASE), "Detran"),
)


def short_authority(authority: Field) -> Field:
    """Abbreviate an issuing body's name, for example to ``PRF`` (the federal highway police)."""
    if not authority:
        return authority
    text = authority.value
    for pattern, short in _ABBREVIATIONS:
        text = pattern.sub(short, text)
    state = text.removeprefix("Detran ")
    return Field("Detran" if text != state and len(state) == 2 else text, "known")


def multiplier_of(infraction: Infraction | None) -> str:
    """Return ``×5`` for a fine of five times the basic amount.

    Returns "" for the basic amount and for an unknown multiple.
    """
    factor = None if infraction is None else infraction.multiplier
    return "" if factor is None or factor <= 1 else f"×{formats.integer(factor)}"


def fine_facts(law: AssessedFine) -> Iterator[Detail]:
    """Yield the labelled values of a fine."""
    fine = law.record
    yield Detail("Local", named(fine.place))
    yield Detail("Enquadramento", _classified(law))
    yield Detail("Órgão autuador", _authority(named(fine.authority), fine.authority_state))
    yield Detail("Auto de infração", fine.notice)
    yield Detail("Valor", _amount(law))
    gravity = f"{law.gravity_word} {multiplier_of(law.infraction)}".rstrip()
    yield Detail("Gravidade", Field(f"{gravity}, {_points(law)}", "known"))
    if fine.kind or fine.kind.is_hidden:
        yield Detail("Situação na fonte", sentence(fine.kind))
    for clock in law.remedies:
        if clock.brief and clock is not law.appeal:
            yield Detail(clock.name, Field(clock.brief, "known"))
    yield Detail("Registrada em", _day(fine.registered_on, fine.registered_on_text))
    yield from speeds(law)
    yield from payment(law)


def _classified(law: AssessedFine) -> Field:
    if law.infraction is None:
        code = formats.field_text(law.record.code)
        return Field(f"código {code}, fora da tabela do portal", "known")
    parts = (law.infraction.printed, law.article)
    return Field(" · ".join(part for part in parts if part), "known")


def _authority(name: Field, state: Field) -> Field:
    return Field(f"{formats.field_text(name)} ({state})", "known") if state else name


def _amount(law: AssessedFine) -> Field:
    amount = law.amount
    if amount.value is None:
        return HIDDEN if law.record.amount_text.is_hidden else EMPTY
    full = formats.brl(amount.value)
    if law.is_paid:
        return Field(f"{full} cheio", "known")
    if not law.has_discount:
        return Field(f"{full} cheio; em regra, sem desconto e com juros", "known")
    return Field(
        f"{full} cheio; {formats.brl(amount.at_80)} com 20% de desconto; "
        f"{formats.brl(amount.at_60)} com 40% pelo SNE",
        "known",
    )


def _points(law: AssessedFine) -> str:
    points = law.points
    if points.by_gravity is None:
        return "pontos: não é possível dizer"
    outside = ", fora da contagem" if points.counted == 0 and points.by_gravity else ""
    return f"{counted(points.by_gravity, 'ponto', 'pontos')}{outside}"


def _day(day: date | None, text: Field) -> Field:
    return text if day is None else Field(formats.short_date(day), "known")


def notes_on(law: AssessedFine) -> Iterator[str]:
    """Yield the notes on one fine. Rules that many fines share are in ``FineLedger.rules``."""
    yield law.status.note
    if law.is_open:
        for clock in (law.notice, law.penalty, law.prescription):
            if clock.shared:
                yield clock.sentence
        if law.infraction is not None and law.infraction.is_nic:
            yield law.notice.sentence
        ends_on = law.penalty.ends_on
        if law.standing is Standing.NOTICE and ends_on is not None and ends_on < law.today:
            yield law.penalty.sentence
    if law.amount.note:
        yield law.amount.note
    if law.points.note and not law.points.dateless_note:
        yield law.points.note
    if law.wording.table_text:
        yield f"Na tabela de infrações: {law.wording.table_text}."
