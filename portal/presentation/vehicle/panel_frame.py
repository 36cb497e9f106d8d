"""The frame of a panel: its state, and the age, source and price of its answers.

A panel whose lookup was not made is "waiting" if a script will fetch the panel, and "idle" if the
request must not cause paid lookups. If a lookup failed and the panel has no content, the panel is
"unavailable", so that it does not look as if nothing was found. Any other panel is "ready".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from portal.dossier.answers import is_readable
from portal.dossier.dossier import Dossier
from portal.dossier.gaps import Gap, Unavailable, gap_of, has_readable, kept_titles, missing_of
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.provenance import Provenance, provenance
from portal.gateway.operations import lookups_of
from portal.phrasebook.glossary import Term, term
from portal.presentation.paths import subject_path
from portal.presentation.query import Query, changed
from portal.presentation.render_context import RenderContext
from portal.presentation.timeline import PaperTimeline, paper_timeline
from portal.presentation.vehicle.fine_ledger import FineLedger, fine_ledger
from portal.presentation.vehicle.price_view import PriceView
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate

PanelName = Literal["resumo", "veiculo", "multas", "restricoes"]
PanelState = Literal["waiting", "idle", "unavailable", "ready"]
_SETTLED: Final = ("ready", "unavailable")


@dataclass(frozen=True, slots=True)
class Kind:
    """The fixed properties of a panel.

    ``term`` is the key of the glossary entry about the source of the data. It is "" for the
    summary, because the summary has several sources.
    """

    title: str
    template: str
    needs: tuple[LookupName, ...]
    term: str = ""


_KINDS: Final[Mapping[PanelName, Kind]] = {
    "resumo": Kind("Resumo", "panels/summary.html", LOOKUPS),
    "veiculo": Kind("Veículo", "panels/vehicle.html", ("decode",), "fipe"),
    "multas": Kind("Multas", "panels/fines.html", ("renainf",), "renainf"),
    "restricoes": Kind("Restrições judiciais", "panels/restrictions.html", ("renajud",), "renajud"),
}
PANEL_NAMES: Final = tuple(_KINDS)


@dataclass(frozen=True)
class PanelView:
    """A panel of a vehicle's page, or the summary.

    If ``follow`` is true, the page's script fetches the panels whose lookup was not made.
    """

    name: PanelName
    dossier: Dossier
    context: RenderContext
    follow: bool

    @property
    def kind(self) -> Kind:
        return _KINDS[self.name]

    @cached_property
    def term(self) -> Term | None:
        return term(self.kind.term)

    @cached_property
    def _lookups(self) -> tuple[LookupName, ...]:
        return lookups_of(self.dossier.subject, self.kind.needs)

    @cached_property
    def state(self) -> PanelState:
        """The panel's state.

        A summary is never "unavailable". If all lookups failed, its verdict says that nothing is
        known.
        """
        answers = self.dossier.answers
        if any(answers.of(lookup).state == "unasked" for lookup in self._lookups):
            return "waiting" if self.follow else "idle"
        is_unavailable = self.name != "resumo" and any(
            not is_readable(answers.of(lookup).result, lookup) for lookup in self._lookups
        )
        return "unavailable" if is_unavailable else "ready"

    @property
    def content(self) -> Dossier | None:
        """The dossier, or None unless the state is "ready"."""
        return self.dossier if self.state == "ready" else None

    @cached_property
    def ledger(self) -> FineLedger | None:
        """The fines in the order and with the filters that the visitor chose."""
        return fine_ledger(self.dossier, self.context.query) if self.state == "ready" else None

    @cached_property
    def price_view(self) -> PriceView | None:
        """The price section, or None if the answer has no price-table entry."""
        prices = self.dossier.prices
        return PriceView(prices, self.context.query) if prices and prices.tabs else None

    @cached_property
    def timeline(self) -> PaperTimeline | None:
        """The picture of the records' dates, or None if there is none or the panel is not ready."""
        return paper_timeline(self.dossier) if self.state == "ready" else None

    # The page's script may fetch a panel in a separate request. The URL of a panel therefore
    # contains the visitor's choices for the panel, such as the version in the price chart.
    @property
    def url(self) -> str:
        """The URL of this panel alone."""
        path = f"{subject_path(self.dossier.subject)}/painel/{self.name}"
        return path + changed(self._query, completo="")

    @property
    def whole_page_url(self) -> str:
        """The URL of the page with all panels, for which the server makes all lookups first."""
        return subject_path(self.dossier.subject) + changed(self._query, completo="1")

    @property
    def _query(self) -> Query:
        return self.context.query if self.name in ("veiculo", "multas") else ()

    @cached_property
    def provenance(self) -> tuple[Provenance, ...]:
        answers = self.dossier.answers
        return tuple(
            provenance(LOOKUP_WORDS[lookup], panel, self.context.now)
            for lookup in self._lookups
            if self.state in _SETTLED and (panel := answers.of(lookup)).has_answer
        )

    @cached_property
    def missing(self) -> tuple[Unavailable, ...]:
        """The failed lookups."""
        if self.state not in _SETTLED:
            return ()
        return missing_of(self.dossier.answers, self.dossier.subject, self._lookups)

    @cached_property
    def has_nothing(self) -> bool:
        """Whether this is a summary whose lookups all failed."""
        is_all = len(self.missing) == len(self._lookups)
        return self.name == "resumo" and is_all and not has_readable(self.dossier.answers)

    @cached_property
    def gap(self) -> Gap | None:
        """The notice about the failed lookups."""
        return gap_of(self.missing, self.dossier.subject, is_all=self.has_nothing)

    @property
    def kept(self) -> tuple[str, ...]:
        """The titles of the notices about stale answers."""
        stale = [one for one in self.provenance if one.is_stale]
        return kept_titles([(one.what, at) for one in stale if (at := one.fetched_at)])

    @property
    def export_path(self) -> str:
        """The path prefix of the panel's CSV and JSON files, or "" if the panel has no files."""
        subject = self.dossier.subject
        has_exports = isinstance(subject, Plate) and self.state == "ready"
        return f"/api/v1/vehicles/{subject.text}" if has_exports else ""


def panel_needs(name: PanelName) -> tuple[LookupName, ...]:
    """Return the lookups that the panel needs on the page of a plate."""
    return _KINDS[name].needs
