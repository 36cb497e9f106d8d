"""The words of what a written report says otherwise than the records."""

from typing import assert_never

from portal.law.report_check import (
    Contradiction,
    DoubtOmitted,
    FinesDiffer,
    FinesOmitted,
    OrdersOmitted,
    Praised,
    PriceDiffers,
)
from portal.phrasebook.findings import clause
from portal.phrasebook.sums import count_words
from portal.phrasebook.verdict import headline
from portal.wording import counted, listed, money


def contradiction(claim: Contradiction) -> str:
    """Say what the text states, and what the records state instead."""
    match claim:
        case OrdersOmitted():
            what = counted(claim.orders, "restrição judicial", "restrições judiciais")
            return f"O texto não aponta restrição; os registros trazem {what}."
        case FinesOmitted():
            what = count_words(claim.fines, claim.notices)
            return f"O texto não aponta multa em aberto; os registros trazem {what}."
        case FinesDiffer():
            shown = listed([money(amount) for amount in claim.stated])
            total = money(claim.known)
            return f"O texto fala em {shown} de multas; os registros somam {total} em aberto."
        case PriceDiffers():
            low, high = money(claim.low, 0), money(claim.high, 0)
            table = low if low == high else f"{low} a {high}"
            return f"O texto fala em {money(claim.stated)}; a tabela FIPE traz {table}."
        case DoubtOmitted():
            doubt = clause(claim.doubt)
            return f"O texto não aponta problema na identificação; os registros dizem: {doubt}."
        case Praised():
            said = (
                "A conclusão não aponta isto" if claim.is_silent else "O texto recomenda o veículo"
            )
            return f"{said}; os registros dizem: {headline(claim.verdict)}."
    assert_never(claim)
