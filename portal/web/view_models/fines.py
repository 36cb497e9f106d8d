"""The fines of a vehicle: each with what the law makes of it, and their totals."""

from dataclasses import dataclass

from portal.law import FineAssessment, Totals, assess, totals
from portal.vehicle import Fine, read_fines
from portal.web.panels import Panel
from portal.web.view_models.panel import Reading, is_readable

# A table of more rows would be read by nobody and weigh more than the rest of the page; the
# totals count every fine, and the page says how many rows it leaves out.
MOST_ROWS = 300


@dataclass(frozen=True, slots=True)
class FineRow:
    """One fine: its number on the page, its anchor, the record and its assessment."""

    number: int
    anchor: str
    fine: Fine
    law: FineAssessment
    tone: str


@dataclass(frozen=True, slots=True)
class FineList:
    """Every fine in the source's order. ``omitted`` rows are counted in the totals only."""

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
    "due": "warn",
    "notice": "warn",
    "suspended": "unknown",
    "unknown": "unknown",
}


def fine_list(panel: Panel, reading: Reading) -> FineList | None:
    """The fines of an answer; None where there is none or it cannot be read."""
    if panel.body is None or not is_readable(panel, "renainf"):
        return None
    fines = read_fines(panel.body, reading.marker)
    assessments = tuple(assess(fine, reading.today) for fine in fines)
    return FineList(
        rows=tuple(
            FineRow(number, f"multa-{number}", fine, law, _TONES[law.standing])
            for number, (fine, law) in enumerate(
                zip(fines[:MOST_ROWS], assessments, strict=False), start=1
            )
        ),
        omitted=max(len(fines) - MOST_ROWS, 0),
        totals=totals(assessments),
        assessments=assessments,
    )
