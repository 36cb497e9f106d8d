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


def contradiction(found: Contradiction) -> str:
    """Say what the text states, and what the records state instead."""
    match found:
        case OrdersOmitted():
            what = counted(found.orders, "restrição judicial", "restrições judiciais")
            return f"O texto não aponta restrição; os registros trazem {what}."
        case FinesOmitted():
            what = count_words(found.fines, found.notices)
            return f"O texto não aponta multa em aberto; os registros trazem {what}."
        case FinesDiffer():
            shown = listed([money(each) for each in found.stated])
            total = money(found.known)
            return f"O texto fala em {shown} de multas; os registros somam {total} em aberto."
        case PriceDiffers():
            low, high = money(found.low, 0), money(found.high, 0)
            table = low if low == high else f"{low} a {high}"
            return f"O texto fala em {money(found.stated)}; a tabela FIPE traz {table}."
        case DoubtOmitted():
            doubt = clause(found.doubt)
            return f"O texto não aponta problema na identificação; os registros dizem: {doubt}."
        case Praised():
            said = (
                "A conclusão não aponta isto" if found.is_silent else "O texto recomenda o veículo"
            )
            return f"{said}; os registros dizem: {headline(found.verdict)}."
    assert_never(found)
