"""What limits spending, and what a limit still allows."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, Literal

Scope = Literal["portal", "token", "person", "batch", "trial"]
Calendar = Literal["day", "month"]
Period = Literal[Calendar, "total"]

NO_LIMIT: Final = Decimal("Infinity")


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
    """The numbers of upstream calls that the daily limits still allow.

    ``day`` is for all callers together, and ``token`` is for one caller. A number is None if this
    limit is not set or the database cannot be read. The counts of calls start again from 0 in
    ``until_midnight_s`` seconds.
    """

    day: int | None
    token: int | None
    until_midnight_s: float

    @property
    def left(self) -> int | None:
        """The number of calls that both limits allow, or None if both are None."""
        return min((each for each in (self.day, self.token) if each is not None), default=None)


@dataclass(frozen=True, slots=True)
class Use:
    """A limit that binds a caller, what is used of it, and when its day or month ends, if any."""

    limit: Limit
    used: Decimal
    ends_at: datetime | None

    @property
    def left(self) -> Decimal:
        return max(Decimal(0), self.limit.most - self.used)
