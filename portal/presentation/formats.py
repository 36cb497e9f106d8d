"""Numbers, money, dates and ages in Brazilian Portuguese.

The forms are those of CLDR's pt_BR; the tests compare them with Babel's. A missing value is
formatted as "não informado", so that a missing price is never printed as R$ 0,00.
"""

from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from jinja2 import Environment

from portal.presentation.glossary_links import term_link

MISSING: Final = "não informado"
_NBSP: Final = "\u00a0"
_SWAP: Final = str.maketrans(",.", ".,")
# Numbers of 10**16 and more count as missing: no amount is that large, and a long text would fill
# the page.
_LARGEST_EXPONENT: Final = 15

_MONTHS: Final = (
    *("janeiro", "fevereiro", "março", "abril", "maio", "junho"),
    *("julho", "agosto", "setembro", "outubro", "novembro", "dezembro"),
)


@cache
def _sao_paulo() -> ZoneInfo:
    return ZoneInfo("America/Sao_Paulo")


def local_time(moment: datetime) -> datetime:
    """An aware moment in America/Sao_Paulo."""
    return moment.astimezone(_sao_paulo())


def local_date(moment: datetime) -> date:
    """The calendar day of an aware moment in America/Sao_Paulo."""
    return local_time(moment).date()


def brl(amount: Decimal | int | None) -> str:
    """``R$ 1.234,56`` with a no-break space, ``-R$ 1.234,56`` below zero."""
    number = _readable(amount)
    if number is None:
        return MISSING
    rounded = number.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
    sign = "-" if rounded < 0 else ""
    return f"{sign}R${_NBSP}{_grouped(abs(rounded), 2)}"


def whole_brl(amount: Decimal | int | None) -> str:
    """``R$ 89.325``: money without cents, for axes and for prices in whole reais."""
    number = _readable(amount)
    if number is None:
        return MISSING
    rounded = number.quantize(Decimal(1), ROUND_HALF_EVEN)
    sign = "-" if rounded < 0 else ""
    return f"{sign}R${_NBSP}{_grouped(abs(rounded), 0)}"


def integer(number: int | Decimal | None) -> str:
    """``1.234``: grouped by thousands, no decimals."""
    value = _readable(number)
    return MISSING if value is None else _grouped(value, 0)


def percent(ratio: Decimal | float | None, places: int = 1) -> str:
    """A ratio as ``-8,2%``: 0.05 is ``5,0%``."""
    value = _readable(None if ratio is None else Decimal(str(ratio)))
    return MISSING if value is None else f"{_grouped(value * 100, places)}%"


def change(points: Decimal | None) -> str:
    """Percentage points with their sign: ``+3,1%``, ``-8,2%``, ``0,0%``."""
    value = _readable(points)
    if value is None:
        return MISSING
    text = _grouped(value, 1)
    return f"+{text}%" if value > 0 and text != "0,0" else f"{text}%"


def short_date(day: date | None) -> str:
    """``18/08/2024``."""
    return MISSING if day is None else f"{day.day:02}/{day.month:02}/{day.year:04}"


def long_date(day: date | None) -> str:
    """``18 de agosto de 2024``."""
    return MISSING if day is None else f"{day.day} de {_MONTHS[day.month - 1]} de {day.year}"


def month(day: date | None) -> str:
    """``jan/25``, for axes."""
    return MISSING if day is None else f"{_MONTHS[day.month - 1][:3]}/{day.year % 100:02}"


def long_month(day: date | None) -> str:
    """``janeiro de 2025``."""
    return MISSING if day is None else f"{_MONTHS[day.month - 1]} de {day.year}"


def moment(when: datetime | None) -> str:
    """``18/08/2024 às 09:30``.

    An aware moment is converted to America/Sao_Paulo; a naive one is local time already.
    """
    if when is None:
        return MISSING
    local = when if when.tzinfo is None else local_time(when)
    return f"{short_date(local.date())} às {local.hour:02}:{local.minute:02}"


def age(elapsed: timedelta) -> str:
    """Elapsed time: ``agora``, ``há 3 min``, ``há 2 h`` (to 47 h), ``há 5 dias``."""
    minutes = int(elapsed.total_seconds() // 60)
    if minutes < 1:
        return "agora"
    if minutes < 60:
        return f"há {minutes}{_NBSP}min"
    hours = minutes // 60
    if hours < 48:
        return f"há {hours}{_NBSP}h"
    return f"há {hours // 24}{_NBSP}dias"


def duration(seconds: int) -> str:
    """A span in its two largest units: ``8 dias``, ``1 dia e 6 horas``.

    The rest is rounded up, so that the text never understates the span.
    """
    units = (("dia", 86400), ("hora", 3600), ("minuto", 60), ("segundo", 1))
    # Rounding up may fill a larger unit (23 h 59 min 30 s), so divmod starts again at days.
    for (_, size), (_, below) in pairwise(units):
        if seconds >= size:
            seconds = -(-seconds // below) * below
            break
    parts = []
    for word, size in units:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(plural(count, word, word + "s"))
    return " e ".join(parts) or "0 segundos"


def plural(count: int, one: str, many: str) -> str:
    """``1 multa``, ``2 multas``, ``0 multas``: the grouped count with its noun."""
    return f"{integer(count)} {one if count == 1 else many}"


def _readable(number: Decimal | int | None) -> Decimal | None:
    """The number as a Decimal; None if missing, not finite, or 10**16 or more."""
    if number is None:
        return None
    value = Decimal(number)
    if not value.is_finite() or value.adjusted() > _LARGEST_EXPONENT:
        return None
    return value


def _grouped(value: Decimal, places: int) -> str:
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
    # Adding 0 turns -0 into 0.
    return f"{rounded + 0:,.{places}f}".translate(_SWAP)


def register(environment: Environment) -> None:
    """Register filters and ``term``, and strip the blank lines that tags leave."""
    environment.trim_blocks = True
    environment.lstrip_blocks = True
    environment.globals["term"] = term_link
    environment.filters.update(
        {
            "brl": brl,
            "whole_brl": whole_brl,
            "integer": integer,
            "percent": percent,
            "change": change,
            "date": short_date,
            "long_date": long_date,
            "month": month,
            "long_month": long_month,
            "moment": moment,
            "age": age,
            "plural": plural,
            "duration": duration,
        }
    )
