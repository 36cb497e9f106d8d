"""View models of the page of a plate or a Renavam, and of one panel."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Final

from portal import formats
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.page_head import (
    PageHead,
    SectionLink,
    page_head,
    section_links,
)
from portal.presentation.vehicle.panel_frame import PanelName, PanelView
from portal.presentation.vehicle.report import ReportSection, report_section
from portal.vehicle.operation_name import LOOKUPS
from portal.vehicle.plate import Plate, Renavam

# The words before the price of a refresh, as in "as três consultas custam R$ 6,00" ("the three
# lookups cost"). The index is the number of lookups that the refresh repeats.
_COSTS: Final = ("", "a consulta custa", "as duas consultas custam", "as três consultas custam")


@dataclass(frozen=True)
class RecordViews:
    """The panels of a vehicle's records.

    ``follow`` is true if the page's script fetches the panels whose lookups were not made.
    """

    dossier: Dossier
    context: RenderContext
    follow: bool

    def named(self, name: PanelName) -> PanelView:
        match name:
            case "resumo":
                return self.summary
            case "veiculo":
                return self.facts
            case "multas":
                return self.fines
            case "restricoes":
                return self.restrictions

    @cached_property
    def summary(self) -> PanelView:
        return PanelView("resumo", self.dossier, self.context, self.follow)

    @cached_property
    def facts(self) -> PanelView:
        return PanelView("veiculo", self.dossier, self.context, self.follow)

    @cached_property
    def fines(self) -> PanelView:
        return PanelView("multas", self.dossier, self.context, self.follow)

    @cached_property
    def restrictions(self) -> PanelView:
        return PanelView("restricoes", self.dossier, self.context, self.follow)

    @property
    def all(self) -> tuple[PanelView, ...]:
        """The panels that the page shows. The page of a Renavam has no panel of vehicle data."""
        facts = (self.facts,) if isinstance(self.dossier.subject, Plate) else ()
        return (self.summary, *facts, self.fines, self.restrictions)

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
    may_refresh: bool
    may_follow: bool
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
    def panel(self) -> PanelView:
        return self.records.named(self.name)

    @property
    def template(self) -> str:
        return self.panel.template


@dataclass(frozen=True, slots=True)
class RenavamPage:
    """The page of a Renavam, with a warning if the check digit is wrong."""

    template: ClassVar[str] = "pages/renavam.html"
    renavam: Renavam
    records: RecordViews


def vehicle_page(
    plate: Plate,
    panels: Panels,
    report: Panel,
    context: RenderContext,
    *,
    may_refresh: bool,
    left_today: int | None,
    may_write: bool,
    may_follow: bool = False,
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
    visitor has the scope "report". ``may_follow`` is true if the link of an issued dossier can show
    what has changed since.
    """
    dossier = context.dossier(plate, panels)
    records = RecordViews(dossier, context, follow)
    requested = [one for one in LOOKUPS if panels.of(one).cause != "out_of_scope"]
    path = subject_path(plate)
    return VehiclePage(
        plate=plate,
        path=path,
        waits=any(view.state == "waiting" for view in records.all),
        whole_page_url=records.fines.choice.address(f"{path}?completo=1"),
        records=records,
        report=report_section(
            report,
            context,
            action=f"{path}/laudo",
            outdated=report_outdated,
            price=_price(report.price),
            dossier=dossier,
            records=panels,
            may_write=may_write,
        ),
        may_refresh=may_refresh and bool(requested),
        may_follow=may_follow,
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
    dossier = context.dossier(subject, panels)
    return PanelFragment(name, RecordViews(dossier, context, follow=False))


def renavam_page(
    renavam: Renavam, renainf: Panel, renajud: Panel, context: RenderContext
) -> RenavamPage:
    """Build the page of a Renavam. A panel whose lookup was not made shows a button."""
    panels = Panels(Panel("unasked"), renainf, renajud)
    dossier = context.dossier(renavam, panels)
    return RenavamPage(renavam, RecordViews(dossier, context, follow=False))


def _price(price: Decimal) -> str:
    """Format a price, or return "" for 0 (the operator configured no price)."""
    return formats.brl(price) if price > 0 else ""
