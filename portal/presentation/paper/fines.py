"""The fines in print: a few fines as a detailed list, many fines as an annex.

In the detailed list (also called ledger), each fine has a heading line and below it a grid of
labelled values. In the annex, each fine has a heading line and below it a paragraph. The annex
takes less space. For example, 45 fines fit on little more than two sheets. A sentence that applies
to several fines is printed once, as a note with a letter. Each of these fines shows the letter.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import count, product
from string import ascii_lowercase
from typing import Final

from portal import formats
from portal.dossier.details import Detail, blank, fine_notes, given, other_of_fine, payment, speeds
from portal.dossier.dossier import Dossier
from portal.formats import field_text
from portal.law import RULES_NOTE, AssessedFine, Clock
from portal.presentation.vehicle.fine_ledger import discount_sentence
from portal.vehicle import Field, Fine
from portal.vehicle.source_text import named, sentence
from portal.wording import counted, listed

# The largest number of fines in the detailed list. A longer list is printed as an annex, so that
# page 2 has room for the price and the sums.
MOST_IN_LEDGER: Final = 10
# In the infraction code 745-50, the first four digits ("7455") name the infraction, and the last
# digit names a variant.
_CODE_DIGITS: Final = 4


@dataclass(frozen=True, slots=True)
class PaperValue:
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class PaperFine:
    """One printed fine.

    ``values`` fills the grid of the detailed list, and ``details`` is the paragraph of the annex.
    ``marks`` has the letters of the fine's notes. ``own`` has the explanations that are not notes,
    because they apply only to this fine.
    """

    anchor: str
    number: int
    when: str
    what: str
    standing: str
    tone: str
    icon: str
    amount: str
    discounts: str
    values: tuple[PaperValue, ...]
    details: str
    own: str
    marks: str


@dataclass(frozen=True, slots=True)
class PaperNote:
    """A note with the letter ``mark``.

    The letter is also printed with each fine to which the note applies.
    """

    mark: str
    text: str


@dataclass(frozen=True, slots=True)
class PaperFines:
    """The fines and their notes.

    ``common`` are sentences about all fines. ``rules`` is a text about the deadlines of the open
    fines. ``discount`` is a sentence about the fines that may still have a discount, with the
    discounted sums. Each of ``discounts`` is a pair: a text that lists payment states, and the
    discount rule for fines in these states.
    """

    rows: tuple[PaperFine, ...]
    is_annex: bool
    omitted: int
    common: tuple[str, ...]
    notes: tuple[PaperNote, ...]
    rules: str
    discount: str
    discounts: tuple[tuple[str, str], ...]


def paper_fines(dossier: Dossier) -> PaperFines | None:
    """Build the printed fines, or return None without a readable answer."""
    if dossier.fines is None:
        return None
    rows = dossier.listed_fines
    is_annex = len(rows) > MOST_IN_LEDGER
    known = _Known.of(rows)
    sentences = [tuple(_sentences(row, known, is_annex=is_annex)) for row in rows]
    uses = Counter(text for texts in sentences for text in texts)
    # In an annex every sentence becomes a note, because the annex does not print ``own``.
    noted = [text for text, count in uses.items() if count > 1 or is_annex]
    marks = dict(zip(noted, _letters(), strict=False))
    open_laws = [fine for fine in rows if fine.is_open]
    return PaperFines(
        rows=tuple(_row(row, texts, marks) for row, texts in zip(rows, sentences, strict=True)),
        is_annex=is_annex,
        omitted=len(dossier.fines) - len(rows),
        common=tuple(known.sentences()),
        notes=tuple(PaperNote(mark, text) for text, mark in marks.items()),
        rules=_rules(open_laws),
        discount=discount_sentence(dossier.fines),
        discounts=tuple(_discount_notes(open_laws)),
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """The facts that are printed once for all fines.

    ``hidden`` has the labels of the fields that the source hides in every fine. ``blank`` has the
    labels of the fields that are blank in every fine. ``authorities`` maps an issuing body to the
    codes of the body and of the municipality. A body whose fines have different codes is left out.
    ``amounts`` are the notes on amounts that agree with the official table.
    """

    hidden: frozenset[str]
    blank: frozenset[str]
    authorities: Mapping[str, tuple[str, ...]]
    amounts: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[AssessedFine]) -> "_Known":
        if len(rows) < 2:
            return cls(frozenset(), frozenset(), {}, ())
        codes: dict[str, set[tuple[str, ...]]] = {}
        for row in rows:
            codes.setdefault(_authority(row.record), set()).add(_codes(row.record))
        return cls(
            frozenset.intersection(*(frozenset(_hidden(row)) for row in rows)),
            frozenset.intersection(*(frozenset(blank(other_of_fine(row))) for row in rows)),
            {name: next(iter(found)) for name, found in codes.items() if len(found) == 1},
            tuple(dict.fromkeys(row.amount.note for row in rows if row.amount.matches is True)),
        )

    def sentences(self) -> Iterator[str]:
        if self.hidden:
            yield f"Oculto pela fonte: {'; '.join(sorted(self.hidden))}."
        if self.blank:
            yield f"Não informado pela fonte: {'; '.join(sorted(self.blank))}."
        yield from self.amounts
        named_codes = [f"{name}: {', '.join(c)}" for name, c in self.authorities.items() if any(c)]
        if named_codes:
            yield f"Códigos do órgão autuador e do município: {'; '.join(named_codes)}."


def _row(law: AssessedFine, texts: Sequence[str], marks: Mapping[str, str]) -> PaperFine:
    fine = law.record
    clock = ""
    if fine.committed_at is not None:
        clock = f" {fine.committed_at:%H:%M}"
    elif fine.committed_at_text.state != "empty":
        clock = f" {field_text(fine.committed_at_text)}"
    return PaperFine(
        anchor=law.anchor,
        number=law.number,
        when=f"{_day(fine.committed_on, fine.committed_on_text)}{clock}",
        what=(law.description or field_text(fine.description)).rstrip("."),
        standing=law.status.word,
        tone=law.standing.tone,
        icon=law.standing.icon,
        amount=formats.brl(law.amount.value),
        discounts=_discounts(law),
        values=tuple(_values(law)),
        details=" ".join(_details(law)),
        own=" ".join(text for text in texts if text not in marks),
        marks=", ".join(sorted((marks[t] for t in texts if t in marks), key=_order)),
    )


def _values(law: AssessedFine) -> Iterator[PaperValue]:
    fine = law.record
    yield PaperValue("Órgão", _authority(fine))
    yield PaperValue("Local", field_text(named(fine.place)))
    yield PaperValue("Código", _code(law, fine))
    yield PaperValue("Gravidade", _gravity(law))
    yield PaperValue("Registrada em", _day(fine.registered_on, fine.registered_on_text))
    yield PaperValue("Autuação notificada em", _notified(law))
    yield PaperValue("Penalidade emitida em", _penalised(law))
    for clock in _clocks(law):
        if clock.brief and clock in (*law.remedies, law.prescription):
            yield PaperValue(clock.name, clock.brief)
    yield PaperValue("Auto de infração", field_text(fine.notice))
    for detail in (*payment(law), *speeds(law)):
        yield PaperValue(detail.label, field_text(detail.field))
    if _discounts(law):
        yield PaperValue("Com desconto", _discounts(law))


def _details(law: AssessedFine) -> Iterator[str]:
    fine = law.record
    yield f"{_code(law, fine)}; {_gravity(law)}."
    yield f"{_authority(fine)}, {field_text(named(fine.place))}."
    if not fine.notice.is_hidden:
        yield f"Auto de infração: {field_text(fine.notice)}."
    dates = [
        f"Registrada em {_day(fine.registered_on, fine.registered_on_text)}",
        f"notificada em {_notified(law)}",
        f"penalidade em {_penalised(law)}",
    ]
    dates += [
        f"{clock.name}: {clock.brief}"
        for clock in _clocks(law)
        if clock.brief and clock.verdict == "in_time" and clock in law.remedies
    ]
    yield f"{'; '.join(dates)}."
    others = (*speeds(law), *payment(law))
    if others:
        yield f"{'; '.join(f'{one.label}: {field_text(one.field)}' for one in others)}."


def _discount_notes(laws: Sequence[AssessedFine]) -> Iterator[tuple[str, str]]:
    standings: dict[str, dict[str, None]] = {}
    for law in laws:
        if law.amount.value is not None:
            standings.setdefault(law.discount_note, {})[law.status.word] = None
    for note, words in standings.items():
        yield listed(list(words)), note


def _discounts(law: AssessedFine) -> str:
    amount = law.amount
    if not law.has_discount or amount.value is None:
        return ""
    return f"{formats.brl(amount.at_80)} com −20%, {formats.brl(amount.at_60)} com −40%"


def _code(law: AssessedFine, fine: Fine) -> str:
    if not law.infraction:
        return f"{field_text(fine.code)}, fora da tabela do portal"
    return f"{law.infraction.printed}{f', {law.article}' if law.article else ''}"


def _gravity(law: AssessedFine) -> str:
    points = law.points.by_gravity
    many = "" if points is None else f", {counted(points, 'ponto', 'pontos')}"
    return f"{law.gravity_word}{many}"


def _authority(fine: Fine) -> str:
    state = fine.authority_state
    suffix = "" if state.state == "empty" else f" ({field_text(state)})"
    return f"{field_text(named(fine.authority))}{suffix}"


def _codes(fine: Fine) -> tuple[str, ...]:
    return tuple(str(code) for code in (fine.authority_code, fine.municipality_code) if code)


def _notified(law: AssessedFine) -> str:
    fine = law.record
    return f"{_day(fine.notified_on, fine.notified_on_text)}{_brief(law, law.notice)}"


def _penalised(law: AssessedFine) -> str:
    fine = law.record
    return f"{_day(fine.penalty_on, fine.penalty_on_text)}{_brief(law, law.penalty)}"


def _hidden(law: AssessedFine) -> Iterator[str]:
    yield from (one.label for one in given(other_of_fine(law)) if one.field.is_hidden)
    if law.record.notice.is_hidden:
        yield "Auto de infração"


def _sentences(law: AssessedFine, known: _Known, *, is_annex: bool) -> Iterator[str]:
    """Yield the explanations of a fine.

    A sentence about a passed deadline contains no dates, so that several fines can share the
    sentence.
    """
    if note := _standing_note(law):
        yield note
    if law.is_open:
        yield from filter(None, (c.shared for c in (law.notice, law.penalty, law.prescription)))
    if law.amount.note and law.amount.note not in known.amounts:
        yield law.amount.note
    if law.wording.table_text:
        yield f"Na tabela de infrações: {law.wording.table_text}."
    if law.points.note:
        yield law.points.shared_note
    yield from fine_notes(law)
    kind = law.record.kind
    if kind.state != "empty" and f"“{kind}”" not in law.status.shared:
        yield f"Situação na fonte: {field_text(sentence(kind))}."
    yield from _others(law, known)
    hidden = [label for label in _hidden(law) if label not in known.hidden]
    if not is_annex and "Auto de infração" in hidden:
        hidden.remove("Auto de infração")  # the detailed list already shows it as hidden
    if hidden:
        yield f"Oculto pela fonte: {'; '.join(hidden)}."
    missing = [label for label in blank(other_of_fine(law)) if label not in known.blank]
    if missing:
        yield f"Não informado pela fonte: {'; '.join(missing)}."


def _standing_note(law: AssessedFine) -> str:
    """Return the note on the payment state, without the payment date.

    Another part of the dossier prints this date.
    """
    note, paid_on = law.status.shared, law.record.paid_on
    if not law.is_paid or paid_on is None:
        return note
    return note.removeprefix(f"Paga em {formats.short_date(paid_on)}, segundo a fonte.").strip()


def _others(law: AssessedFine, known: _Known) -> Iterator[str]:
    """Yield one sentence that lists the fields of ``other_of_fine`` that have a value.

    A field is left out if another part of the dossier prints the same value. Yields nothing if no
    field is left.
    """
    printed = law.infraction.printed.replace("-", "") if law.infraction else ""
    codes = known.authorities.get(_authority(law.record), ())

    def is_said(one: Detail) -> bool:
        value = str(one.field)
        return (
            value in codes
            or (len(value) == _CODE_DIGITS and printed.startswith(value))
            or f"({value})" in law.amount.note
        )

    shown = [one for one in given(other_of_fine(law)) if one.field and not is_said(one)]
    if shown:
        yield f"{'; '.join(f'{one.label}: {one.field}' for one in shown)}."


def _brief(law: AssessedFine, clock: Clock) -> str:
    return f", {clock.brief}" if law.is_open and clock.brief else ""


def _clocks(law: AssessedFine) -> tuple[Clock, ...]:
    """Return the deadlines that apply to a fine.

    The deadlines for naming the driver and for a defence before the penalty are included only
    until they expire.
    """
    against_notice = (law.prior_defence, law.driver_nomination)
    return tuple(
        clock for clock in law.clocks if clock.verdict == "in_time" or clock not in against_notice
    )


def _rules(laws: Sequence[AssessedFine]) -> str:
    articles = {clock.name: clock.article for law in laws for clock in _clocks(law)}
    if not articles:
        return ""
    return "; ".join([*(f"{name}, {article}" for name, article in articles.items()), RULES_NOTE])


def _letters() -> Iterator[str]:
    """Yield ``a`` to ``z``, then ``aa`` to ``zz``, then ``aaa``, without an end."""
    for length in count(1):
        yield from map("".join, product(ascii_lowercase, repeat=length))


def _order(mark: str) -> tuple[int, str]:
    return len(mark), mark


def _day(day: date | None, text: Field) -> str:
    return field_text(text) if day is None else formats.short_date(day)
