"""Formats money, numbers and times, of which each may be missing.

A missing value becomes "não informado" (not stated), so a missing price is never shown as R$ 0,00.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Final

from portal import wording
from portal.system.local_time import local_date, local_time
from portal.vehicle.field import Field, State

MISSING: Final = "não informado"
_WITHOUT_VALUE: Final[Mapping[State, str]] = {
    "hidden": "oculto pela fonte",
    "unread": "indisponível na fonte",
    "empty": MISSING,
}
UNPRICED: Final = "preço não informado"
# The filters treat 10**16 and larger numbers as missing, because no real amount is that large.
_LARGEST_EXPONENT: Final = 15


def call_price(amount: Decimal | None) -> str:
    """Format what an upstream call costs. A price of 0 is free, an unknown one is not."""
    if amount is None:
        return UNPRICED
    return brl(amount) if amount else "sem custo"


def brl(amount: Decimal | int | None) -> str:
    """Format as ``R$ 1.234,56``, or as ``−R$ 1.234,56`` below zero."""
    return _money(amount, 2)


def whole_brl(amount: Decimal | int | None) -> str:
    """Format without cents, ``R$ 89.325``, for prices in whole reais."""
    return _money(amount, 0)


def price(amount: Decimal | None) -> str:
    """Format a vehicle's price as ``R$ 89.325``, with cents only if they are not zero."""
    number = _readable(amount)
    return _money(number, 2 if number is None or number % 1 else 0)


def price_range(amounts: Sequence[Decimal]) -> str:
    """Format the range as ``R$ 12.809 a R$ 14.802``, with cents in both amounts or in neither."""
    is_whole = all(amount == amount.to_integral_value() for amount in amounts)
    form = whole_brl if is_whole else brl
    return " a ".join(dict.fromkeys((form(min(amounts)), form(max(amounts)))))


def integer(number: int | Decimal | None) -> str:
    """Format as ``1.234``, without decimals."""
    value = _readable(number)
    return MISSING if value is None else wording.grouped(value)


def percent(ratio: Decimal | float | None, places: int = 1) -> str:
    """Format a ratio in per cent: 0.05 becomes ``5,0%``."""
    value = _readable(None if ratio is None else Decimal(str(ratio)))
    return MISSING if value is None else f"{wording.grouped(value * 100, places)}%"


def change(points: Decimal | None) -> str:
    """Format a change in per cent with its sign: ``+3,1%``, ``−8,2%``, ``0,0%``."""
    value = _readable(points)
    if value is None:
        return MISSING
    text = wording.grouped(value, 1)
    return f"+{text}%" if value > 0 and text != "0,0" else f"{text}%"


def change_range(points: tuple[Decimal, Decimal]) -> str:
    """Format the least and the greatest change as ``−4,4% a −2,8%``, or one if they are alike."""
    return " a ".join(dict.fromkeys(map(change, points)))


def short_date(day: date | None) -> str:
    """Format as ``18/08/2024``."""
    return MISSING if day is None else wording.day(day)


def long_date(day: date | None) -> str:
    """Format as ``18 de agosto de 2024``."""
    return MISSING if day is None else f"{day.day} de {wording.MONTHS[day.month - 1]} de {day.year}"


def day_words(moment: datetime, now: datetime) -> str:
    """Name the local day of a moment: ``Hoje``, ``Ontem``, or its date."""
    day, today = local_date(moment), local_date(now)
    near = {today: "Hoje", today - timedelta(days=1): "Ontem"}
    return near.get(day) or long_date(day)


def month(day: date | None) -> str:
    """Format a month as ``jan/25``."""
    return MISSING if day is None else wording.month(day)


def long_month(day: date | None) -> str:
    """Format a month as ``janeiro de 2025``."""
    return MISSING if day is None else f"{wording.MONTHS[day.month - 1]} de {day.year}"


def moment(when: datetime | None) -> str:
    """Format as ``18/08/2024 às 09:30``. An aware datetime is converted to America/Sao_Paulo."""
    if when is None:
        return MISSING
    return wording.moment(when if when.tzinfo is None else local_time(when))


def near_moment(when: datetime, today: date) -> str:
    """Format as ``09:30`` if the local day is ``today``, else as ``18/08``."""
    at = local_time(when)
    return f"{at:%H:%M}" if at.date() == today else f"{at:%d/%m}"


def field_text(field: Field) -> str:
    """Return the field's text, or a phrase if the source hides, could not read or omits it."""
    if field:
        return str(field)
    return _WITHOUT_VALUE[field.state]


def age(elapsed: timedelta) -> str:
    """Format elapsed time, as in ``agora`` (now) or ``há 3 min`` (3 minutes ago).

    The unit is minutes below one hour, hours below 48 hours, and days for longer times.
    """
    minutes = int(elapsed.total_seconds() // 60)
    if minutes < 1:
        return "agora"
    if minutes < 60:
        return f"há {minutes}{wording.NO_BREAK_SPACE}min"
    hours = minutes // 60
    if hours < 48:
        return f"há {hours}{wording.NO_BREAK_SPACE}h"
    return f"há {hours // 24}{wording.NO_BREAK_SPACE}dias"


def duration(seconds: int) -> str:
    """Format a time span in at most two units: ``8 dias``, ``1 dia e 6 horas``.

    The smaller of the two units is rounded up, so that the text never understates the span.
    """
    units = (("dia", 86400), ("hora", 3600), ("minuto", 60), ("segundo", 1))
    # The span is rounded before it is split, because 23 h 59 min 30 s must become 1 day, not 24 h.
    for (_, size), (_, below) in pairwise(units):
        if seconds >= size:
            seconds = -(-seconds // below) * below
            break
    parts = []
    for word, size in units:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(wording.counted(count, word, word + "s"))
    return " e ".join(parts) or "0 segundos"


def size(number: int) -> str:
    """Format a number of bytes in decimal units: ``825 bytes``, ``5,7 MB``."""
    value, unit = Decimal(number), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if value < 1000:
            break
        value, unit = value / 1000, larger
    places = 0 if unit == "bytes" or value >= 100 else 1
    return f"{wording.grouped(value, places)}{wording.NO_BREAK_SPACE}{unit}"


def _money(amount: Decimal | int | None, places: int) -> str:
    number = _readable(amount)
    return MISSING if number is None else wording.money(number, places=places)


def _readable(number: Decimal | int | None) -> Decimal | None:
    if number is None:
        return None
    value = Decimal(number)
    if not value.is_finite() or value.adjusted() > _LARGEST_EXPONENT:
        return None
    return value
