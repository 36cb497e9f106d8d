"""The desk of one caller, which hands out dossiers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from portal.access.tokens import Identity
from portal.desk.lookups import Lookups
from portal.dossier.answers import Panels
from portal.dossier.dossier import Dossier
from portal.dossier.row import Listed, VehicleRow, answered, row_of, stored_row
from portal.gateway.lookup import Served, Spend
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

    def dossier(
        self,
        subject: Plate | Renavam,
        answers: Panels,
        now: datetime,
        ask: Collection[LookupName] = LOOKUPS,
    ) -> Dossier:
        """Return the dossier of a vehicle. ``ask`` are the lookups that the user chose.

        Legal deadlines are assessed for the day of ``now`` in America/Sao_Paulo.
        """
        return Dossier(subject, answers, local_date(now), self.marker, ask, self.mask_names)

    def stored_row(
        self,
        subject: Plate | Renavam,
        ask: Sequence[LookupName],
        answers: Mapping[LookupName, Served],
    ) -> bytes:
        """Return what a batch stores of a vehicle that it has looked up."""
        dossier = self.dossier(subject, answered(answers), datetime.now(UTC), ask)
        return stored_row(dossier, answers)


class Desk:
    """Hands out the dossiers that one caller may see."""

    def __init__(self, lookups: Lookups, identity: Identity, reading: Reading) -> None:
        self._lookups = lookups
        self._identity = identity
        self._reading = reading

    def dossier(
        self,
        subject: Plate | Renavam,
        spend: Spend = Spend.ASKED,
        names: Collection[LookupName] = LOOKUPS,
        ask: Collection[LookupName] = LOOKUPS,
    ) -> Dossier:
        """Return the dossier of a vehicle, after the lookups in ``names``.

        The answer of a lookup that is not in ``names`` has the state "unasked". ``ask`` are the
        lookups that the user chose.
        """
        return self.of(subject, self._lookups.panels(subject, self._identity, spend, names), ask)

    def dossiers(
        self, subjects: Sequence[Plate | Renavam], spend: Spend = Spend.ASKED
    ) -> list[Dossier]:
        """Return the dossier of each vehicle. Upstream calls run in parallel."""
        found = self._lookups.panels_of_all(subjects, self._identity, spend)
        return list(map(self.of, subjects, found))

    def stored(self, subjects: Sequence[Plate | Renavam]) -> list[Dossier]:
        """Return the dossier of each vehicle from stored answers, for a list of vehicles."""
        return list(map(self.of, subjects, self._lookups.stored(subjects, self._identity)))

    def reported(self, subject: Plate | Renavam) -> Dossier | None:
        """Return the dossier from stored answers if a written report is stored, else None."""
        if not self._lookups.has_report(subject, self._identity):
            return None
        return self.dossier(subject, Spend.NEVER)

    def row(self, listed: Listed, ask: Collection[LookupName] = LOOKUPS) -> VehicleRow:
        """Return the row of a vehicle of a batch that makes the lookups ``ask``."""
        return row_of(
            listed,
            lambda: self.dossier(listed.subject, Spend.NEVER, ask, ask),
            lambda: self.reported(listed.subject),
            datetime.now(UTC),
        )

    def of(
        self, subject: Plate | Renavam, answers: Panels, ask: Collection[LookupName] = LOOKUPS
    ) -> Dossier:
        """Return the dossier of answers that this caller got before."""
        return self._reading.dossier(subject, answers, datetime.now(UTC), ask)
