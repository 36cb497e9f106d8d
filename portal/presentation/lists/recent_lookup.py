"""A vehicle in a list of recent lookups."""

from dataclasses import dataclass
from datetime import datetime

from portal import formats
from portal.dossier.dossier import Dossier
from portal.dossier.row import (
    VehicleRow,
    listed_row,
)
from portal.vehicle.plate import Plate, Renavam


@dataclass(frozen=True, slots=True)
class RecentLookup:
    """A vehicle in a list, with the time since ``looked_at``, or another note."""

    row: VehicleRow
    looked_at: datetime | None
    note: str

    @property
    def subject(self) -> Plate | Renavam:
        return self.row.subject

    @property
    def price(self) -> str:
        """The price or price range, or "" if unknown."""
        low, high = self.row.fipe_low, self.row.fipe_high
        if low is None or high is None:
            return ""
        return " ".join(filter(None, (formats.price_range((low, high)), self.row.fipe_note)))


def recent_lookup(
    dossier: Dossier, looked_at: datetime | None, now: datetime, *, note: str = ""
) -> RecentLookup:
    """Build the line of a vehicle from the answers that are available.

    The line shows the time since ``looked_at``, or ``note`` if ``looked_at`` is None.
    """
    age = note if looked_at is None else formats.age(now - looked_at)
    return RecentLookup(listed_row(dossier), looked_at, age)
