"""The written report of a vehicle, as it was stored."""

from dataclasses import dataclass
from typing import Literal

from portal.vehicle import Report, read_report
from portal.web.panels import Panel
from portal.web.view_models.panel import NO_REASON, Provenance, Reading, provenance


@dataclass(frozen=True, slots=True)
class ReportSection:
    """``state`` "none": no report was written yet; ``outdated``: the records changed since."""

    state: Literal["none", "unavailable", "ready"]
    action: str
    report: Report | None
    provenance: Provenance | None
    reason: str
    outdated: bool
    price: str


def report_section(
    panel: Panel, reading: Reading, *, action: str, outdated: bool, price: str
) -> ReportSection:
    """The report's part of a page. ``action`` is the path that has it written."""
    report = (
        None
        if panel.body is None
        else read_report(panel.body, reading.marker, mask_names=reading.mask_names)
    )
    state: Literal["none", "unavailable", "ready"]
    if report is not None:
        state = "ready" if report else "unavailable"
    else:
        state = "none" if panel.state == "unasked" else "unavailable"
    reason = "" if state != "unavailable" else panel.reason or NO_REASON
    if panel.body is not None and state == "unavailable":
        reason = "O laudo veio vazio."
    return ReportSection(
        state=state,
        action=action,
        report=report if state == "ready" else None,
        provenance=provenance("laudo", panel, reading.now) if state == "ready" else None,
        reason=reason,
        outdated=outdated,
        price=price,
    )
