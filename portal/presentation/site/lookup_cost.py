"""The text in the search form about the price of a lookup and the daily limit."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from portal.presentation import formats
from portal.presentation.failure_texts import back_at_midnight
from portal.wording import grouped

STORED_IS_FREE: Final = "O que já está guardado não custa nada."
_SPENT: Final = "O limite de hoje foi usado. {} O que já está guardado continua à mão."


@dataclass(frozen=True, slots=True)
class LookupCost:
    """The highest possible cost of looking up one plate, in R$, and the daily limit.

    ``left`` is how many more plates the limit allows today, or None if there is no limit.
    ``midnight_s`` is the number of seconds until the next day.
    """

    most: Decimal
    left: int | None
    midnight_s: float


def lookup_cost_text(cost: LookupCost) -> str:
    """Return the text for the search form, or "" if lookups are free and unlimited."""
    if cost.left == 0:
        return _SPENT.format(back_at_midnight(cost.midnight_s))
    parts = []
    if cost.most > 0:
        parts.append(f"Até {formats.brl(cost.most)} por placa")
    if cost.left is not None:
        verb, noun = ("resta", "consulta") if cost.left == 1 else ("restam", "consultas")
        parts.append(f"{verb} {grouped(cost.left)} {noun} hoje")
    if not parts:
        return ""
    text = " · ".join(parts)
    return f"{text[0].upper()}{text[1:]}. {STORED_IS_FREE}"
