"""How a portal reads answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from portal.dossier.answers import Panels
from portal.dossier.dossier import Dossier
from portal.dossier.row import answered, stored_row
from portal.gateway.lookup import Served
from portal.law.declared import Declared
from portal.system.local_time import local_date
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam


@dataclass(frozen=True, slots=True)
class Reading:
    """How a portal reads answers.

    ``marker`` is the text that the source sends in place of a hidden value. ``mask_names`` is true
    if a written report must not show people's names.
    """

    marker: str
    mask_names: bool

    @property
    def masked(self) -> "Reading":
        return replace(self, mask_names=True)

    def dossier(
        self,
        subject: Plate | Renavam,
        answers: Panels,
        now: datetime,
        ask: Collection[LookupName] = LOOKUPS,
        declarations: tuple[Declared, ...] | None = (),
    ) -> Dossier:
        """Return the dossier of a vehicle. ``ask`` are the lookups that the user chose.

        Legal deadlines are assessed for the day of ``now`` in America/Sao_Paulo. ``declarations``
        are None if they could not be read.
        """
        today = local_date(now)
        return Dossier(subject, answers, today, self.marker, ask, self.mask_names, declarations)

    def stored_row(
        self,
        subject: Plate | Renavam,
        ask: Sequence[LookupName],
        answers: Mapping[LookupName, Served],
    ) -> bytes:
        """Return what a batch stores of a vehicle that it has looked up."""
        dossier = self.dossier(subject, answered(subject, answers), datetime.now(UTC), ask)
        return stored_row(dossier, answers)
