"""Builders of fines and restrictions; every field is empty unless a test sets it."""

from dataclasses import fields
from typing import Any

from portal.vehicle import EMPTY, Field, Fine, Licence, Restriction

LICENCE = Licence(points=0, number=EMPTY, impediment=EMPTY, ordinance=EMPTY)

UNREAD = ["committed_on", "committed_at", "registered_on", "notified_on", "penalty_on"]
UNREAD += ["amount", "paid_on", "paid_amount"]


def known(text: str) -> Field:
    return Field(text, "known")


def fine(**given: Any) -> Fine:
    values: dict[str, Any] = {field.name: EMPTY for field in fields(Fine)}
    values |= dict.fromkeys(UNREAD)
    values |= {"driver": LICENCE, "offender": LICENCE}
    return Fine(**values | _as_fields(given))


def restriction(kinds: str = "", **given: Any) -> Restriction:
    values: dict[str, Any] = {field.name: EMPTY for field in fields(Restriction)}
    values |= {
        "included_at": None,
        "recorded": True,
        "kinds_text": known(kinds) if kinds else EMPTY,
    }
    return Restriction(**values | _as_fields(given))


def _as_fields(given: dict[str, Any]) -> dict[str, Any]:
    return {
        name: known(value) if isinstance(value, str) else value for name, value in given.items()
    }
