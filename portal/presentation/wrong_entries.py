"""Says what is wrong with the entries of a list that are no vehicle."""

from collections.abc import Sequence
from typing import Final

from portal.batch.typed_list import WrongEntry
from portal.presentation.typed_subject import doubt_reason

NOT_RECOGNISED: Final = "Não é placa nem Renavam."
VINS: Final = (
    "Parecem chassis, que têm 17 caracteres. A consulta é pela placa ou pelo Renavam, que estão no "
    "documento do veículo."
)
NOT_A_TEXT: Final = "Não é um texto: a placa ou o Renavam vai entre aspas."


def wrong_message(entry: WrongEntry) -> str:
    """Say why an entry is invalid, and suggest a similar valid entry if known."""
    if not entry.is_text:
        return NOT_A_TEXT
    hint = doubt_reason(entry.typed) or NOT_RECOGNISED
    # The reason of a "number" is its spelling, so its digits alone are a correction.
    has_question = entry.suggestion and (not entry.is_as_typed or entry.doubt == "number")
    return f"{hint} Quis dizer {entry.suggestion}?" if has_question else hint


def first_message(wrong: Sequence[WrongEntry]) -> str:
    """Say why a list has no vehicle, by its entries: as a whole, or by the first of them."""
    if sum(entry.doubt == "vin" for entry in wrong) > 1:
        return VINS
    return wrong_message(wrong[0]) if wrong else ""
