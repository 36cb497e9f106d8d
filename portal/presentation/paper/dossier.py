"""The dossier: a printable document with the answers of all lookups about a vehicle."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import ClassVar, Final, Literal

from portal import formats
from portal.dossier import figures
from portal.dossier.dossier import Dossier
from portal.dossier.figures import Figure
from portal.dossier.gaps import Gap, capitalised_list, gap_of, has_readable
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.moment import Moment
from portal.dossier.provenance import Provenance, provenance
from portal.issued.issuer import Issuer
from portal.phrasebook import acts
from portal.phrasebook.findings import sentence
from portal.phrasebook.verdict import notices
from portal.presentation.paper.fines import MOST_IN_LEDGER
from portal.presentation.paper.prices import PaperChart, paper_chart
from portal.presentation.timeline import PaperTimeline, paper_timeline
from portal.presentation.written_report import ReportSection
from portal.vehicle.plate import Plate

_STALE: Final = "era a última resposta guardada na emissão, já fora do prazo"

# Limits for the length of the verdict's and the origins' texts, in characters. Above
# _MOST_BESIDE_FACTS, the first sheet has no room for the vehicle's attributes. Above
# _MOST_BESIDE_CHART, this sheet has no room for the price chart either.
_MOST_BESIDE_FACTS: Final = 1400
_MOST_BESIDE_CHART: Final = 1600


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
        return paper_chart(self.dossier.prices) if self.dossier.prices else None

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
        return tuple(f"{capitalised_list(names)}: {told}." for told, names in groups.items())

    @cached_property
    def _letters(self) -> int:
        """The length of the texts on the first sheet that differ between vehicles."""
        verdict = self.dossier.verdict
        texts = list(map(sentence, verdict.first_reasons))
        # A notice takes a line of its own, in larger letters.
        texts += [*notices(verdict), *notices(verdict), *self.origins]
        texts += map(acts.why, verdict.matrix)
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


def dossier_page(dossier: Dossier, made_at: datetime, *, address: str) -> DossierPage:
    """Build the dossier of a plate. The caller adds the number."""
    assert isinstance(dossier.subject, Plate)
    section = ReportSection(dossier, made_at)
    return DossierPage(dossier.subject, dossier, section, made_at, address.rstrip("/"))


def _origin(one: Provenance) -> str:
    parts = [f"consulta de {formats.moment(one.fetched_at)}"] if one.fetched_at else []
    parts += [one.source] if one.source else []
    return ", ".join(parts) + (f"; {_STALE}" if one.is_stale else "")
