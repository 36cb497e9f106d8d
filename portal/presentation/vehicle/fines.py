"""The fines of a vehicle: each with its legal assessment, and their totals."""

from dataclasses import dataclass

from portal.law import FineAssessment, Totals, assess, totals
from portal.presentation.panels import Panel
from portal.presentation.vehicle.panel import RenderContext, is_readable
from portal.presentation.vehicle.record_details import FineDetails, fine_details
from portal.vehicle import Fine, Identity, read_fines

# At most this many fines are listed, because a longer table would be too much to read. The totals
# include every fine, and the page says how many rows it omits.
MOST_ROWS = 300


@dataclass(frozen=True, slots=True)
class FineRow:
    """One fine: its number and anchor on the page, its record, its assessment and details."""

    number: int
    anchor: str
    fine: Fine
    law: FineAssessment
    details: FineDetails
    tone: str


@dataclass(frozen=True, slots=True)
class FineList:
    """Every fine in the source's order. ``omitted`` is the number of fines not listed."""

    rows: tuple[FineRow, ...]
    omitted: int
    totals: Totals
    assessments: tuple[FineAssessment, ...]

    @property
    def count(self) -> int:
        return len(self.assessments)


_TONES = {
    "paid": "ok",
    "enforceable": "danger",
    "probably_due": "warn",
    "due": "warn",
    "notice": "warn",
    "suspended": "unknown",
    "unknown": "unknown",
}


def fine_list(
    panel: Panel, context: RenderContext, vehicle: Identity | None = None
) -> FineList | None:
    """Return the fines of an answer, or None if the answer is missing or unreadable.

    ``vehicle`` is the vehicle from the lookup "decode", which is compared with the vehicle in each
    fine's record.
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
            _TONES[law.standing],
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
