"""Price ceilings for a buyer: the reference price less open fines and costs.

By art. 284 of the CTB (the traffic code), a payer owes 80 % of a fine until its due date, or 60 %
with SNE, the federal system of electronic notices. Only the owner or the offender can use SNE. If
the price or the fines are unknown, no ceiling is computed, because readers could mistake an
estimate for the true ceiling.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from portal.law.assessment import Totals

Share = Literal[100, 80, 60]
SHARES: Final[tuple[Share, ...]] = (100, 80, 60)
Unknown = Literal["price", "fines"]


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost that the buyer expects. ``amount`` is in R$, zero or more.

    ``told_by`` is who states it: the visitor, a written report, the records of fines, or a
    declaration, whose ``source`` says who vouches for it.
    """

    label: str
    amount: Decimal
    told_by: Literal["visitor", "report", "records", "declared"] = "visitor"
    source: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The ceiling, in R$, for one discount on the fines.

    Fines that still have a discount count at ``share`` per cent, and all other fines in full. A
    ceiling below zero means that fines and costs exceed the price.
    """

    share: Share
    fines: Decimal | None
    ceiling: Decimal | None


@dataclass(frozen=True, slots=True)
class Negotiation:
    """The price ceilings for one reference price.

    ``unknown`` names the missing inputs that prevent a ceiling. ``fines_without_amount`` is the
    number of fines of unknown amount. No sum includes these fines, so the true ceilings are lower.
    """

    price: Decimal | None
    costs: tuple[Cost, ...]
    scenarios: tuple[Scenario, ...]
    unknown: tuple[Unknown, ...]
    fines_without_amount: int
    fines_past_discount: int

    def scenario(self, share: Share) -> Scenario:
        return self.scenarios[SHARES.index(share)]


def negotiate(
    price: Decimal | None, fines: Totals | None, costs: Sequence[Cost] = ()
) -> Negotiation:
    """Compute the ceilings for a price in R$. None means unknown, not zero."""
    total = sum((cost.amount for cost in costs), Decimal(0))
    shares: tuple[Decimal | None, ...] = (None, None, None)
    if fines is not None:
        shares = (fines.amount, fines.amount_at_80, fines.amount_at_60)
    inputs: dict[Unknown, object] = {"price": price, "fines": fines}
    return Negotiation(
        price=price,
        costs=tuple(costs),
        scenarios=tuple(
            Scenario(share, owed, None if price is None or owed is None else price - owed - total)
            for share, owed in zip(SHARES, shares, strict=True)
        ),
        unknown=tuple(name for name, value in inputs.items() if value is None),
        fines_without_amount=fines.without_amount if fines else 0,
        fines_past_discount=fines.past_discount_count if fines else 0,
    )
