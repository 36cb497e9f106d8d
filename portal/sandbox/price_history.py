"""Generates monthly price histories.

The price change in a month depends on that month, the price-table entry and the model year, but not
on today's date. Past prices therefore never change, and a predicted price later becomes the actual
price.
"""

from datetime import date
from hashlib import blake2b

# November 2026, the month of ``Family.price``, counted in months since year 0.
_REFERENCE = 2026 * 12 + 10
_LEAST_PRICE = 900

Record = dict[str, object]


def price_history(key: str, level: float, today: date, months: int, tail: int) -> list[Record]:
    """Return the upstream's record of each of ``months`` consecutive months.

    The last ``tail`` prices are predictions for the months after ``today``. ``level`` is the price
    in November 2026 in R$. Equal values of ``key`` give equal price changes.
    """
    now = today.year * 12 + today.month - 1
    first, last = now + tail - months + 1, now + tail
    values = _values(key, level, first, last)
    return [
        {
            "mes": str(month % 12 + 1),
            "ano": str(month // 12),
            "valor": str(value),
            "predicao": month > now,
        }
        for month, value in values.items()
    ]


def _values(key: str, level: float, first: int, last: int) -> dict[int, int]:
    exact = {_REFERENCE: level}
    for month in range(_REFERENCE + 1, last + 1):
        exact[month] = exact[month - 1] * (1 + _change(key, month))
    for month in range(_REFERENCE - 1, first - 1, -1):
        exact[month] = exact[month + 1] / (1 + _change(key, month + 1))
    return {month: max(_LEAST_PRICE, round(exact[month])) for month in range(first, last + 1)}


def _change(key: str, month: int) -> float:
    """Return the relative change since the previous month: -0.01 means 1 % less."""
    fraction = _hash_fraction(key, month)
    if fraction < 0.06:
        return 0.0
    if fraction > 0.96:  # in 4 % of the months, the price jumps down or, less often, up
        return -0.034 if fraction < 0.985 else 0.03
    # Prices of used cars fall by about 0.5 % a month. From September 2020 to March 2022, prices
    # rose by about 1.2 % a month, because factories were closed.
    drift = 0.012 if 2020 * 12 + 8 <= month <= 2022 * 12 + 2 else -0.0045
    return drift + (fraction - 0.51) * 0.028


def _hash_fraction(key: str, month: int) -> float:
    """Return a number in [0, 1) from a hash.

    The hash is about ten times faster than a seeded random generator.
    """
    digest = blake2b(f"{key}\x1f{month}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64
