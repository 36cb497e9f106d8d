"""The parameters with which a page is built."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime

from portal.dossier.answers import Panels
from portal.dossier.dossier import Dossier
from portal.presentation.vehicle.query import Query
from portal.system.local_time import local_date
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam


@dataclass(frozen=True, slots=True)
class RenderContext:
    """The parameters for building a page.

    ``now`` has a time zone. ``marker`` is the text that the source sends in place of a hidden
    value. ``mask_names`` is true if a written report must not show people's names.
    """

    now: datetime
    marker: str
    mask_names: bool
    query: Query = ()

    def dossier(
        self,
        subject: Plate | Renavam,
        answers: Panels,
        ask: Collection[LookupName] = LOOKUPS,
    ) -> Dossier:
        """Return the dossier of a vehicle. ``ask`` are the lookups that the user chose."""
        return Dossier(subject, answers, self.today, self.marker, ask)

    @property
    def today(self) -> date:
        """The day of ``now`` in America/Sao_Paulo. Legal deadlines are assessed for this day."""
        return local_date(self.now)
