"""Notes in the trail what one caller sees and does."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from portal.access.tokens import Identity
from portal.access.trail import Act, Entry, Face, Trail
from portal.desk.caller import Caller
from portal.dossier.answers import Panels
from portal.gateway.lookup import Served
from portal.issued.model import IssuedDossier
from portal.storage.database import Also
from portal.vehicle.plate import Plate, Renavam

# A served answer that the caller's own lookup has brought from the source.
_ASKED: Final = frozenset({"miss", "request"})


@dataclass(frozen=True, slots=True)
class Witness:
    """Notes what one caller sees and does, by the face through which the caller came."""

    trail: Trail
    caller: Caller

    def saw(self, subject: Plate | Renavam, answers: Panels) -> None:
        """Note that the caller gets these answers, if there are any."""
        self.got(subject, (panel.served for panel in (*answers.all, answers.report)))

    def got(self, subject: Plate | Renavam, served: Iterable[Served | None]) -> None:
        """Note that the caller gets what is served, if anything is."""
        answers = [answer for answer in served if answer is not None]
        if answers:
            is_asked = any(answer.cache_status in _ASKED for answer in answers)
            # The vehicle of an answer that was requested before a purge is not named after it.
            purge_no = min(answer.purge_no for answer in answers)
            self._note("asked" if is_asked else "saw", subject, last_purge=purge_no)

    def saw_row(self, subject: Plate | Renavam) -> None:
        """Note that the caller sees a vehicle's row in a list, which is stored with its batch."""
        self._note("saw", subject)

    def exported(self, subjects: Iterable[Plate | Renavam], number: str = "") -> None:
        """Note that the caller gets vehicles as a file. ``number`` is the batch's id, or ""."""
        for subject in subjects:
            self._note("exported", subject, number)

    def doing(self, act: Act, vehicle: str = "", number: str = "") -> Also:
        """Return what writes an act of the caller in the transaction that does it."""
        return self.trail.writing(self.entry(act, vehicle, number))

    def _note(
        self, act: Act, subject: Plate | Renavam, number: str = "", last_purge: int | None = None
    ) -> None:
        if self.trail.is_kept:
            entry = self.entry(act, subject.text, number)
            self.trail.note(replace(entry, last_purge=last_purge))

    def entry(self, act: Act, vehicle: str = "", number: str = "") -> Entry:
        caller = self.caller
        return Entry(
            who=caller.who,
            kind=caller.kind,
            act=act,
            face=caller.face,
            vehicle=vehicle,
            purpose=caller.purpose,
            number=number,
        )


def note_opening(trail: Trail, issued: IssuedDossier) -> None:
    """Note that someone opens an issued dossier by its link. The link names no one."""
    if issued.snapshot is not None:
        plate = issued.snapshot.plate
        trail.note(
            Entry(
                who="link",
                kind="link",
                act="opened_by_link",
                face="link",
                vehicle=plate,
                number=issued.number,
            )
        )


def note_lookup(
    trail: Trail, identity: Identity, face: Face, subject: Plate | Renavam, served: Served
) -> None:
    """Note a single lookup of a script or of a batch, which needs no desk."""
    Witness(trail, Caller.of_token(identity, face)).got(subject, [served])
