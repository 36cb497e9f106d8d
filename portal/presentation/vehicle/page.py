"""View models of the page of a plate or a Renavam (registration number), and of one panel."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, ClassVar, Final, cast

from portal.law import UNVERIFIED, Unverified
from portal.presentation import formats
from portal.presentation.panels import Panel, Panels
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.facts import VehicleFacts
from portal.presentation.vehicle.fine_choice import FineChoice, fine_choice
from portal.presentation.vehicle.fine_ledger import FineLedger, fine_ledger
from portal.presentation.vehicle.fines import FineList
from portal.presentation.vehicle.page_head import (
    PageHead,
    SectionLink,
    page_head,
    section_links,
)
from portal.presentation.vehicle.panel_frame import PanelName, PanelView, frame
from portal.presentation.vehicle.report import ReportSection, report_section
from portal.presentation.vehicle.restrictions import RestrictionList
from portal.presentation.vehicle.summary import Summary
from portal.vehicle import LOOKUPS, Plate, Renavam

# The words before the price of a refresh, as in "as três consultas custam R$ 6,00" ("the three
# lookups cost"). The index is the number of lookups that the refresh repeats.
_COSTS: Final = ("", "a consulta custa", "as duas consultas custam", "as três consultas custam")


@dataclass(frozen=True, slots=True)
class RecordViews:
    summary: PanelView[Summary]
    facts: PanelView[VehicleFacts]
    fines: PanelView[FineList]
    restrictions: PanelView[RestrictionList]
    contents: VehicleContents
    subject: Plate | Renavam
    choice: FineChoice
    today: date

    @classmethod
    def of(
        cls,
        subject: Plate | Renavam,
        panels: Panels,
        context: RenderContext,
        *,
        follow: bool,
    ) -> "RecordViews":
        """Build the panels.

        ``follow`` is true if the page's script fetches the panels whose lookups were not made.
        """
        contents = VehicleContents.of(subject, panels, context)
        return cls(
            frame("resumo", subject, panels, context, contents.summary, follow=follow),
            frame("veiculo", subject, panels, context, contents.facts, follow=follow),
            frame("multas", subject, panels, context, contents.fines, follow=follow),
            frame("restricoes", subject, panels, context, contents.restrictions, follow=follow),
            contents,
            subject,
            fine_choice(context.query),
            context.today,
        )

    def named(self, name: PanelName) -> PanelView[object]:
        match name:
            case "resumo":
                return self.summary
            case "veiculo":
                return self.facts
            case "multas":
                return self.ledger
            case "restricoes":
                return self.restrictions

    @property
    def all(self) -> tuple[PanelView[object], ...]:
        """The panels that the page shows. The page of a Renavam has no panel of vehicle data."""
        facts = (self.facts,) if isinstance(self.subject, Plate) else ()
        return (self.summary, *facts, self.fines, self.restrictions)

    @property
    def ledger(self) -> PanelView[FineLedger]:
        """The fines panel in the order and with the filters that the visitor chose.

        This property is computed only when it is read, because building this panel takes longer
        than building the rest of the page. A response that consists of another panel never reads
        this property. The panel's URLs contain the visitor's choices, because the page's script may
        fetch the panel in a separate request.
        """
        fines = self.fines.content
        content = None
        if fines is not None:
            path, by_plate = subject_path(self.subject), isinstance(self.subject, Plate)
            content = fine_ledger(fines, self.choice, self.today, path, can_negotiate=by_plate)
        return replace(
            cast(PanelView[Any], self.fines),
            content=content,
            url=self.choice.address(self.fines.url),
            whole_page_url=self.choice.address(self.fines.whole_page_url),
        )

    @property
    def head(self) -> PageHead:
        return page_head(self.summary)

    @property
    def links(self) -> tuple[SectionLink, ...]:
        return tuple(section_links(self.summary, self.fines, self.restrictions))


@dataclass(frozen=True, slots=True)
class VehiclePage:
    """The whole page of a plate.

    ``waits`` is true if any panel is in the state "waiting". A script fetches the waiting panels. A
    browser without scripts loads ``whole_page_url``, the URL of a page without waiting panels.
    """

    template: ClassVar[str] = "pages/vehicle.html"
    plate: Plate
    path: str
    waits: bool
    whole_page_url: str
    records: RecordViews
    report: ReportSection
    unverified: tuple[Unverified, ...]
    may_refresh: bool
    refresh_price: str
    refresh_cost: str
    left_today: int | None


@dataclass(frozen=True, slots=True)
class PanelFragment:
    """A single panel, as an HTML fragment that the page's script fetches.

    ``records`` has all panels, because the summary's fragment also shows how many fines and court
    restrictions the other panels contain.
    """

    name: PanelName
    records: RecordViews

    @property
    def panel(self) -> PanelView[object]:
        return self.records.named(self.name)

    @property
    def template(self) -> str:
        return self.panel.template


@dataclass(frozen=True, slots=True)
class RenavamPage:
    """The page of a Renavam (registration number), with a warning if the check digit is wrong."""

    template: ClassVar[str] = "pages/renavam.html"
    renavam: Renavam
    records: RecordViews
    unverified: tuple[Unverified, ...]


def vehicle_page(
    plate: Plate,
    panels: Panels,
    report: Panel,
    context: RenderContext,
    *,
    may_refresh: bool,
    left_today: int | None,
    may_write: bool,
    follow: bool = True,
    report_outdated: bool = False,
) -> VehiclePage:
    """Build the page of a plate from the given answers.

    ``follow`` says what happens to a panel whose lookup was not made. If ``follow`` is true, the
    page's script fetches the panel. If ``follow`` is false, the panel shows a button instead, so
    that opening the page causes no paid lookups.

    The state of ``report`` is "unasked" if there is no written report that the visitor may read.
    ``left_today`` is how many plates the visitor may still look up today, or None if there is no
    daily limit.
    ``may_refresh`` is true if the visitor has the scope "refresh", and ``may_write`` is true if the
    visitor has the scope "report".
    """
    records = RecordViews.of(plate, panels, context, follow=follow)
    requested = [one for one in LOOKUPS if panels.of(one).cause != "out_of_scope"]
    path = subject_path(plate)
    return VehiclePage(
        plate=plate,
        path=path,
        waits=any(view.state == "waiting" for view in records.all),
        whole_page_url=records.choice.address(f"{path}?completo=1"),
        records=records,
        report=report_section(
            report,
            context,
            action=f"{path}/laudo",
            outdated=report_outdated,
            price=_price(report.price),
            contents=records.contents,
            records=panels,
            may_write=may_write,
        ),
        unverified=UNVERIFIED,
        may_refresh=may_refresh and bool(requested),
        refresh_price=_price(sum((panels.of(one).price for one in requested), Decimal(0))),
        refresh_cost=_COSTS[len(requested)],
        left_today=left_today,
    )


def panel_fragment(
    name: PanelName, subject: Plate | Renavam, panels: Panels, context: RenderContext
) -> PanelFragment:
    """Build a single panel.

    Lookups that this panel does not need may be "unasked" in ``panels``.
    """
    return PanelFragment(name, RecordViews.of(subject, panels, context, follow=False))


def renavam_page(
    renavam: Renavam, renainf: Panel, renajud: Panel, context: RenderContext
) -> RenavamPage:
    """Build the page of a Renavam. A panel whose lookup was not made shows a button."""
    panels = Panels(Panel("unasked"), renainf, renajud)
    records = RecordViews.of(renavam, panels, context, follow=False)
    return RenavamPage(renavam, records, UNVERIFIED)


def _price(price: Decimal) -> str:
    """Format a price, or return "" for 0 (the operator configured no price)."""
    return formats.brl(price) if price > 0 else ""
