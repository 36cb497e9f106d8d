"""Format money, days and lists for the Portuguese sentences of ``portal.law``.

``portal.presentation.formats`` has the filters for templates. These functions serve the sentences
composed in this package, so that a verdict has the same text on a page, on paper and in a test.
"""

import unicodedata
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

NO_BREAK_SPACE = "\u00a0"


def money(value: Decimal) -> str:
    """Format ``R$ 1.234,56`` with a no-break space; ``value`` in reais, finite."""
    digits = f"{abs(value):,.2f}".translate(str.maketrans(",.", ".,"))
    return f"{'-' if value < 0 else ''}R${NO_BREAK_SPACE}{digits}"


def day(value: date) -> str:
    """Format ``dd/mm/aaaa``; strftime's year padding depends on the platform."""
    return f"{value.day:02}/{value.month:02}/{value.year:04}"


def moment(value: datetime) -> str:
    """Format ``dd/mm/aaaa às hh:mm`` in the value's own time zone."""
    return f"{day(value.date())} às {value.hour:02}:{value.minute:02}"


def grouped(number: int) -> str:
    """Format an integer with thousands separators: ``825``, ``4.113``."""
    return f"{number:,}".replace(",", ".")


def counted(count: int, one: str, many: str) -> str:
    """Format a count with its noun: ``1 dia``, ``22 dias``, ``4.113 dias``."""
    return f"{grouped(count)} {one if count == 1 else many}"


def listed(parts: Sequence[str], last: str = " e ") -> str:
    """Join a list: ``a``, ``a e b``, ``a, b e c``."""
    if len(parts) < 2:
        return "".join(parts)
    return ", ".join(parts[:-1]) + last + parts[-1]


def bare(text: str) -> str:
    """Convert to upper case without accents, to compare words of different spellings."""
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).upper()
