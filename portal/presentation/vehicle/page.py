"""View models of the page of a plate or a Renavam, and of one panel."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

from portal import formats
from portal.amounts import total
from portal.dossier.dossier import Dossier
from portal.gateway.operations import LOOKUP_OPERATIONS, Operation
from portal.law.last_seen import SinceLastSeen
from portal.phrasebook.verdict import headline
from portal.presentation.issued.moment_form import MomentChoice, moment_choices
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.panel_frame import PANEL_NAMES, PanelName, PanelView
from portal.presentation.walk import Walk
from portal.presentation.written_report import ReportSection
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate, Renavam


@dataclass(frozen=True)
class RecordViews:
    """The head and the panels of a vehicle's records.

    ``follow`` is true if the page's script fetches the panels whose lookups were not made.
    ``since`` is what differs from what the caller last saw, or None in the first visit.
    """

    dossier: Dossier
    context: RenderContext
    follow: bool
    since: SinceLastSeen | None = None

    @cached_property
    def panels(self) -> dict[PanelName, PanelView]:
        return {
            name: PanelView(name, self.dossier, self.context, self.follow) for name in PANEL_NAMES
        }

    @cached_property
    def summary(self) -> PanelView:
        return self.panels["resumo"]

    @property
    def all(self) -> tuple[PanelView, ...]:
        """The panels that the page shows. The page of a Renavam has no panel of vehicle data."""
        return tuple(
            panel for panel in self.panels.values() if self.plate or panel.name != "veiculo"
        )

    @cached_property
    def plate(self) -> Plate | None:
        subject = self.dossier.subject
        return subject if isinstance(subject, Plate) else None

    @cached_property
    def path(self) -> str:
        return subject_path(self.dossier.subject)

    @cached_property
    def name(self) -> str:
        """The vehicle's name, or "" if it is unknown or the summary has no content."""
        return str(self.dossier.name) if self.summary.content else ""

    @property
    def line(self) -> str:
        return self.dossier.line if self.summary.content else ""

    @property
    def title(self) -> str:
        if self.plate and self.name:
            return f"{self.plate.display} – {self.name}"
        return self._label

    @property
    def announcement(self) -> str:
        """The verdict for screen readers, or "" if the summary has no content."""
        summary = self.summary
        if summary.content is None:
            return ""
        nothing = summary.gap if summary.has_nothing else None
        finding = nothing.title if nothing else headline(self.dossier.verdict)
        return f"{self.name or self._label}: {finding}"

    @property
    def _label(self) -> str:
        return f"{'Placa' if self.plate else 'Renavam'} {self.dossier.subject.display}"

    @property
    def links(self) -> Iterator[tuple[str, str, str]]:
        """The sections of the page: anchor, label, and number of records.

        Three sections have a number: the fines, the court restrictions in force, and the open
        lines of the checklist. It is "?" if unknown, and "" while the section's panel is "waiting".
        """
        dossier, summary = self.dossier, self.summary
        if self.plate:
            yield "fipe", "Preço", ""
        yield "multas", "Multas", self._count("multas", len(dossier.fines or ()))
        yield "restricoes", "Justiça", self._count("restricoes", dossier.orders_in_force or 0)
        if self.plate:
            yield "veiculo", "Veículo", ""
        yield "nao-verificado", "Conferir", formats.integer(dossier.open_lines)
        if summary.timeline:
            yield "linha-do-tempo", "Linha do tempo", ""
        if self.plate:
            yield "laudo", "Análise", ""

    def _count(self, name: PanelName, count: int) -> str:
        state = self.panels[name].state
        if state == "ready":
            return formats.integer(count)
        return "" if state == "waiting" else "?"


@dataclass(frozen=True)
class VehiclePage:
    """The whole page of a plate.

    ``left_today`` is how many plates the visitor may still look up today, or None if there is no
    daily limit. ``may_refresh`` is true if the visitor has the scope "refresh", and ``may_follow``
    if the link of an issued dossier can show what has changed since.
    """

    template: ClassVar[str] = "pages/vehicle.html"
    operations: ClassVar[tuple[Operation, ...]] = LOOKUP_OPERATIONS
    records: RecordViews
    report: ReportSection
    may_refresh: bool
    may_follow: bool
    left_today: int | None

    @cached_property
    def waits(self) -> bool:
        """Whether the page's script fetches a panel."""
        return any(view.state == "waiting" for view in self.records.all)

    @cached_property
    def walk(self) -> Walk | None:
        """The vehicle's place in the list from which the visitor has come, or None."""
        return Walk.of(self.records.context.query)

    @property
    def whole_page_url(self) -> str:
        """The URL of the page without waiting panels, for a browser without scripts."""
        return self.records.panels["multas"].whole_page_url

    @cached_property
    def refreshed(self) -> tuple[LookupName, ...]:
        """The lookups that a refresh repeats."""
        answers = self.records.dossier.answers
        return tuple(name for name in LOOKUPS if answers.of(name).cause != "out_of_scope")

    @cached_property
    def moment_choices(self) -> tuple[MomentChoice, ...]:
        answers = self.records.dossier.answers
        return moment_choices({name: answers.of(name).price for name in self.refreshed})

    @property
    def refresh_price(self) -> Decimal | None:
        """The price of a refresh in R$, or None if that of one of its lookups is unknown."""
        answers = self.records.dossier.answers
        return total(answers.of(name).price for name in self.refreshed)


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
        return self.records.panels[self.name]

    @property
    def template(self) -> str:
        return self.panel.kind.template


@dataclass(frozen=True, slots=True)
class RenavamPage:
    """The page of a Renavam, with a warning if the check digit is wrong."""

    template: ClassVar[str] = "pages/renavam.html"
    renavam: Renavam
    records: RecordViews


def vehicle_page(
    dossier: Dossier,
    context: RenderContext,
    *,
    may_refresh: bool,
    left_today: int | None,
    may_write: bool,
    may_follow: bool = False,
    follow: bool = True,
    since: SinceLastSeen | None = None,
) -> VehiclePage:
    """Build the page of a plate.

    ``follow`` says what happens to a panel whose lookup was not made. If ``follow`` is true, the
    page's script fetches the panel. If ``follow`` is false, the panel shows a button instead, so
    that opening the page causes no paid lookups.

    ``may_write`` is true if the visitor has the scope "report". ``since`` is what differs from what
    the visitor last saw.
    """
    section = ReportSection(dossier, context.now, may_write)
    records = RecordViews(dossier, context, follow, since)
    return VehiclePage(records, section, may_refresh, may_follow, left_today)


def panel_fragment(
    name: PanelName, dossier: Dossier, context: RenderContext, since: SinceLastSeen | None = None
) -> PanelFragment:
    """Build a single panel. Lookups that it does not need may be "unasked"."""
    return PanelFragment(name, RecordViews(dossier, context, follow=False, since=since))


def renavam_page(
    dossier: Dossier, context: RenderContext, since: SinceLastSeen | None = None
) -> RenavamPage:
    """Build the page of a Renavam. A panel whose lookup was not made shows a button."""
    assert isinstance(dossier.subject, Renavam)
    return RenavamPage(dossier.subject, RecordViews(dossier, context, follow=False, since=since))
