"""One line about a vehicle on the front page: name, verdict, price and age."""

from dataclasses import dataclass
from datetime import datetime

from portal import formats
from portal.dossier.answers import Panels
from portal.dossier.status_style import LOOKS, StatusStyle
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.tools.vehicle_row import listed_row
from portal.vehicle.plate import Plate, Renavam


@dataclass(frozen=True, slots=True)
class RecentLookup:
    """A vehicle in a list. ``name``, ``price`` and ``note`` are "" if unknown."""

    subject: Plate | Renavam
    path: str
    name: str
    look: StatusStyle
    verdict: str
    price: str
    note: str
    looked_at: datetime | None

    @property
    def is_plate(self) -> bool:
        return isinstance(self.subject, Plate)


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
    row = listed_row(subject, panels, context)
    prices = [price for price in (row.fipe_low, row.fipe_high) if price is not None]
    price = " ".join(filter(None, (formats.price_range(prices), row.fipe_note))) if prices else ""
    return RecentLookup(
        subject=subject,
        path=subject_path(subject),
        name=row.vehicle or "",
        look=LOOKS[row.verdict or "incomplete"],
        verdict=row.short or "",
        price=price,
        note=note if looked_at is None else formats.age(context.now - looked_at),
        looked_at=looked_at,
    )
