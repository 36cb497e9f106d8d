"""Builds pages and rows from a vehicle's answers, as a caller's desk would."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from portal.batch.model import Item
from portal.desk.reading import Reading
from portal.dossier import row
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.row import VehicleRow
from portal.gateway.lookup import Served
from portal.presentation.lists import comparison
from portal.presentation.lists import recent_lookup as recent
from portal.presentation.paper import dossier as paper
from portal.presentation.query import Query
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle import negotiation
from portal.presentation.vehicle import page as vehicle_pages
from portal.system.local_time import local_date
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam


@dataclass(frozen=True)
class Context:
    """When and how a test's portal reads answers."""

    now: datetime
    marker: str
    mask_names: bool
    query: Query = ()

    @property
    def today(self) -> date:
        return local_date(self.now)

    @property
    def of_page(self) -> RenderContext:
        return RenderContext(self.now, self.query)

    def dossier(
        self,
        subject: Plate | Renavam,
        answers: Panels,
        ask: Sequence[LookupName] = LOOKUPS,
        report: Panel | None = None,
    ) -> Dossier:
        if report is not None:
            answers = replace(answers, report=report)
        return Reading(self.marker, self.mask_names).dossier(subject, answers, self.now, ask)


def vehicle_page(
    plate: Plate, answers: Panels, report: Panel, context: Context, **options: Any
) -> vehicle_pages.VehiclePage:
    """Build the page for a visitor who has every scope and no daily limit."""
    unlimited: dict[str, Any] = {"may_refresh": True, "left_today": None, "may_write": True}
    dossier = context.dossier(plate, answers, report=report)
    return vehicle_pages.vehicle_page(dossier, context.of_page, **unlimited | options)


def panel_fragment(
    name: Any, subject: Plate | Renavam, answers: Panels, context: Context
) -> vehicle_pages.PanelFragment:
    return vehicle_pages.panel_fragment(name, context.dossier(subject, answers), context.of_page)


def renavam_page(
    renavam: Renavam, renainf: Panel, renajud: Panel, context: Context
) -> vehicle_pages.RenavamPage:
    answers = Panels(Panel("unasked"), renainf, renajud)
    return vehicle_pages.renavam_page(context.dossier(renavam, answers), context.of_page)


def negotiation_page(
    plate: Plate, answers: Panels, context: Context, query: Mapping[str, str]
) -> negotiation.NegotiationPage:
    return negotiation.negotiation_page(context.dossier(plate, answers), context.now, query)


def dossier_page(
    plate: Plate, answers: Panels, report: Panel, context: Context, *, address: str
) -> paper.DossierPage:
    dossier = context.dossier(plate, answers, report=report)
    return paper.dossier_page(dossier, context.now, address=address)


def comparison_page(
    plates: Sequence[Plate], answers: Sequence[Panels], context: Context, **options: Any
) -> comparison.ComparisonPage:
    dossiers = [context.dossier(*each) for each in zip(plates, answers, strict=True)]
    return comparison.comparison_page(dossiers, context.now, **options)


def recent_lookup(
    subject: Plate | Renavam,
    answers: Panels,
    looked_at: datetime | None,
    context: Context,
    *,
    note: str = "",
) -> recent.RecentLookup:
    dossier = context.dossier(subject, answers)
    return recent.recent_lookup(dossier, looked_at, context.now, note=note)


def kept_result(
    subject: Plate | Renavam,
    ask: Sequence[LookupName],
    answers: Mapping[LookupName, Served],
    context: Context,
) -> bytes:
    dossier = context.dossier(subject, row.answered(subject, answers), ask)
    return row.stored_row(dossier, answers)


def row_of(
    item: Item,
    answers_of: Callable[[Plate | Renavam], Panels],
    context: Context,
    ask: Sequence[LookupName] = LOOKUPS,
    reported: Dossier | None = None,
) -> VehicleRow:
    return row.row_of(
        item,
        lambda: context.dossier(item.subject, answers_of(item.subject), ask),
        lambda: reported,
        context.now,
    )
