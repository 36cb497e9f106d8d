"""Makes the desk of each caller."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from portal.access.tokens import Identity
from portal.desk.agenda import dossiers_of_address
from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.desk.desk import Desk
from portal.desk.published import PublishedDossiers
from portal.desk.retention import Retention, retention
from portal.desk.witness import note_lookup
from portal.dossier.answers import Panels
from portal.dossier.dossier import Dossier
from portal.gateway.lookup import Lookup, Served
from portal.gateway.operations import CachePolicy
from portal.issued.issuer import Issuer
from portal.vehicle.operation_name import OperationName
from portal.vehicle.plate import Plate


class Desks:
    """Makes the desk of each caller. ``published`` are the issued dossiers that anyone may read."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.published = PublishedDossiers(core)

    def of(self, caller: Caller) -> Desk:
        return Desk(self._core, caller)

    def agenda_of(self, key: str) -> Iterator[Dossier] | None:
        """Return the dossiers of a calendar address's vehicles, or None for an unknown address."""
        return dossiers_of_address(self._core, key)

    def note_lookup(self, identity: Identity, lookup: Lookup, served: Served) -> None:
        """Note in the trail what a script got by one of the contract's JSON paths."""
        note_lookup(self._core.trail, identity, "api", lookup.subject, served)

    def erase_history(self, owner: str, subject: str | None = None) -> None:
        """Erase one vehicle from a history, or all. A session needs no identity for it."""
        self._core.history.erase(owner, subject)

    def example(self, plate: Plate, answers: Panels, now: datetime) -> Dossier:
        """Return the dossier of an example vehicle."""
        return self._core.reading.dossier(plate, answers, now)

    # What holds for all callers

    @property
    def batch_limit(self) -> int:
        """The most vehicles of a batch."""
        return self._core.batch_limit

    @property
    def retention(self) -> Retention:
        return retention(self._core)

    @property
    def masks_names(self) -> bool:
        """Whether a written report shows people's names to nobody."""
        return self._core.reading.mask_names

    @property
    def issuer(self) -> Issuer | None:
        return self._core.issuer

    @property
    def terms(self) -> Mapping[OperationName, CachePolicy]:
        """How long each operation's answers are kept, and what a call costs."""
        return self._core.gateway.terms
