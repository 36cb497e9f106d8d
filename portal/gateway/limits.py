"""What limits spending, and what a limit still allows."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

Scope = Literal["portal", "token", "person", "batch", "trial"]
Calendar = Literal["day", "month"]
Period = Literal[Calendar, "total"]

# How little is left of a limit: it is near its end, refuses some calls, or refuses all.
Strain = Literal["near", "refusing", "spent"]

NO_LIMIT: Final = Decimal("Infinity")
WARNED_AT: Final = Decimal("0.8")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of a payer: ``most`` is a number of calls a day, R$ a month, or R$ in all."""

    scope: Scope
    payer: str
    period: Period
    most: Decimal

    @property
    def unit(self) -> Literal["calls", "brl"]:
        return "calls" if self.period == "day" else "brl"

    @property
    def is_set(self) -> bool:
        return self.most.is_finite()


@dataclass(frozen=True, slots=True)
class Allowance:
    """The numbers of upstream calls that the daily limits still allow, and the money of the month.

    ``day`` is for all callers together, and ``token`` is for one caller. A number is None if this
    limit is not set or the database cannot be read. The counts of calls start again from 0 in
    ``until_midnight_s`` seconds. ``money`` are the R$ that every budget of the month still allows,
    which begin again in ``until_next_month_s`` seconds, or None without a budget.
    """

    day: int | None
    token: int | None
    until_midnight_s: float
    money: Decimal | None = None
    until_next_month_s: float = 0.0

    @property
    def left(self) -> int | None:
        """The number of calls that both limits allow, or None if both are None."""
        return min((left for left in (self.day, self.token) if left is not None), default=None)


@dataclass(frozen=True, slots=True)
class Use:
    """A limit that binds a caller, what is used of it, and when its day or month ends, if any."""

    limit: Limit
    used: Decimal
    ends_at: datetime | None

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.limit.most - self.used)


@dataclass(frozen=True, slots=True)
class StrainedLimit:
    """A limit of which little is left. ``name`` is that of its token or person, "" the portal's."""

    use: Use
    strain: Strain
    name: str = ""


def strain_of(use: Use, prices: Collection[Decimal]) -> Strain | None:
    """Return how little is left of a limit, or None if it is enough.

    ``prices`` are those of the calls that the limit binds. A budget refuses calls if one that it
    could pay in the beginning costs more than is left, or if all of them do.
    """
    if not use.left:
        return "spent"
    dear = [price for price in prices if use.limit.unit == "brl" and price > use.left]
    if dear and (len(dear) == len(prices) or min(dear) <= use.limit.most):
        return "refusing"
    return "near" if use.used >= use.limit.most * WARNED_AT else None
