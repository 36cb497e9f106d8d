"""The content of a vehicle's panels, built from the answers of the lookups."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from portal.gateway import lookups_of
from portal.law import Missing, Stale
from portal.presentation.panels import Panels
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.changes import changes_of
from portal.presentation.vehicle.facts import VehicleFacts, vehicle_facts
from portal.presentation.vehicle.fines import FineList, fine_list
from portal.presentation.vehicle.restrictions import RestrictionList, restriction_list
from portal.presentation.vehicle.summary import Summary, summary
from portal.system.local_time import local_time
from portal.vehicle import LOOKUPS, LookupName, Plate, Renavam

# Maps each lookup to the part of the verdict that depends on the lookup's answer.
PARTS: Final[Mapping[LookupName, Missing]] = {
    "decode": "decode",
    "renainf": "fines",
    "renajud": "restrictions",
}


@dataclass(frozen=True, slots=True)
class VehicleContents:
    """The content of a vehicle's panels.

    ``facts``, ``fines`` or ``restrictions`` is None if its lookup has no readable answer.
    ``not_asked`` names the parts of the verdict whose lookup is not made. Either the user left the
    lookup out, or the subject is a Renavam and the source offers the lookup only for plates.
    """

    facts: VehicleFacts | None
    fines: FineList | None
    restrictions: RestrictionList | None
    summary: Summary
    not_asked: tuple[Missing, ...]

    @classmethod
    def of(
        cls,
        subject: Plate | Renavam,
        panels: Panels,
        context: RenderContext,
        *,
        ask: Collection[LookupName] = LOOKUPS,
    ) -> "VehicleContents":
        """Build the content from ``panels``. ``ask`` are the lookups that the user chose."""
        asked = lookups_of(subject, ask)
        not_asked = tuple(part for name, part in PARTS.items() if name not in asked)
        facts = vehicle_facts(panels.decode, context)
        vehicle = facts.identity if facts else None
        fines = fine_list(panels.renainf, context, vehicle)
        restrictions = restriction_list(panels.renajud, context, vehicle)
        return cls(
            facts=facts,
            fines=fines,
            restrictions=restrictions,
            summary=summary(
                facts,
                fines,
                restrictions,
                today=context.today,
                changes=changes_of(panels, context),
                decode_wanted="decode" in asked,
                check_digit_holds=check_digit_holds(subject),
                stale=stale_moments(panels, asked),
                not_asked=not_asked,
                unconfirmed=unconfirmed_parts(panels),
            ),
            not_asked=not_asked,
        )


def check_digit_holds(subject: Plate | Renavam) -> bool:
    """Return whether a Renavam's check digit is right. Return True for a plate.

    A plate has no check digit.
    """
    return isinstance(subject, Plate) or subject.check_digit_holds


def unconfirmed_parts(panels: Panels) -> tuple[Missing, ...]:
    """Return the parts of the verdict whose answer neither has nor denies records."""
    return tuple(PARTS[name] for name in LOOKUPS if panels.of(name).cause == "unconfirmed")


def stale_moments(panels: Panels, asked: Collection[LookupName]) -> Stale:
    """Return the local time at which each stale (old) answer was fetched.

    The answer to the lookup "decode" is included only if ``asked`` contains "decode".
    """
    return {
        PARTS[name]: local_time(panel.fetched_at)
        for name in ("renainf", "renajud", "decode")
        if (name != "decode" or name in asked)
        and (panel := panels.of(name)).state == "stale"
        and panel.fetched_at is not None
    }
