"""The words of the interest on a fine."""

from datetime import date
from typing import Final

from portal.law.interest import Interest
from portal.wording import MONTHS, day, money

RULE: Final = "Res. Contran 918/2022, arts. 22 e 23"
_LETTERS: Final = 3


def words(found: Interest) -> str:
    """Return what a fine costs with interest, and how: ``ao menos R$ 210,20, Selic até set/2026``.

    The record has no due date, so the earliest possible one is named.
    """
    at_least = "ao menos " if found.is_minimum else ""
    return f"{at_least}{money(found.total)}, {_share(found)}, se venceu em {day(found.due_on)}"


def sentence(found: Interest) -> str:
    return f"Estimativa com juros: {words(found)}; {RULE}."


def _share(found: Interest) -> str:
    if found.last is None or found.first is None:
        return "1% a mais"
    if found.is_minimum:
        return f"Selic até {_month(found.last)} e 1%"
    if found.first == found.last:
        return f"Selic de {_month(found.last)} e 1%"
    return f"Selic de {_month(found.first)} a {_month(found.last)} e 1%"


def _month(month: date) -> str:
    return f"{MONTHS[month.month - 1][:_LETTERS]}/{month.year}"
