"""The dossier: a printable document with the answers of all lookups about a vehicle."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import ClassVar, Final, Literal

from portal import formats
from portal.dossier import figures
from portal.dossier.car_rows import car_rows
from portal.dossier.details import given
from portal.dossier.dossier import Dossier
from portal.dossier.figures import Figure
from portal.dossier.gaps import Gap, capitalised_list, gap_of, has_readable
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.moment import Moment
from portal.dossier.provenance import Provenance, provenance
from portal.formats import field_text
from portal.issued.issuer import Issuer
from portal.phrasebook import acts
from portal.phrasebook.checklist import title as line_title
from portal.phrasebook.findings import sentence
from portal.phrasebook.verdict import headline, notices
from portal.presentation.paper.fines import MOST_IN_LEDGER, PaperFine
from portal.presentation.paper.first_sheet import FirstSheet, Texts, first_sheet, joined
from portal.presentation.paper.prices import PaperChart, has_chart, paper_chart
from portal.presentation.timeline import PaperTimeline, paper_timeline
from portal.presentation.written_report import ReportSection
from portal.vehicle.plate import Plate

_STALE: Final = "era a última resposta guardada na emissão, já fora do prazo"
# As many letters as the sentences beside the origins have, and those on the dossier's authenticity.
_RULES, _AUTHENTIC, _SIGNED = "x" * 110, "x" * 120, "x" * 125
_OF_A_SIGHT: Final = "x" * 80
_DECLARED: Final = " (declarado: consta)"


@dataclass(frozen=True)
class DossierPage:
    """A draft or an issued dossier as an A4 document.

    In the states "idle" and "empty", the page shows a notice instead of the dossier. "idle" means
    that a lookup was not made. For example, a browser's prefetch of the page must not cause paid
    lookups. "empty" means that no lookup has a readable answer.

    An issued dossier has a ``number``, which the page ``/verificar`` ("verify") checks. ``qr`` is a
    picture of a QR code with the URL of this check, as a ``data:image/svg+xml`` URL. A draft has
    neither. ``address`` is the portal's base URL.
    ``verify_address`` is the URL in the QR code, and ``signer`` who signs the PDF, or "".
    ``moment`` is what was found if the dossier proves the moment of a payment.
    """

    template: ClassVar[str] = "pages/dossier.html"
    plate: Plate
    dossier: Dossier
    report: ReportSection
    made_at: datetime
    address: str
    issuer: Issuer | None = None
    number: str | None = None
    qr: str = ""
    verify_address: str = ""
    signer: str = ""
    moment: Moment | None = None

    @property
    def title(self) -> str:
        name = self.dossier.name
        return f"Dossiê do veículo {self.plate.display}" + (f" – {name}" if name else "")

    @property
    def state(self) -> Literal["ready", "idle", "empty"]:
        if self.dossier.answers.in_state("unasked"):
            return "idle"
        return "ready" if has_readable(self.dossier.answers) else "empty"

    @property
    def gap(self) -> Gap | None:
        """The notice in place of a dossier whose lookups all failed."""
        return gap_of(self.dossier.missing, self.plate, is_all=True)

    @property
    def figures(self) -> tuple[Figure, ...]:
        price, change = figures.price(self.dossier), figures.price_change(self.dossier)
        return (price, *change, figures.fines(self.dossier), figures.orders(self.dossier))

    @cached_property
    def chart(self) -> PaperChart | None:
        """The chart, as high as the first sheet has room for."""
        prices = self.dossier.prices
        return paper_chart(prices, self.first_sheet.plot) if prices else None

    @cached_property
    def timeline(self) -> PaperTimeline | None:
        return paper_timeline(self.dossier)

    @cached_property
    def origins(self) -> tuple[str, ...]:
        """A sentence for each group of answers with the same time and source."""
        groups: dict[str, list[str]] = {}
        for lookup, words in LOOKUP_WORDS.items():
            panel = self.dossier.answers.of(lookup)
            if panel.has_answer:
                origin = _origin(provenance(words, panel, self.made_at))
                groups.setdefault(origin, []).append(words)
        return tuple(f"{capitalised_list(names)}: {reason}." for reason, names in groups.items())

    @cached_property
    def first_sheet(self) -> FirstSheet:
        """What the first sheet has room for."""
        verdict, dossier = self.dossier.verdict, self.dossier
        more = [_RULES] if verdict.more_reasons else []
        gaps = [f"{gap.title}. {gap.reason}" for gap in dossier.missing]
        moment = self.moment
        paid = [f"{moment.heading}. {moment.finding}", *moment.changes] if moment else []
        reasons = joined(f"{acts.label(row)}. {acts.why(row)}" for row in verdict.matrix)
        origins = [*self.origins, *(_RULES for _ in dossier.missing), _RULES]
        authentic = joined((_AUTHENTIC, _SIGNED if self.signer else "")) if self.number else ""
        sights = joined(_OF_A_SIGHT for row in car_rows(dossier) if row.seen)
        texts = Texts(
            headline=headline(verdict),
            lines=[*notices(verdict), *map(sentence, verdict.first_reasons), *more, *gaps, *paid],
            acts=[(acts.short(row), acts.brief(row)) for row in verdict.matrix],
            figures=[(one.label, one.value, one.note) for one in self.figures],
            facts=[(one.label, field_text(one.field)) for one in given(dossier.attributes)],
            coverage=[
                f"{line_title(line.line)}{_DECLARED if line.by else ''}" for line in dossier.lines
            ],
            paragraphs=[reasons, joined(origins), authentic, sights],
        )
        prices = dossier.prices
        return first_sheet(texts, has_chart=bool(prices and has_chart(prices)))

    @cached_property
    def fines(self) -> tuple[PaperFine, ...]:
        """The fines that the dossier lists."""
        return tuple(map(PaperFine, self.dossier.listed_fines))

    @property
    def has_annex(self) -> bool:
        """Whether the fines are in an annex at the dossier's end."""
        return len(self.dossier.fines or ()) > MOST_IN_LEDGER

    @property
    def has_facts_first(self) -> bool:
        """Whether the first sheet has room for the vehicle's attributes."""
        return self.first_sheet.has_facts

    @property
    def has_chart_first(self) -> bool:
        """Whether the first sheet has room for the price chart."""
        return self.first_sheet.has_chart

    @property
    def host(self) -> str:
        """The base URL without its scheme, for print."""
        return self.address.partition("://")[2] or self.address


def dossier_page(dossier: Dossier, made_at: datetime, *, address: str) -> DossierPage:
    """Build the dossier of a plate. The caller adds the number."""
    assert isinstance(dossier.subject, Plate)
    section = ReportSection(dossier, made_at)
    return DossierPage(dossier.subject, dossier, section, made_at, address.rstrip("/"))


def _origin(one: Provenance) -> str:
    parts = [f"consulta de {formats.moment(one.fetched_at)}"] if one.fetched_at else []
    parts += [one.source] if one.source else []
    return ", ".join(parts) + (f"; {_STALE}" if one.is_stale else "")
