"""The history page: the vehicles that a visitor looked up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Final

from portal.amounts import total
from portal.batch.model import Batch
from portal.dossier.answers import Panels
from portal.gateway.operations import lookups_of
from portal.presentation.lists.vehicle_list import VehicleList
from portal.vehicle.operation_name import LookupName
from portal.vehicle.plate import Plate, Renavam

PAGE_SIZE: Final = 40
MOST_SEARCHED: Final = 200


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """When a vehicle was looked up, and what its stored answers cost.

    ``prices`` are the prices, in R$, of the lookups that the visitor may make. ``paid`` is what the
    visitor's lookups of the vehicle have cost, in R$. In demo mode, all visitors share one account,
    so the portal does not know what each visitor's lookups have cost, and ``has_account`` is false.
    None is an unknown amount.
    """

    subject: Plate | Renavam
    panels: Panels
    seen_at: datetime
    prices: Mapping[LookupName, Decimal | None]
    paid: Decimal | None
    has_account: bool

    @property
    def wanted(self) -> Sequence[LookupName]:
        return [name for name in lookups_of(self.subject) if name in self.prices]

    @property
    def stale(self) -> Sequence[LookupName]:
        return [name for name in self.wanted if self.panels.of(name).state == "stale"]

    @property
    def is_rejected(self) -> bool:
        return any(self.panels.of(name).cause == "rejected" for name in self.wanted)

    @property
    def shows_payment(self) -> bool:
        return self.has_account and any(price != 0 for price in self.prices.values())

    @property
    def cost(self) -> Decimal | None:
        """What the next view of the vehicle's page costs at most, in R$."""
        panels = {name: self.panels.of(name) for name in self.wanted}
        return total(
            self.prices[name]
            for name, panel in panels.items()
            if panel.state != "fresh" and panel.cause != "rejected"
        )


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of the history, which goes back ``kept_s`` seconds. ``entries`` are by plate."""

    template: ClassVar[str] = "pages/history.html"
    vehicles: VehicleList
    entries: Mapping[str, HistoryLine]
    batches: Sequence[Batch]
    kept_s: int
    choices_days: Sequence[int] = ()

    @property
    def kept_days(self) -> int:
        return self.kept_s // (24 * 3600)
