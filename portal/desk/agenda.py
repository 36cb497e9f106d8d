"""The calendar of everything that an owner has looked up."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from portal.access.tokens import RefusedToken, TokensUnavailable, UnknownToken
from portal.desk.caller import Caller
from portal.desk.core import Core
from portal.desk.desk import Desk
from portal.dossier.dossier import Dossier
from portal.gateway.lookup import Spend
from portal.vehicle.plate import Plate, Renavam, parse_subject

# The most vehicles of a calendar. Each stored answer is read and assessed when it is fetched.
MOST_VEHICLES: Final = 1_000


def dossiers_of_address(core: Core, key: str) -> Iterator[Dossier] | None:
    """Return the dossiers of an address's vehicles, or None if the address is not valid.

    A dossier has the stored answer about fines alone. The upstream is never asked.
    """
    calendar_owner = core.calendar_addresses.find(key)
    if calendar_owner is None:
        return None
    try:
        identity = core.gatekeeper.authenticate_owner(calendar_owner.identity_owner)
    except (UnknownToken, RefusedToken, TokensUnavailable):
        return None
    caller = Caller.of_session(identity, lambda: calendar_owner.owner, lambda: calendar_owner.owner)
    desk = Desk(core, replace(caller, face="calendar"))
    return (desk.dossier(subject, Spend.NEVER, ["renainf"]) for subject in _subjects(desk))


def _subjects(desk: Desk) -> list[Plate | Renavam]:
    """Return the vehicles of the owner's history and lists, each once."""
    subjects: dict[Plate | Renavam, None] = {}
    for entry in desk.recent(MOST_VEHICLES):
        subjects[parse_subject(entry.subject)] = None
    for batch in desk.lists.all():
        for item in desk.lists.items(batch.id):
            subjects[item.subject] = None
            if len(subjects) >= MOST_VEHICLES:
                return [*subjects]
    return [*subjects]
