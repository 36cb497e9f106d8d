"""The dossier: a printable document with the answers of all lookups about a vehicle."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, Final, Literal

from portal import formats
from portal.dossier import figures
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.figures import Figure
from portal.dossier.gaps import Gap, Unavailable, capitalised_list, gap_of, missing_of
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.provenance import Provenance, provenance
from portal.law.unverified import UNVERIFIED, Unverified
from portal.presentation.paper.fines import MOST_IN_LEDGER
from portal.presentation.paper.prices import PaperChart, paper_chart
from portal.presentation.paper.timeline import PaperTimeline, paper_timeline
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.report import ReportSection, report_section
from portal.vehicle.plate import Plate

_STALE: Final = "era a última resposta guardada na emissão, já fora do prazo"

# Limits for the length of the verdict's and the origins' texts, in characters. Above
# _MOST_BESIDE_FACTS, the first sheet has no room for the vehicle's attributes. Above
# _MOST_BESIDE_CHART, this sheet has no room for the price chart either.
_MOST_BESIDE_FACTS: Final = 1400
_MOST_BESIDE_CHART: Final = 1600


@dataclass(frozen=True, slots=True)
class Issuer:
    """The issuer of dossiers, from the operator's settings.

    ``document`` is a formatted taxpayer number (CNPJ or CPF). ``logo`` is a ``data:`` URL.
    """

    name: str
    document: str = ""
    contact: str = ""
    logo: str = ""


@dataclass(frozen=True)
class DossierPage:
    """A draft or an issued dossier as an A4 document.

    In the states "idle" and "empty", the page shows a notice instead of the dossier. "idle" means
    that a lookup was not made. For example, a browser's prefetch of the page must not cause paid
    lookups. "empty" means that no lookup has a readable answer.

    An issued dossier has a ``number``, which the page ``/verificar`` ("verify") checks. ``qr`` is a
    picture of a QR code with the URL of this check, as a ``data:image/svg+xml`` URL. A draft has
    neither. ``address`` is the portal's base URL.
    ``ticked`` has the day of each ticked line of the checklist.
    ``origins`` are sentences that name the time and the source of each answer.
    """

    template: ClassVar[str] = "pages/dossier.html"
    plate: Plate
    title: str
    path: str
    state: Literal["ready", "idle", "empty"]
    address: str
    made_at: datetime
    dossier: Dossier
    figures: tuple[Figure, ...]
    chart: PaperChart | None
    timeline: PaperTimeline | None
    origins: tuple[str, ...]
    missing: tuple[Unavailable, ...]
    gap: Gap | None
    report: ReportSection
    unverified: tuple[Unverified, ...]
    ticked: Mapping[str, date] = field(default_factory=dict)
    issuer: Issuer | None = None
    number: str | None = None
    qr: str = ""

    @cached_property
    def _letters(self) -> int:
        """The length of the texts on the first sheet that differ between vehicles."""
        verdict = self.dossier.verdict
        texts = [reason.sentence for reason in verdict.first_reasons]
        # A notice takes a line of its own, in larger letters.
        texts += [*verdict.notices, *verdict.notices, *self.origins]
        texts += [row.why for row in verdict.matrix]
        return sum(map(len, texts))

    @property
    def has_annex(self) -> bool:
        """Whether the fines are in an annex at the dossier's end."""
        return len(self.dossier.fines or ()) > MOST_IN_LEDGER

    @property
    def has_facts_first(self) -> bool:
        """Whether the first sheet has room for the vehicle's attributes."""
        return self._letters <= _MOST_BESIDE_FACTS

    @property
    def has_chart_first(self) -> bool:
        """Whether the first sheet has room for the price chart."""
        return self._letters <= _MOST_BESIDE_CHART

    @property
    def host(self) -> str:
        """The base URL without its scheme, for print."""
        return self.address.partition("://")[2] or self.address


def dossier_page(
    plate: Plate,
    panels: Panels,
    report: Panel,
    context: RenderContext,
    *,
    address: str,
    report_outdated: bool = False,
) -> DossierPage:
    """Build the dossier of a plate. The caller adds the number."""
    dossier = context.dossier(plate, panels)
    path = subject_path(plate)
    name = dossier.name
    missing = missing_of(panels, plate)
    origins = tuple(
        _origins(
            [
                provenance(words, panel, context.now)
                for lookup, words in LOOKUP_WORDS.items()
                if (panel := panels.of(lookup)).has_answer
            ]
        )
    )
    return DossierPage(
        plate=plate,
        title=f"Dossiê do veículo {plate.display}" + (f" – {name}" if name else ""),
        path=path,
        state=_state(panels, missing),
        address=address.rstrip("/"),
        made_at=context.now,
        dossier=dossier,
        figures=(
            figures.price(dossier),
            *figures.price_change(dossier),
            figures.fines(dossier),
            figures.orders(dossier),
        ),
        chart=paper_chart(dossier.prices) if dossier.prices else None,
        timeline=paper_timeline(dossier),
        origins=origins,
        missing=missing,
        gap=gap_of(missing, plate, is_all=len(missing) == len(panels.all)),
        report=report_section(
            # The dossier has no button for a new report, and therefore shows no price for one.
            replace(report, price=Decimal(0)),
            context,
            action=f"{path}/laudo",
            outdated=report_outdated,
            dossier=dossier,
            price="",
        ),
        unverified=UNVERIFIED,
    )


def _state(panels: Panels, missing: Sequence[Unavailable]) -> Literal["ready", "idle", "empty"]:
    if any(panel.state == "unasked" for panel in panels.all):
        return "idle"
    return "empty" if len(missing) == len(panels.all) else "ready"


def _origins(answers: Sequence[Provenance]) -> Iterator[str]:
    """Yield a sentence for each group of answers with the same time and source."""
    groups: dict[str, list[str]] = {}
    for one in answers:
        parts = [f"consulta de {formats.moment(one.fetched_at)}"] if one.fetched_at else []
        parts += [one.source] if one.source else []
        stale = f"; {_STALE}" if one.is_stale else ""
        groups.setdefault(f"{', '.join(parts)}{stale}", []).append(one.what)
    for told, names in groups.items():
        yield f"{capitalised_list(names)}: {told}."
