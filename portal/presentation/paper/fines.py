"""The fines in print: one row of facts per fine, and shared sentences as notes.

A printed page has no collapsible sections, and the legal assessments of many fines have the same
sentences. A sentence that two or more fines need becomes a lettered note below the table; a
sentence that only one fine needs stays in its row.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from string import ascii_lowercase

from portal.law import RULES_NOTE, Clock, FineAssessment
from portal.presentation import formats
from portal.presentation.source_text import named, sentence
from portal.presentation.vehicle.fines import FineList, FineRow
from portal.presentation.vehicle.record_details import FineDetails, OtherData
from portal.vehicle import Field, Fine
from portal.wording import counted


@dataclass(frozen=True, slots=True)
class PaperFine:
    """One row.

    ``discounts`` are lines, ``marks`` the letters of the notes; "" where there are none.
    """

    anchor: str
    when: str
    what: str
    details: str
    standing: str
    marks: str
    amount: str
    discounts: str


@dataclass(frozen=True, slots=True)
class PaperNote:
    """A sentence that several fines share, with the letter that marks their rows."""

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class PaperFines:
    """The table and its notes.

    ``rules`` is a text about all open fines, "" where there is none. ``discounts`` are pairs of a
    standing and its note about discounts.
    """

    rows: tuple[PaperFine, ...]
    omitted: int
    notes: tuple[PaperNote, ...]
    rules: str
    discounts: tuple[tuple[str, str], ...]


def paper_fines(fines: FineList) -> PaperFines:
    """The rows of a list of fines, in its order."""
    sentences = [tuple(_sentences(row)) for row in fines.rows]
    uses = Counter(text for texts in sentences for text in texts)
    shared = [text for text, count in uses.items() if count > 1]
    marks = dict(zip(shared, ascii_lowercase, strict=False))
    open_laws = [row.law for row in fines.rows if row.law.is_open]
    return PaperFines(
        rows=tuple(
            _row(row, texts, marks) for row, texts in zip(fines.rows, sentences, strict=True)
        ),
        omitted=fines.omitted,
        notes=tuple(PaperNote(mark, text) for text, mark in marks.items()),
        rules=_rules(open_laws),
        discounts=tuple(
            dict.fromkeys(
                (law.standing_word, law.discount_note)
                for law in open_laws
                if law.amount.value is not None
            )
        ),
    )


def _row(row: FineRow, texts: Sequence[str], marks: Mapping[str, str]) -> PaperFine:
    fine, law = row.fine, row.law
    own = [text for text in texts if text not in marks]
    clock = ""
    if fine.committed_at is not None:
        clock = f" {fine.committed_at:%H:%M}"
    elif fine.committed_at_text.state != "empty":
        clock = f" {_words(fine.committed_at_text)}"
    amount = law.amount
    return PaperFine(
        anchor=row.anchor,
        when=f"{row.number}. {_day(fine.committed_on, fine.committed_on_text)}{clock}",
        what=(law.description or _words(fine.description)).rstrip("."),
        details=" ".join((*_facts(fine, law), *_details(row.details), *own)),
        standing=law.standing_word,
        marks=", ".join(sorted(marks[text] for text in texts if text in marks)),
        amount=formats.brl(amount.value),
        discounts=""
        if not law.has_discount or amount.value is None
        else f"{formats.brl(amount.at_80)} com −20%\n{formats.brl(amount.at_60)} com −40%",
    )


def _facts(fine: Fine, law: FineAssessment) -> Iterator[str]:
    if law.infraction:
        article = f", {law.article}" if law.article else ""
        yield f"Código {law.infraction.printed}{article}."
    else:
        yield f"Código {_words(fine.code)}, fora da tabela do portal."
    points = law.points.by_gravity
    many = "" if points is None else f", {counted(points, 'ponto', 'pontos')}"
    yield f"Gravidade: {law.gravity_word}{many}."
    state = "" if fine.authority_state.state == "empty" else f" ({_words(fine.authority_state)})"
    yield f"{_words(named(fine.authority))}{state}."
    yield f"Local: {_words(named(fine.place))}."
    yield f"Auto de infração: {_words(fine.notice)}."
    if fine.kind.state != "empty":
        yield f"Situação na fonte: {_words(sentence(fine.kind))}."
    yield f"Registrada em: {_day(fine.registered_on, fine.registered_on_text)}."
    notified = _day(fine.notified_on, fine.notified_on_text)
    yield f"Autuação notificada em: {notified}{_brief(law, law.notice)}."
    penalty = _day(fine.penalty_on, fine.penalty_on_text)
    yield f"Penalidade emitida em: {penalty}{_brief(law, law.penalty)}."
    for clock in _clocks(law):
        if clock.brief and clock in (*law.remedies, law.prescription):
            yield f"{clock.name}: {clock.brief}."


def _details(details: FineDetails) -> Iterator[str]:
    for detail in (*details.payment, *details.speeds):
        yield f"{detail.label}: {_words(detail.field)}."
    known = [f"{one.label}: {one.field}" for one in details.other.shown if one.field]
    if known:
        yield f"Outros dados do registro: {'; '.join(known)}."
    yield from details.notes


def _sentences(row: FineRow) -> Iterator[str]:
    """The explanations of a fine, with the same wording for fines in the same state.

    Clocks that are in time, or that cannot be judged, are described in the row only.
    """
    law = row.law
    yield law.shared_standing_note
    if law.is_open:
        yield from filter(None, (c.shared for c in (law.notice, law.penalty, law.prescription)))
    if law.amount.note:
        yield law.amount.note
    if law.table_description:
        yield f"Na tabela de infrações: {law.table_description}."
    yield from _without_value(row.details.other)
    if law.points.note:
        yield law.points.shared_note


def _without_value(other: OtherData) -> Iterator[str]:
    """The hidden and the empty fields, which most fines of an answer share."""
    hidden = [one.label for one in other.shown if one.field.is_hidden]
    if hidden:
        yield f"Oculto pela fonte: {'; '.join(hidden)}."
    if other.blank:
        yield f"Não informado pela fonte: {'; '.join(other.blank)}."


def _brief(law: FineAssessment, clock: Clock) -> str:
    return f", {clock.brief}" if law.is_open and clock.brief else ""


def _clocks(law: FineAssessment) -> tuple[Clock, ...]:
    """The clocks to print.

    To save room, of the expired remedies only the appeal is printed, because its last day is the
    due date.
    """
    against_notice = (law.prior_defence, law.driver_nomination)
    return tuple(
        clock for clock in law.clocks if clock.verdict == "in_time" or clock not in against_notice
    )


def _rules(laws: Sequence[FineAssessment]) -> str:
    articles = {clock.name: clock.article for law in laws for clock in _clocks(law)}
    if not articles:
        return ""
    return "; ".join([*(f"{name}, {article}" for name, article in articles.items()), RULES_NOTE])


def _day(day: date | None, text: Field) -> str:
    return _words(text) if day is None else formats.short_date(day)


def _words(field: Field) -> str:
    if field:
        return str(field)
    return "oculto pela fonte" if field.is_hidden else formats.MISSING
