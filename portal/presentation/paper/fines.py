"""The fines in print: a few fines as a grid each, many fines as an annex with a row each.

Both have six columns of a fixed width. What has no place in them stands in the record in full,
which the dossier shows on a screen.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from portal import formats
from portal.dossier.details import Detail, classified, day, fine_notes, fine_rows, gravity_of
from portal.dossier.fined_places import whom_to_ask
from portal.formats import field_text
from portal.law.assessment import AssessedFine, Totals
from portal.phrasebook import deadlines as say
from portal.phrasebook import fines as say_fine
from portal.phrasebook import sums
from portal.phrasebook.sums import Sum
from portal.presentation.authority import short_authority
from portal.vehicle.field import Field
from portal.vehicle.fines import Fine

# The largest number of fines that have a grid each. The annex has more, so that page 2 has room for
# the price and the sums.
MOST_IN_LEDGER: Final = 10
# The cells of a grid, two rows of six. A cell shows the first of its rows that the fine has.
_DUE: Final = ("Pagamento", "Defesa prévia", "Recurso à JARI e vencimento", "Indicação do condutor")
_CELLS: Final = (
    *(("Órgão",), ("Código",), ("Gravidade",), ("Notificada em",), ("Penalidade em",), _DUE),
    *(("Local",), ("Registrada em",)),
    ("Com 20%", "Medido", "Valor pago", "Quem julga o recurso"),
    ("Com 40%, SNE", "Limite", "Pagamento registrado em", "Município"),
    ("Auto de infração",),
    ("Prescrição", "Paga em (estado)"),
)
_COLUMNS: Final = 6
# The day of each step that has a legal period, by its label.
_STEP_DAYS: Final[Mapping[str, Callable[[Fine], tuple[date | None, Field]]]] = {
    "Notificada em": lambda record: (record.notified_on, record.notified_on_text),
    "Penalidade em": lambda record: (record.penalty_on, record.penalty_on_text),
}
_RULES: Final = (
    "Em regra, pelo CTB: autuação em 30 dias (art. 281, § 1º, II); penalidade em 180, ou em 360 "
    "com defesa (art. 282, §§ 6º e 7º); 40% de desconto a quem já usava o SNE na autuação "
    "e não recorre (art. 284, §§ 1º e 6º)."
)


@dataclass(frozen=True)
class PaperFine:
    """A fine in print. What the grid and the record in full both show is computed once."""

    fine: AssessedFine

    @cached_property
    def rows(self) -> tuple[Detail, ...]:
        return tuple(fine_rows(self.fine, "paper"))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        return fine_notes(self.fine)

    @property
    def committed(self) -> str:
        """The day and the time of the infraction."""
        record = self.fine.record
        on = field_text(day(record.committed_on, record.committed_on_text))
        if record.committed_at is not None:
            return f"{on} {record.committed_at:%H:%M}"
        at = record.committed_at_text
        return on if at.state == "empty" else f"{on} {field_text(at)}"

    @property
    def description(self) -> str:
        """What the fine is for, without a full stop."""
        return (self.fine.description or field_text(self.fine.record.description)).rstrip(".")

    @property
    def grid(self) -> tuple[Sequence[tuple[str, str]], ...]:
        """Two rows of six labelled values. A cell without a value has the label ""."""
        values = _values(self.fine, self.rows)
        cells = [
            next(((label, values[label]) for label in labels if label in values), ("", ""))
            for labels in _CELLS
        ]
        return tuple(cells[at : at + _COLUMNS] for at in range(0, len(cells), _COLUMNS))

    @property
    def annex_row(self) -> tuple[str, ...]:
        """The six cells of a row of the annex. A line feed starts a cell's next line."""
        fine, values = self.fine, _values(self.fine, self.rows)
        record = fine.record
        steps = (
            (day(record.notified_on, record.notified_on_text), fine.notice),
            (day(record.penalty_on, record.penalty_on_text), fine.penalty),
        )
        days = (
            ", ".join(filter(None, (field_text(on), say.doubt(deadline) * fine.is_open)))
            for on, deadline in steps
        )
        running = (say.brief(one) for one in fine.remedies if one.verdict == "in_time")
        due = values.get("Pagamento") or next(filter(None, running), "")
        gravity = field_text(gravity_of(fine, short=True))
        return (
            f"{fine.number}. {self.committed}",
            f"{self.description}\n{values['Código']}; {gravity}",
            f"{values['Órgão']}\n{values['Local']}",
            "\n".join(days),
            f"{say_fine.status_word(fine.status)}\n{due}".strip(),
            "\n".join(filter(None, (formats.brl(fine.amount.value), values.get("Valor pago", "")))),
        )


def paper_sums(totals: Totals) -> tuple[Sum, ...]:
    return (sums.owed(totals), sums.enforceable(totals), *sums.others(totals))


def fine_rules(fines: Sequence[AssessedFine]) -> Iterator[str]:
    """Yield the note below the fines: the rules, and whom to ask for other fines."""
    if any(fine.is_open for fine in fines):
        yield _RULES
    yield whom_to_ask(fines)
    yield "O registro integral de cada multa está no dossiê em tela. Confirme com o órgão."


def _values(fine: AssessedFine, rows: Sequence[Detail]) -> dict[str, str]:
    """Return the values of a fine by the labels of its rows, and some in shorter words."""
    record, amount = fine.record, fine.amount
    values = {one.label: field_text(one.field) for one in rows}
    for label, deadline in (("Notificada em", fine.notice), ("Penalidade em", fine.penalty)):
        if fine.is_open and deadline.why == "in_time":
            on, text = _STEP_DAYS[label](record)
            values[label] = f"{field_text(day(on, text))}, {say.short(deadline)}"
    if "Desconto" in values:
        values["Com 20%"] = formats.brl(amount.at_80)
        values["Com 40%, SNE"] = formats.brl(amount.at_60)
    body, state = short_authority(fine.issuer), record.authority_state
    values["Órgão"] = field_text(body) + (f", {field_text(state)}" if state else "")
    values["Código"] = field_text(classified(fine, short=True))
    if amount.value is not None and "Valor pago" in values and fine.paid.value is not None:
        values["Valor pago"] = say_fine.paid_sum(fine.paid)
    return values
