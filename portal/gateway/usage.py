"""Sums of upstream calls and of answers without one."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from portal.gateway.ledger import FREE_OUTCOMES


class Usage(NamedTuple):
    """Numbers of lookups, with their cost and savings in R$.

    ``calls`` is the number of upstream calls, and ``spent`` is their total price. ``hits`` counts
    fresh answers from the store. ``stale`` counts stale answers that were served after a failure.
    ``collapsed`` counts lookups that shared the call of an equal lookup. ``saved`` is the total
    price of the calls that ``hits`` and ``stale`` made unnecessary.

    The price of ``unpriced_calls`` and ``unpriced_hits`` is unknown. The other calls cost
    ``known_spent``, and the other answers saved ``known_saved``. With such calls the whole is
    unknown, so ``spent`` and ``saved`` are None.
    """

    calls: int = 0
    known_spent: Decimal = Decimal(0)
    hits: int = 0
    stale: int = 0
    collapsed: int = 0
    known_saved: Decimal = Decimal(0)
    unpriced_calls: int = 0
    unpriced_hits: int = 0

    @property
    def spent(self) -> Decimal | None:
        return None if self.unpriced_calls else self.known_spent

    @property
    def saved(self) -> Decimal | None:
        return None if self.unpriced_hits else self.known_saved

    @property
    def free(self) -> int:
        """Return the number of lookups without a call of their own."""
        return self.hits + self.stale + self.collapsed

    @property
    def lookups(self) -> int:
        return self.calls + self.free

    def without(self, part: "Usage") -> "Usage":
        pairs: Iterable[tuple[Any, Any]] = zip(self, part, strict=True)
        return Usage(*(whole - part for whole, part in pairs))


class CallFailures(NamedTuple):
    """The failed calls to one base address that have the same outcome and status.

    ``last_at`` is the time of the last of these calls, in epoch seconds.
    """

    outcome: str
    status: int | None
    origin: str
    calls: int
    last_at: float

    @property
    def is_free(self) -> bool:
        """Return whether the calls were never sent and therefore never charged."""
        return self.outcome in FREE_OUTCOMES


class OriginCalls(NamedTuple):
    """The calls to one base address on one day, and how many of them failed."""

    calls: int
    failed: int


class CallsToday(NamedTuple):
    """The calls that count towards today's limits, in total and by token name."""

    all: int
    by_token: Mapping[str, int]


def merged(usage: Iterable[Usage]) -> Usage:
    """Return the sum of several Usage objects."""
    sums: Iterable[Any] = map(sum, zip(*usage, strict=True))
    return Usage(*sums)
