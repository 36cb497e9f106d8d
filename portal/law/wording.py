"""How sentences of this room write money, days and lists in Brazilian Portuguese.

The web room has its own filters for templates; these serve the sentences that are
composed here, so that a verdict reads the same on a page, on paper and in a test.
"""

import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

NO_BREAK_SPACE = "\u00a0"


def money(value: Decimal) -> str:
    """``R$ 1.234,56`` with a no-break space; ``value`` in reais, finite."""
    digits = f"{abs(value):,.2f}".translate(str.maketrans(",.", ".,"))
    return f"{'-' if value < 0 else ''}R${NO_BREAK_SPACE}{digits}"


def day(value: date) -> str:
    """``dd/mm/aaaa``; strftime pads the year differently from one platform to another."""
    return f"{value.day:02}/{value.month:02}/{value.year:04}"


def moment(value: datetime) -> str:
    """``dd/mm/aaaa às hh:mm``, of the value's own zone."""
    return f"{day(value.date())} às {value.hour:02}:{value.minute:02}"


def grouped(number: int) -> str:
    """``825``, ``4.113``."""
    return f"{number:,}".replace(",", ".")


def counted(count: int, one: str, many: str) -> str:
    """``1 dia``, ``22 dias``, ``4.113 dias``."""
    return f"{grouped(count)} {one if count == 1 else many}"


def listed(parts: Sequence[str], last: str = " e ") -> str:
    """``a``, ``a e b``, ``a, b e c``."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + last + parts[-1]


def bare(text: str) -> str:
    """Upper case without accents, for comparing words that arrive in many spellings."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).upper()
