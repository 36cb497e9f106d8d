"""One line about a vehicle on the front page: name, verdict, price and age."""

from dataclasses import dataclass
from datetime import datetime

from portal import formats
from portal.dossier.answers import Panels
from portal.presentation.render_context import RenderContext
from portal.presentation.tools.vehicle_row import VehicleRow, listed_dossier, listed_row
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
    subject: Plate | Renavam,
    panels: Panels,
    looked_at: datetime | None,
    context: RenderContext,
    *,
    note: str = "",
) -> RecentLookup:
    """Build the line of a vehicle from the answers that are available.

    The line shows the time since ``looked_at``, or ``note`` if ``looked_at`` is None.
    """
    age = note if looked_at is None else formats.age(context.now - looked_at)
    dossier = listed_dossier(subject, panels, context)
    return RecentLookup(listed_row(dossier, panels), looked_at, age)
