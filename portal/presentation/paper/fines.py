"""The fines in print: a few fines as a detailed list, many fines as an annex.

In the detailed list (also called ledger), each fine has a heading line and below it a grid of
labelled values. In the annex, each fine has a heading line and below it a paragraph. The annex
takes less space. For example, 45 fines fit on little more than two sheets. A sentence that applies
to several fines is printed once, as a note with a letter. Each of these fines shows the letter.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, product
from string import ascii_lowercase
from typing import Final

from portal import formats
from portal.dossier.details import (
    FINE_ROWS,
    Detail,
    authority,
    authority_code,
    blank,
    explanations,
    fine_notes,
    fine_rows,
    given,
    other_of_fine,
    town_code,
)
from portal.dossier.dossier import Dossier
from portal.dossier.fined_places import places_by_year, whom_to_ask
from portal.formats import field_text
from portal.law.assessment import AssessedFine
from portal.vehicle.source_text import sentence
from portal.wording import listed

# The largest number of fines in the detailed list. A longer list is printed as an annex, so that
# page 2 has room for the price and the sums.
MOST_IN_LEDGER: Final = 10
# In the infraction code 745-50, the first four digits ("7455") name the infraction, and the last
# digit names a variant.
_CODE_DIGITS: Final = 4
# The detailed list shows a hidden row as hidden.
_ROW_LABELS: Final = frozenset(row.label for row in FINE_ROWS)


@dataclass(frozen=True)
class PaperFines:
    """The printed fines ``rows``, and what they share."""

    rows: tuple[AssessedFine, ...]

    @property
    def is_annex(self) -> bool:
        return len(self.rows) > MOST_IN_LEDGER

    @cached_property
    def notes(self) -> dict[str, str]:
        """The letter of each note, by the note's text.

        In an annex every sentence is a note, because the annex prints no ``own`` sentences.
        """
        uses = Counter(text for texts in self._sentences.values() for text in texts)
        noted = [text for text, n in uses.items() if n > 1 or self.is_annex]
        return dict(zip(noted, _letters(), strict=False))

    def own(self, fine: AssessedFine) -> str:
        """The sentences that apply only to this fine."""
        return " ".join(text for text in self._sentences[fine.number] if text not in self.notes)

    def marks(self, fine: AssessedFine) -> str:
        """The letters of the notes that apply to this fine."""
        marks = (self.notes[text] for text in self._sentences[fine.number] if text in self.notes)
        return ", ".join(sorted(marks, key=lambda mark: (len(mark), mark)))

    def paragraph(self, fine: AssessedFine) -> str:
        """The rows of a fine in the annex. The notes name the hidden ones."""
        rows = [one for one in fine_rows(fine, "annex") if not one.field.is_hidden]
        return "; ".join(_said(one) for one in rows) + "."

    @property
    def common(self) -> Iterator[str]:
        """Yield the sentences about all fines."""
        if self._hidden_in_all:
            yield f"Oculto pela fonte: {'; '.join(sorted(self._hidden_in_all))}."
        if self._blank_in_all:
            yield f"Não informado pela fonte: {'; '.join(sorted(self._blank_in_all))}."
        yield from self._amount_notes
        codes = [f"{name}: {', '.join(found)}" for name, found in self._codes.items() if found]
        if codes:
            yield f"Códigos do órgão autuador e do município: {'; '.join(codes)}."
        bodies = [f"{body}: {numbers}" for body, numbers in self._appeals.items()]
        if bodies:
            yield f"Quem julga o recurso: {'; '.join(bodies)}."

    @property
    def discounts(self) -> Iterator[tuple[str, str]]:
        """Yield a text that lists payment states, and the discount rule for these fines."""
        words: dict[str, dict[str, None]] = {}
        for fine in self.rows:
            if fine.is_open and fine.amount.value is not None:
                words.setdefault(fine.discount_note, {})[fine.status.word] = None
        for note, states in words.items():
            yield listed(list(states)), note

    @property
    def places(self) -> str:
        """Whom to ask for other fines, and in an annex where its fines happened."""
        found = f"{places_by_year(self.rows)}. " if self.is_annex else ""
        advice = whom_to_ask(self.rows)
        return f"{found}{advice}" if advice else ""

    @cached_property
    def _sentences(self) -> dict[int, tuple[str, ...]]:
        return {fine.number: tuple(self._on(fine)) for fine in self.rows}

    @cached_property
    def _hidden(self) -> dict[int, tuple[str, ...]]:
        """The labels of the values of each fine that the source hides."""
        return {
            fine.number: tuple(
                one.label
                for one in (*other_of_fine(fine), *fine_rows(fine, "annex"))
                if one.field.is_hidden
            )
            for fine in self.rows
        }

    @cached_property
    def _hidden_in_all(self) -> frozenset[str]:
        return _shared(self._hidden.values())

    @cached_property
    def _blank_in_all(self) -> frozenset[str]:
        return _shared(blank(other_of_fine(fine)) for fine in self.rows)

    @cached_property
    def _amount_notes(self) -> tuple[str, ...]:
        """The notes on amounts that agree with the official table."""
        notes = (fine.amount.note for fine in self.rows if fine.amount.matches is True)
        return tuple(dict.fromkeys(notes)) if len(self.rows) > 1 else ()

    @cached_property
    def _codes(self) -> dict[str, tuple[str, ...]]:
        """The codes of each issuing body and its municipality, unless they differ."""
        found: dict[str, set[tuple[str, ...]]] = {}
        for fine in self.rows if len(self.rows) > 1 else ():
            codes = (authority_code(fine), town_code(fine))
            of_body = found.setdefault(field_text(authority(fine)), set())
            of_body.add(tuple(str(code) for code in codes if code))
        return {name: codes.pop() for name, codes in found.items() if len(codes) == 1}

    @property
    def _appeals(self) -> dict[str, str]:
        """The numbers of the open fines of each appeal body in the annex, which has no such row."""
        found: dict[str, list[str]] = {}
        for fine in self.rows if self.is_annex else ():
            if fine.is_open and fine.authority:
                found.setdefault(fine.authority.appeal_body, []).append(str(fine.number))
        return {body: listed(numbers) for body, numbers in found.items()}

    def _on(self, fine: AssessedFine) -> Iterator[str]:
        """Yield the sentences on a fine, except for those about all fines."""
        for text in explanations(fine, shared=True):
            if text == fine.status.shared:
                text = _without_payment_day(fine)
            if text and text not in self._amount_notes:
                yield text
        yield from fine_notes(fine)
        kind = fine.record.kind
        if kind.state != "empty" and f"“{kind}”" not in fine.status.shared:
            yield f"Situação na fonte: {field_text(sentence(kind))}."
        if others := "; ".join(_said(one) for one in self._unsaid(fine)):
            yield f"{others}."
        shown = self._hidden_in_all if self.is_annex else self._hidden_in_all | _ROW_LABELS
        hidden = [label for label in self._hidden[fine.number] if label not in shown]
        if hidden:
            yield f"Oculto pela fonte: {'; '.join(hidden)}."
        missing = [one for one in blank(other_of_fine(fine)) if one not in self._blank_in_all]
        if missing:
            yield f"Não informado pela fonte: {'; '.join(missing)}."

    def _unsaid(self, fine: AssessedFine) -> Iterator[Detail]:
        """Yield the other fields with a value that no other part of the dossier prints."""
        printed = fine.infraction.printed.replace("-", "") if fine.infraction else ""
        codes = self._codes.get(field_text(authority(fine)), ())
        for one in given(other_of_fine(fine)):
            value = str(one.field)
            is_code = len(value) == _CODE_DIGITS and printed.startswith(value)
            if one.field and not (is_code or value in codes or f"({value})" in fine.amount.note):
                yield one


def paper_fines(dossier: Dossier) -> PaperFines | None:
    """Return the printed fines, or None without a readable answer."""
    return None if dossier.fines is None else PaperFines(dossier.listed_fines)


def _shared(labels: Iterable[Sequence[str]]) -> frozenset[str]:
    """Return the labels that all fines have, or none if there is only one fine."""
    of_all = [frozenset(one) for one in labels]
    return frozenset.intersection(*of_all) if len(of_all) > 1 else frozenset()


def _said(one: Detail) -> str:
    """Return a row as a part of a sentence: ``Medido: 64 km/h``, ``registrada em 01/02/2024``."""
    text = field_text(one.field)
    if one.label.endswith(" em"):
        return f"{one.label.lower()} {text}"
    return f"{one.label}: {text}" if one.label else text


def _without_payment_day(fine: AssessedFine) -> str:
    """Return the note on the payment state, without the payment's day, which is a row."""
    note, paid_on = fine.status.shared, fine.record.paid_on
    if not fine.is_paid or paid_on is None:
        return note
    return note.removeprefix(f"Paga em {formats.short_date(paid_on)}, segundo a fonte.").strip()


def _letters() -> Iterator[str]:
    """Yield ``a`` to ``z``, then ``aa`` to ``zz``, then ``aaa``, without an end."""
    for length in count(1):
        yield from map("".join, product(ascii_lowercase, repeat=length))
