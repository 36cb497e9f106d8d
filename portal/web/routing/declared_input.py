"""Reads what a person declares or has seen from JSON members and from the fields of a form."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Final

from portal.desk.declared_lines import seen_key
from portal.law.at_the_car import CAR_ROWS, Seen
from portal.law.checklist import LINE_OF
from portal.law.declared import Declaration, Declared
from portal.presentation.typed_money import LARGEST, read_money
from portal.web.routing.responses import LONGEST_NAME
from portal.wording import sanitise_echo

LONGEST_WHAT: Final = 200
LONGEST_SOURCE: Final = 80
MEMBERS: Final = frozenset(("line", "state", "amount", "what", "source", "on"))
SEEN_MEMBERS: Final = frozenset(("row", "state", "what", "on"))
_FIELDS: Final = MEMBERS | SEEN_MEMBERS
_EARLIEST: Final = date(2000, 1, 1)
_CENTS: Final = Decimal("0.01")
WRONG_STATE: Final = "Em “state” vai nothing, something ou unchecked."
WRONG_SEEN: Final = "Em “state” vai match, differs ou unchecked."
WRONG_ROW: Final = "A linha “{}” não existe: vai {}."
WRONG_LINE: Final = "A linha “{}” não existe.{}"
WRONG_AMOUNT: Final = "Em “amount” vai um valor em reais, de 0 a 99999999.99, ou null."
AMOUNT_OF_NOTHING: Final = "Só “something” tem valor: sem nada a pagar, “amount” é null."
WRONG_TEXT: Final = "Em “{}” vai um texto de até {} caracteres."
WRONG_DAY: Final = "Em “on” vai o dia da verificação, como 2026-11-28, até hoje."
REPEATED: Final = "A linha “{}” aparece duas vezes."
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class WrongDeclaration(ValueError):
    """A declaration is not one. The message says what is wrong."""


# What to keep, by the key of the line or of the row, and None for what to remove.
Changes = Mapping[str, Declared | None]


def read_declarations(given: Sequence[Mapping[str, Any]], who: str, today: date) -> Changes:
    """Return the declarations by their line's key, and None for a line that is unchecked.

    ``given`` has JSON objects with the members MEMBERS, of which all but ``line`` and ``state`` may
    be missing. Raises WrongDeclaration.
    """
    changes: dict[str, Declaration | None] = {}
    for one in given:
        key = str(one.get("line", ""))
        if key not in LINE_OF:
            shown = sanitise_echo(key, LONGEST_NAME)
            near = get_close_matches(key, LINE_OF, 1)
            hint = f" Quis dizer “{near[0]}”?" if near else ""
            raise WrongDeclaration(WRONG_LINE.format(shown, hint))
        if key in changes:
            raise WrongDeclaration(REPEATED.format(key))
        changes[key] = _declaration(key, one, who, today)
    return changes


def read_seen(given: Sequence[Mapping[str, Any]], who: str, today: date) -> Changes:
    """Return what was seen at the vehicle, and None for a row that is unchecked.

    ``given`` has JSON objects with the members SEEN_MEMBERS. Raises WrongDeclaration.
    """
    changes: dict[str, Declared | None] = {}
    for one in given:
        row = next((car_row for car_row in CAR_ROWS if car_row == one.get("row")), None)
        if row is None:
            shown = sanitise_echo(str(one.get("row", "")), LONGEST_NAME)
            raise WrongDeclaration(WRONG_ROW.format(shown, ", ".join(CAR_ROWS)))
        key = seen_key(row)
        if key in changes:
            raise WrongDeclaration(REPEATED.format(row))
        what, on = _text(one, "what", LONGEST_WHAT), _day(one.get("on"), today)
        match one.get("state"):
            case "unchecked":
                changes[key] = None
            case "match" | "differs" as state:
                changes[key] = Seen(row, state, who, on, what if state == "differs" else "")
            case _:
                raise WrongDeclaration(WRONG_SEEN)
    return changes


def form_members(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a form as the members of a JSON object. Raises WrongDeclaration.

    A form has texts alone: the amount is typed as people type money, and a blank field is missing.
    """
    members: dict[str, Any] = {
        name: text.strip() for name, text in form.items() if name in _FIELDS and text.strip()
    }
    amount, problem = read_money(members.pop("amount", ""))
    if problem:
        raise WrongDeclaration(problem)
    # The field stands beside both answers, and only "something" has an amount.
    if amount is not None and members.get("state") == "something":
        members["amount"] = amount
    return members


def _declaration(key: str, one: Mapping[str, Any], who: str, today: date) -> Declaration | None:
    state, amount = one.get("state"), _amount(one.get("amount"))
    what = _text(one, "what", LONGEST_WHAT)
    source = _text(one, "source", LONGEST_SOURCE)
    on = _day(one.get("on"), today)
    match state:
        case "unchecked":
            return None
        case "nothing" | "something":
            if state == "nothing" and amount is not None:
                raise WrongDeclaration(AMOUNT_OF_NOTHING)
            return Declaration(key, state, who, on, amount, what, source)
    raise WrongDeclaration(WRONG_STATE)


def _amount(value: object) -> Decimal | None:
    if value is None:
        return None
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        raise WrongDeclaration(WRONG_AMOUNT)
    if not 0 <= value <= LARGEST:
        raise WrongDeclaration(WRONG_AMOUNT)
    return Decimal(value).quantize(_CENTS)


def _text(one: Mapping[str, Any], name: str, longest: int) -> str:
    value = one.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest:
        raise WrongDeclaration(WRONG_TEXT.format(name, longest))
    return sanitise_echo(" ".join(value.split()), longest)


def _day(value: object, today: date) -> date:
    if value is None:
        return today
    try:  # fromisoformat also reads 20261128 and 2026-W48-6, which nobody means
        is_day = isinstance(value, str) and _DAY.fullmatch(value)
        on = date.fromisoformat(str(value)) if is_day else None
    except ValueError:
        on = None
    if on is None or not _EARLIEST <= on <= today:
        raise WrongDeclaration(WRONG_DAY)
    return on
