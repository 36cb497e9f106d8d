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


def read_money(text: str) -> tuple[Decimal | None, str]:
    """Parse an amount in R$. Return it and "", or None and what the visitor has to mend.

    Valid forms are ``1.234,56``, ``R$ 1234,5``, ``1234.56``, and ``1.234`` for 1234. A blank text
    has neither an amount nor a mistake. An amount below 0 or above LARGEST is a mistake.
    """
    bare = text.translate(_BLANKS)
    if bare[:2].upper() == "R$":
        bare = bare[2:]
    if not bare:
        return None, ""
    if bare[0] in "-−–":
        return None, NEGATIVE
    amount = _BRAZILIAN.fullmatch(bare) or _CALCULATOR.fullmatch(bare)
    if amount is None:
        return None, NOT_MONEY
    whole, cents = amount[1].replace(".", "").lstrip("0") or "0", amount[2] or "0"
    if len(whole) > len(str(int(LARGEST))):
        return None, TOO_LARGE
    return Decimal(f"{whole}.{cents}").quantize(Decimal("0.01")), ""
