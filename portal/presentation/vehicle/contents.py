"""The content of a vehicle's panels, built from the answers of its lookups."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from portal.law import Missing, Stale
from portal.presentation.panels import Panel, Panels
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.changes import changes_of
from portal.presentation.vehicle.facts import VehicleFacts, vehicle_facts
from portal.presentation.vehicle.fines import FineList, fine_list
from portal.presentation.vehicle.restrictions import RestrictionList, restriction_list
from portal.presentation.vehicle.summary import Summary, summary
from portal.system.local_time import local_time
from portal.vehicle import LookupName

# The part of a verdict that each lookup gives.
PARTS: Final[Mapping[LookupName, Missing]] = {
    "decode": "decode",
    "renainf": "fines",
    "renajud": "restrictions",
}


@dataclass(frozen=True, slots=True)
class VehicleContents:
    """The content of a vehicle's panels.

    ``facts``, ``fines`` or ``restrictions`` is None if its lookup has no readable answer.
    """

    facts: VehicleFacts | None
    fines: FineList | None
    restrictions: RestrictionList | None
    summary: Summary

    @classmethod
    def of(
        cls,
        panels: Panels,
        context: RenderContext,
        *,
        decode_wanted: bool = True,
        check_digit_holds: bool = True,
        not_asked: Collection[Missing] = (),
    ) -> "VehicleContents":
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
                changes=changes_of(panels, context),
                decode_wanted=decode_wanted,
                check_digit_holds=check_digit_holds,
                stale=stale_moments(panels, decode_wanted=decode_wanted),
                not_asked=not_asked,
            ),
        )


def stale_moments(panels: Panels, *, decode_wanted: bool) -> Stale:
    """Return the local time at which each stale answer was fetched."""
    parts: dict[Missing, Panel] = {"fines": panels.renainf, "restrictions": panels.renajud}
    if decode_wanted:
        parts["decode"] = panels.decode
    return {
        part: local_time(panel.fetched_at)
        for part, panel in parts.items()
        if panel.state == "stale" and panel.fetched_at is not None
    }
