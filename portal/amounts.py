"""Amounts in R$ that may be unknown.

An unknown amount is None. It is never 0, because 0 means that a call is free.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

# The text of an unknown amount in the database. Versions before schema revision 0013 have no
# unknown amounts: they read this text as 0, and so does a CAST in either database.
UNKNOWN_TEXT: Final = "-0"


def total(amounts: Iterable[Decimal | None]) -> Decimal | None:
    """Return the sum, or None if one of the amounts is unknown."""
    sum_so_far = Decimal(0)
    for amount in amounts:
        if amount is None:
            return None
        sum_so_far += amount
    return sum_so_far


def amount_text(amount: Decimal | None) -> str:
    """Return the text of an amount for a column of the database."""
    return UNKNOWN_TEXT if amount is None else str(amount)


def amount_of(text: str) -> Decimal | None:
    """Return the amount that ``amount_text`` has written."""
    return None if text == UNKNOWN_TEXT else Decimal(text)
