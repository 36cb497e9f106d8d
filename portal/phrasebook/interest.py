"""The words of the interest on a fine."""

from datetime import date
from typing import Final

from portal.law.interest import Interest
from portal.wording import MONTHS, day, money

RULE: Final = "Res. Contran 918/2022, arts. 22 e 23"
_LETTERS: Final = 3


def words(interest: Interest) -> str:
    """Return what a fine costs with interest, and how: ``ao menos R$ 210,20, Selic até set/2026``.

    The record has no due date, so the earliest possible one is named.
    """
    at_least = "ao menos " if interest.is_minimum else ""
    due = f"se venceu em {day(interest.due_on)}"
    return f"{at_least}{money(interest.total)}, {_share(interest)}, {due}"


def sentence(interest: Interest) -> str:
    return f"Estimativa com juros: {words(interest)}; {RULE}."


def _share(interest: Interest) -> str:
    if interest.last is None or interest.first is None:
        return "1% a mais"
    if interest.is_minimum:
        return f"Selic até {_month(interest.last)} e 1%"
    if interest.first == interest.last:
        return f"Selic de {_month(interest.last)} e 1%"
    return f"Selic de {_month(interest.first)} a {_month(interest.last)} e 1%"


def _month(month: date) -> str:
    return f"{MONTHS[month.month - 1][:_LETTERS]}/{month.year}"
