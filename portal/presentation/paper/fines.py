"""The fines in print: a few fines as a grid each, many fines as an annex with a row each.

Both have six columns of a fixed width. What has no place in them stands in the record in full,
which the dossier shows on a screen.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from portal import formats
from portal.dossier.details import fine_rows
from portal.dossier.fined_places import whom_to_ask
from portal.formats import field_text
from portal.law.assessment import AssessedFine
from portal.phrasebook import deadlines as say
from portal.presentation.vehicle.fine_ledger import short_authority

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
_DAYS_USED: Final = re.compile(r", (\d+) dos \d+ dias")
_RULES: Final = (
    "Em regra, pelo CTB: autuação em 30 dias (art. 281, § 1º, II); penalidade em 180, ou em 360 "
    "com defesa (art. 282, §§ 6º e 7º); 40% de desconto a quem já usava o SNE na autuação "
    "e não recorre (art. 284, §§ 1º e 6º)."
)


def fine_grid(fine: AssessedFine) -> tuple[Sequence[tuple[str, str]], ...]:
    """Return two rows of six labelled values. A cell without a value has the label ""."""
    found = _values(fine)
    cells = [
        next(((label, found[label]) for label in labels if label in found), ("", ""))
        for labels in _CELLS
    ]
    return tuple(cells[at : at + _COLUMNS] for at in range(0, len(cells), _COLUMNS))


def annex_row(fine: AssessedFine, date: str) -> tuple[str, ...]:
    """Return the six cells of a row of the annex. A line feed starts a cell's next line."""
    found, description = _values(fine), fine.description or field_text(fine.record.description)
    steps = (("Notificada em", fine.notice), ("Penalidade em", fine.penalty))
    days = (
        ", ".join(filter(None, (found[label].partition(",")[0], say.doubt(clock) * fine.is_open)))
        for label, clock in steps
    )
    running = (say.brief(one) for one in fine.remedies if one.verdict == "in_time")
    due = found.get("Pagamento") or next(filter(None, running), "")
    gravity = found["Gravidade"].removesuffix(", não contados")
    return (
        f"{fine.number}. {date}",
        f"{description.rstrip('.')}\n{found['Código']}; {gravity}",
        f"{found['Órgão']}\n{found['Local']}",
        "\n".join(days),
        f"{fine.status.word}\n{due}".strip(),
        "\n".join(filter(None, (formats.brl(fine.amount.value), found.get("Valor pago", "")))),
    )


def fine_rules(fines: Sequence[AssessedFine]) -> Iterator[str]:
    """Yield the note below the fines: the rules, and whom to ask for other fines."""
    if any(fine.is_open for fine in fines):
        yield _RULES
    yield whom_to_ask(fines)
    yield "O registro integral de cada multa está no dossiê em tela. Confirme com o órgão."


def _values(fine: AssessedFine) -> dict[str, str]:
    """Return the values of a fine by the labels of ``FINE_ROWS``, and some in shorter words."""
    record, amount = fine.record, fine.amount
    found = {
        one.label: _DAYS_USED.sub(r", dia \1", field_text(one.field))
        for one in fine_rows(fine, "paper")
    }
    if "Desconto" in found:
        found["Com 20%"] = formats.brl(amount.at_80)
        found["Com 40%, SNE"] = formats.brl(amount.at_60)
    body, state = short_authority(fine.issuer), record.authority_state
    found["Órgão"] = field_text(body) + (f", {field_text(state)}" if state else "")
    found["Código"] = found["Enquadramento"].removesuffix(" do CTB")
    if amount.value is not None and "Valor pago" in found:
        found["Valor pago"] = found["Valor pago"].partition(" (")[0]
    return found
