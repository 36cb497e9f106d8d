"""The dossier: everything known about a vehicle, for print."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import ClassVar, Literal

from portal.law import UNVERIFIED, Unverified
from portal.presentation.panels import Panel
from portal.presentation.paper.fines import PaperFines, paper_fines
from portal.presentation.paper.prices import PaperPrices, paper_prices
from portal.presentation.paper.timeline import PaperTimeline, paper_timeline
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.gaps import Unavailable
from portal.presentation.vehicle.panel import (
    LOOKUP_WORDS,
    Panels,
    Provenance,
    RenderContext,
    missing_of,
    provenance,
    subject_path,
)
from portal.presentation.vehicle.report import ReportSection, report_section
from portal.vehicle import Plate


@dataclass(frozen=True, slots=True)
class DossierPage:
    """One A4 document.

    ``state`` "idle": a lookup was not made yet and this visit must not cause paid lookups, so no
    dossier is issued. ``ask_path`` is the path at which a person requests the dossier.
    ``code``, ``digest`` (in groups, as ``/verificar`` shows it) and ``qr`` are "" where the portal
    issues none. ``missing`` names the lookups without an answer, so that no missing part reads as
    a clean record.
    """

    template: ClassVar[str] = "pages/dossier.html"
    plate: Plate
    twin: Plate | None
    title: str
    path: str
    state: Literal["ready", "idle"]
    ask_path: str
    address: str
    issued_at: datetime
    code: str
    digest: str
    qr: str
    contents: VehicleContents
    prices: PaperPrices | None
    fines: PaperFines | None
    timeline: PaperTimeline
    provenance: tuple[Provenance, ...]
    missing: tuple[Unavailable, ...]
    report: ReportSection
    unverified: tuple[Unverified, ...]


def dossier_page(
    plate: Plate,
    panels: Panels,
    report: Panel,
    context: RenderContext,
    *,
    address: str,
    code: str = "",
    digest: str = "",
    qr: str = "",
    report_outdated: bool = False,
) -> DossierPage:
    """The dossier of a plate.

    ``address`` is the portal's base URL as printed. ``code`` is the signed code that
    ``/verificar`` checks, ``digest`` the digest of the records that it shows, and ``qr`` a
    ``data:image/svg+xml`` URL of its QR code.
    """
    contents = VehicleContents.of(panels, context)
    path = subject_path(plate)
    name = contents.summary.name
    return DossierPage(
        plate=plate,
        twin=plate.twin,
        title=f"Dossiê do veículo {plate.display}" + (f" – {name}" if name else ""),
        path=path,
        state="idle" if any(panel.state == "unasked" for panel in panels.all) else "ready",
        ask_path=f"{path}/dossie",
        address=address.rstrip("/"),
        issued_at=context.now,
        code=code,
        digest=digest,
        qr=qr,
        contents=contents,
        prices=paper_prices(contents.facts.prices) if contents.facts else None,
        fines=paper_fines(contents.fines) if contents.fines else None,
        timeline=paper_timeline(contents.fines, contents.restrictions),
        provenance=tuple(
            provenance(words, panel, context.now)
            for lookup, words in LOOKUP_WORDS.items()
            if (panel := panels.of(lookup)).has_answer
        ),
        missing=missing_of(panels, plate),
        report=report_section(
            # A printed page has no button that repeats a lookup, so it shows no price for one.
            replace(report, price=Decimal(0)),
            context,
            action=f"{path}/laudo",
            outdated=report_outdated,
            price="",
        ),
        unverified=UNVERIFIED,
    )
