"""The fines of a vehicle, the legal assessment of each fine, and the totals of all fines."""

from collections.abc import Mapping
from dataclasses import dataclass

from portal.law import FineAssessment, Standing, Totals, assess, totals
from portal.presentation.panels import Panel, is_readable
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.record_details import FineDetails, fine_details
from portal.vehicle import Fine, VehicleIdentity, read_fines

# The largest number of fines that the panel lists. A longer table would be hard to read.
MOST_ROWS = 300


@dataclass(frozen=True, slots=True)
class FineRow:
    number: int
    anchor: str
    fine: Fine
    law: FineAssessment
    details: FineDetails
    tone: str
    icon: str


@dataclass(frozen=True, slots=True)
class FineList:
    """The fines in the source's order.

    ``rows`` has the first MOST_ROWS fines. ``assessments`` covers all fines.
    """

    rows: tuple[FineRow, ...]
    omitted: int
    totals: Totals
    assessments: tuple[FineAssessment, ...]

    @property
    def count(self) -> int:
        return len(self.assessments)


# The tone and the icon of a fine, on the screen and on paper.
_LOOKS: Mapping[Standing, tuple[str, str]] = {
    "paid": ("ok", "check"),
    "enforceable": ("danger", "cross"),
    "probably_due": ("warn", "alert"),
    "due": ("warn", "clock"),
    "notice": ("warn", "clock"),
    "suspended": ("unknown", "question"),
    "unknown": ("unknown", "question"),
}


def fine_list(
    panel: Panel, context: RenderContext, vehicle: VehicleIdentity | None = None
) -> FineList | None:
    """Return the fines of an answer, or None if the answer is missing or unreadable.

    If a fine's record describes a vehicle that differs from ``vehicle``, the fine gets a note.
    """
    if not is_readable(panel.result, "renainf"):
        return None
    fines = read_fines(panel.result, context.marker)
    assessments = tuple(assess(fine, context.today) for fine in fines)
    rows = tuple(
        FineRow(
            number,
            f"multa-{number}",
            fine,
            law,
            fine_details(fine, law, vehicle),
            *_LOOKS[law.standing],
        )
        for number, (fine, law) in enumerate(
            zip(fines[:MOST_ROWS], assessments, strict=False), start=1
        )
    )
    return FineList(
        rows=rows,
        omitted=max(len(fines) - MOST_ROWS, 0),
        totals=totals(assessments),
        assessments=assessments,
    )
