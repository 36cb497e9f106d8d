"""The history page: the vehicles that a visitor looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final

from portal.dossier.answers import Panels
from portal.gateway.operations import lookups_of
from portal.presentation.site.recent_lookup import RecentLookup
from portal.vehicle.operation_name import LookupName

PAGE_SIZE: Final = 40


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A vehicle in the history, with its stored answers.

    ``prices`` are the prices, in R$, of the lookups that the visitor may make. ``paid`` is what the
    visitor's lookups of the vehicle have cost, in R$. In demo mode, ``paid`` is None. All visitors
    then share one account, so the portal does not know what each visitor's lookups have cost.
    """

    lookup: RecentLookup
    panels: Panels
    seen_at: datetime
    prices: Mapping[LookupName, Decimal]
    paid: Decimal | None

    @property
    def wanted(self) -> Sequence[LookupName]:
        return [name for name in lookups_of(self.lookup.subject) if name in self.prices]

    @property
    def stored(self) -> Sequence[LookupName]:
        return [name for name in self.wanted if self.panels.of(name).has_answer]

    @property
    def expired(self) -> Sequence[LookupName]:
        return [name for name in self.stored if self.panels.of(name).state == "stale"]

    @property
    def missing(self) -> Sequence[LookupName]:
        return [name for name in self.wanted if not self.panels.of(name).has_answer]

    @property
    def is_rejected(self) -> bool:
        return any(self.panels.of(name).cause == "rejected" for name in self.wanted)

    @property
    def oldest(self) -> datetime | None:
        fetched = [self.panels.of(name).fetched_at for name in self.stored]
        return min((at for at in fetched if at is not None), default=None)

    @property
    def shows_payment(self) -> bool:
        return self.paid is not None and any(self.prices.values())

    @property
    def cost(self) -> Decimal:
        """What the next view of the vehicle's page costs at most, in R$."""
        panels = {name: self.panels.of(name) for name in self.wanted}
        asked = [
            self.prices[name]
            for name, panel in panels.items()
            if panel.state != "fresh" and panel.cause != "rejected"
        ]
        return sum(asked, Decimal(0))


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """One page of the history, for ``kept_s`` seconds. Page ``number`` 1 has the newest lines."""

    template: ClassVar[str] = "pages/history.html"
    lines: Sequence[HistoryLine]
    kept_s: int
    number: int
    has_older: bool
    now: datetime
