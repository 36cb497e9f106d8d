"""Parser for Brazilian money inputs, which rejects ambiguous texts instead of guessing."""

import re
from decimal import Decimal
from typing import Final

LARGEST: Final = Decimal("99999999.99")
NOT_MONEY: Final = "Escreva um valor em reais, como 1.234,56."
NEGATIVE: Final = "Escreva um valor positivo."
TOO_LARGE: Final = "O valor é grande demais: o limite é 99.999.999,99."

_BLANKS: Final = str.maketrans("", "", " \t\u00a0\u2009\u202f")
# Digits, optionally in groups of three separated by dots, then up to two decimals after a comma.
_BRAZILIAN: Final = re.compile(r"([0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,([0-9]{0,2}))?", re.ASCII)
# As in "1234.5": a dot in front of the last one or two digits can only be a decimal point.
_CALCULATOR: Final = re.compile(r"([0-9]+)\.([0-9]{1,2})", re.ASCII)


class NotMoney(ValueError):
    """A text is not an amount of money. ``str()`` of the error is a message for the visitor."""


def read_money(text: str) -> Decimal | None:
    """Parse ``1.234,56``, ``R$ 1234,5``, ``1234.56`` or ``1.234`` (1234) as an amount in R$.

    Returns None for a blank text. Raises NotMoney for a text in none of these forms, and for a
    negative or too large amount.
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
