"""The page of a vehicle, one of its panels alone, and the page of a Renavam."""

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import ClassVar, Final

from portal.law import UNVERIFIED, Unverified
from portal.presentation import formats
from portal.presentation.panels import Panel
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.facts import VehicleFacts
from portal.presentation.vehicle.fine_choice import NO_CHOICE, FineChoice
from portal.presentation.vehicle.fine_ledger import FineLedger, fine_ledger
from portal.presentation.vehicle.panel import (
    LOOKUP_WORDS,
    PANEL_NAMES,
    Lookup,
    PanelName,
    Panels,
    PanelView,
    RenderContext,
    frame,
    subject_path,
)
from portal.presentation.vehicle.report import ReportSection, report_section
from portal.presentation.vehicle.restrictions import RestrictionList
from portal.presentation.vehicle.summary import Summary
from portal.vehicle import Plate, Renavam

# The subject and verb before a price such as "R$ 6,00", by the number of lookups of a refresh.
_COSTS: Final = ("", "a consulta custa", "as duas consultas custam", "as três consultas custam")
AnyPanel = (
    PanelView[Summary]
    | PanelView[VehicleFacts]
    | PanelView[FineLedger]
    | PanelView[RestrictionList]
)


@dataclass(frozen=True, slots=True)
class VehiclePage:
    """The whole page.

    ``waits``: the browser fetches panels by script or, without scripts, goes to
    ``whole_page_url``.
    """

    template: ClassVar[str] = "pages/vehicle.html"
    plate: Plate
    twin: Plate | None
    title: str
    path: str
    waits: bool
    whole_page_url: str
    panels: tuple[AnyPanel, ...]
    report: ReportSection
    unverified: tuple[Unverified, ...]
    may_refresh: bool
    refresh_price: str
    refresh_cost: str
    json_paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PanelFragment:
    """One panel alone, as the page's script fetches it, with the panel's template."""

    panel: AnyPanel

    @property
    def template(self) -> str:
        return self.panel.template


@dataclass(frozen=True, slots=True)
class RenavamPage:
    """The fines and court restrictions of a Renavam; the decoder accepts no Renavam.

    If ``check_digit_holds`` is False, the page shows a warning; the Renavam is not rejected.
    """

    template: ClassVar[str] = "pages/renavam.html"
    renavam: Renavam
    title: str
    path: str
    check_digit_holds: bool
    panels: tuple[AnyPanel, ...]
    unverified: tuple[Unverified, ...]


def vehicle_page(
    plate: Plate,
    panels: Panels,
    report: Panel,
    context: RenderContext,
    *,
    follow: bool = True,
    report_outdated: bool = False,
    may_refresh: bool = True,
    may_write: bool = True,
    choice: FineChoice = NO_CHOICE,
) -> VehiclePage:
    """The page of a plate with the given answers.

    ``follow`` False: this visit must not cause paid lookups, so unasked panels show a button
    instead of fetching themselves. ``report`` unasked: there is none that the visitor may read.
    ``may_refresh`` or ``may_write`` False: the visitor's access does not include it. ``choice`` is
    what the address chooses of the fines.
    """
    contents = VehicleContents.of(panels, context)
    requested = [one for one in LOOKUP_WORDS if panels.of(one).cause != "out_of_scope"]
    views = tuple(
        _panel(name, plate, panels, context, contents, choice, follow=follow)
        for name in PANEL_NAMES
    )
    name = contents.summary.name
    path = subject_path(plate)
    return VehiclePage(
        plate=plate,
        twin=plate.twin,
        title=f"{plate.display} – {name}" if name else f"Placa {plate.display}",
        path=path,
        waits=any(view.state == "waiting" for view in views),
        whole_page_url=choice.address(f"{path}?completo=1"),
        panels=views,
        report=report_section(
            report,
            context,
            action=f"{path}/laudo",
            outdated=report_outdated,
            price=_price(report.price),
            records=panels,
            may_write=may_write,
        ),
        unverified=UNVERIFIED,
        may_refresh=may_refresh and bool(requested),
        refresh_price=_price(sum((panels.of(one).price for one in requested), Decimal(0))),
        refresh_cost=_COSTS[len(requested)],
        json_paths=(
            f"/detran/v1/decode/{plate}",
            f"/detran/v1/restrictions/renainf/{plate}",
            f"/detran/v1/restrictions/renajud/{plate}",
        ),
    )


def panel_fragment(
    name: str,
    subject: Plate | Renavam,
    panels: Panels,
    context: RenderContext,
    choice: FineChoice = NO_CHOICE,
) -> PanelFragment:
    """One panel, from the lookups that ``panel_needs(name)`` names.

    Raises KeyError for a name that is no panel.
    """
    if name not in PANEL_NAMES:
        raise KeyError(name)
    contents = VehicleContents.of(panels, context)
    return PanelFragment(_panel(name, subject, panels, context, contents, choice, follow=False))


def renavam_page(
    renavam: Renavam,
    renainf: Panel,
    renajud: Panel,
    context: RenderContext,
    choice: FineChoice = NO_CHOICE,
) -> RenavamPage:
    """The page of a Renavam; unasked lookups show a button and are not fetched."""
    panels = Panels(Panel("unasked"), renainf, renajud)
    contents = VehicleContents.of(
        panels, context, decode_wanted=False, check_digit_holds=renavam.check_digit_holds
    )
    lookups: tuple[Lookup, ...] = ("renainf", "renajud")
    return RenavamPage(
        renavam=renavam,
        title=f"Renavam {renavam.display}",
        path=subject_path(renavam),
        check_digit_holds=renavam.check_digit_holds,
        panels=(
            frame(
                "resumo", renavam, panels, context, contents.summary, follow=False, lookups=lookups
            ),
            _panel("multas", renavam, panels, context, contents, choice, follow=False),
            _panel("restricoes", renavam, panels, context, contents, choice, follow=False),
        ),
        unverified=UNVERIFIED,
    )


def _panel(
    name: PanelName,
    subject: Plate | Renavam,
    panels: Panels,
    context: RenderContext,
    contents: VehicleContents,
    choice: FineChoice,
    *,
    follow: bool,
) -> AnyPanel:
    match name:
        case "resumo":
            return frame(name, subject, panels, context, contents.summary, follow=follow)
        case "veiculo":
            return frame(name, subject, panels, context, contents.facts, follow=follow)
        case "multas":
            return _fines_panel(subject, panels, context, contents, choice, follow=follow)
        case "restricoes":
            return frame(name, subject, panels, context, contents.restrictions, follow=follow)


def _fines_panel(
    subject: Plate | Renavam,
    panels: Panels,
    context: RenderContext,
    contents: VehicleContents,
    choice: FineChoice,
    *,
    follow: bool,
) -> PanelView[FineLedger]:
    """The fines panel; it is also fetched alone, so its address carries the choice."""
    ledger = None
    if contents.fines is not None:
        ledger = fine_ledger(
            contents.fines,
            choice,
            context.today,
            subject_path(subject),
            can_negotiate=isinstance(subject, Plate),
        )
    view = frame("multas", subject, panels, context, ledger, follow=follow)
    return replace(
        view,
        url=choice.address(view.url),
        whole_page_url=choice.address(view.whole_page_url),
    )


def _price(price: Decimal) -> str:
    """A price as a button shows it; "" where it is free or unknown."""
    return formats.brl(price) if price > 0 else ""
