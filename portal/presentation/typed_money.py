"""Parses typed amounts of money in Brazilian spelling."""

import re
from decimal import Decimal
from typing import Final

LARGEST: Final = Decimal("99999999.99")
NOT_MONEY: Final = "Escreva um valor em reais, como 1.234,56."
NEGATIVE: Final = "Escreva um valor positivo."
TOO_LARGE: Final = "O valor é grande demais: o limite é 99.999.999,99."

_BLANKS: Final = str.maketrans("", "", " \t\u00a0\u2009\u202f")
# Digits, with or without dots between thousands. A comma and up to two decimals may follow.
_BRAZILIAN: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,([0-9]{0,2}))?", re.ASCII)
# A dot before the last one or two digits, as in "1234.5", can only be a decimal point.
_CALCULATOR: Final = re.compile(r"([0-9]+)\.([0-9]{1,2})", re.ASCII)


class NotMoney(ValueError):
    """A text is no valid amount of money. The error's message is for the visitor."""


def read_money(text: str) -> Decimal | None:
    """Parse an amount in R$. Return None for a blank text.

    Valid forms are ``1.234,56``, ``R$ 1234,5``, ``1234.56``, and ``1.234`` for 1234. Raises
    NotMoney for any other form, and for an amount below 0 or above LARGEST.
    """
    bare = text.translate(_BLANKS)
    if bare[:2].upper() == "R$":
        bare = bare[2:]
    if not bare:
        return None
    if bare[0] in "-−–":
        raise NotMoney(NEGATIVE)
    found = _BRAZILIAN.fullmatch(bare) or _CALCULATOR.fullmatch(bare)
    if found is None:
        raise NotMoney(NOT_MONEY)
    whole, cents = found[1].replace(".", "").lstrip("0") or "0", found[2] or "0"
    if len(whole) > len(str(int(LARGEST))):
        raise NotMoney(TOO_LARGE)
    return Decimal(f"{whole}.{cents}").quantize(Decimal("0.01"))
