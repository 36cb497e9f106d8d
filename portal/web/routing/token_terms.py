"""Reads the terms of a token from a form of the operator: scopes, days, limits."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Final

from werkzeug.datastructures import MultiDict

from portal.access.tokens import ISSUABLE_SCOPES, are_issuable
from portal.presentation.typed_money import read_money
from portal.system.local_time import DAY_S
from portal.web.routing.responses import whole_number

MOST_DAYS: Final = 3650
MOST_CALLS: Final = 2**31 - 1  # of a column
NO_SCOPE: Final = "Escolha ao menos uma permissão."
STORED_ALONE: Final = "“Só o que está guardado” não se junta a outra permissão."
WRONG_DAYS: Final = f"Um número de dias de 1 a {MOST_DAYS}, ou nada."
NEEDS_PRICES: Final = "Um orçamento exige o preço de cada consulta nas configurações do portal."
WRONG_LIMIT: Final = "Um número de chamadas por dia, ou nada."


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """The terms of a form, and the mistakes in it, by field.

    ``lifetime_s`` is None if the field is blank.
    """

    scopes: tuple[str, ...]
    lifetime_s: float | None
    daily_limit: int
    monthly_budget: Decimal
    problems: Mapping[str, str]


def read_terms(form: MultiDict[str, str], *, is_priced: bool) -> TokenTerms:
    """Read the terms of a token. A budget needs the price of every call."""
    scopes = tuple(scope for scope in form.getlist("permissao") if scope in ISSUABLE_SCOPES)
    days = form.get("dias", type=partial(whole_number, most=MOST_DAYS))
    daily_limit = form.get("limite", type=partial(whole_number, least=0, most=MOST_CALLS))
    budget, budget_mistake = read_money(form.get("orcamento", ""))
    if budget and not is_priced:
        budget_mistake = NEEDS_PRICES
    checks = {
        "scopes": "" if are_issuable(scopes) else STORED_ALONE if scopes else NO_SCOPE,
        "days": WRONG_DAYS if days is None and form.get("dias", "").strip() else "",
        "budget": budget_mistake,
        "limit": WRONG_LIMIT if daily_limit is None and form.get("limite", "").strip() else "",
    }
    return TokenTerms(
        scopes=scopes,
        lifetime_s=None if days is None else float(days * DAY_S),
        daily_limit=daily_limit or 0,
        monthly_budget=budget or Decimal(0),
        problems={field: text for field, text in checks.items() if text},
    )
