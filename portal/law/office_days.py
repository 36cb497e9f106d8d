"""Move a last day without office hours to the next working day.

The days of a deadline run on, but a last day on which the authority's office is closed moves to the
next working day (Resolução CONTRAN 918/2022, art. 29, sole paragraph; Código Civil, art. 132,
§ 1º). ``holidays.csv`` has the national holidays and those of each state, as of November 2026. It
also has carnival and Corpus Christi, on which offices and banks are closed in practice. Holidays of
towns are unknown. A deadline may therefore end later than computed, never earlier. A holiday that
always falls on a Sunday, as those of Santa Catarina since 2005, is not listed.
"""

import re
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Final

from portal.data_files import read_csv

_EASTER: Final = re.compile(r"easter([+-]\d+)")
_FRIDAY: Final = 4
_WEEKEND: Final = (5, 6)
_DAY: Final = timedelta(days=1)


def next_office_day(day: date, state: str = "") -> date:
    """Return ``day``, or the next day with office hours in ``state`` ("SP").

    If ``state`` is no state's code, only national holidays count.
    """
    while day.weekday() in _WEEKEND or holiday_name(day, state):
        day += _DAY
    return day


def holiday_name(day: date, state: str = "") -> str:
    """Return the name of the national holiday or of the state's, or ""."""
    names = _holidays(day.year)
    return names.get((day, "BR")) or names.get((day, state.strip().upper()), "")


@cache
def _rows() -> list[dict[str, str]]:
    return read_csv(__package__, "holidays.csv", dict[str, str])


@lru_cache(64)
def _holidays(year: int) -> dict[tuple[date, str], str]:
    return {
        (_day_in(year, row["day"]), state): row["name"]
        for row in _rows()
        if int(row["since"] or year) <= year <= int(row["until"] or year)
        for state in row["states"].split()
    }


def _day_in(year: int, rule: str) -> date:
    if moved := _EASTER.fullmatch(rule):
        return easter(year) + timedelta(days=int(moved[1]))
    month_day, _, to_friday = rule.partition(" ")
    day = date.fromisoformat(f"{year:04}-{month_day}")
    # In Acre, some holidays from Tuesday to Thursday move to Friday since 2009.
    return day + (_FRIDAY - day.weekday()) * _DAY if to_friday and 0 < day.weekday() < 4 else day


def easter(year: int) -> date:
    """Return Easter Sunday by the Gregorian computus of Meeus, Jones and Butcher."""
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    n = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * n) // 433
    month = (h + n - 7 * m + 90) // 25
    return date(year, month, (h + n - 7 * m + 33 * month + 19) % 32)
