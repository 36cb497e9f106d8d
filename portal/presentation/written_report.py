"""The written report: a stored text about a vehicle's records, in topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, Literal

from portal.dossier.answers import Panel, WrittenReport
from portal.dossier.dossier import Dossier
from portal.dossier.gaps import NO_REASON
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.provenance import Provenance, provenance
from portal.law.report_check import Contradiction, contradictions
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.report import Report, Topic

# Maps a topic of the report to the lookup whose records the upstream receives for that topic. The
# upstream receives no records for any other topic.
_EVIDENCE: Final[Mapping[str, LookupName]] = {
    "fipe": "decode",
    "restricoes": "renajud",
    "multas": "renainf",
}
_EMPTY: Final = "A análise veio vazia."


@dataclass(frozen=True)
class ReportSection:
    """The section with the written report, beside the records of ``dossier``.

    ``may_write`` is False if the visitor lacks the scope "report".
    """

    dossier: Dossier
    now: datetime
    may_write: bool = True

    @property
    def panel(self) -> Panel:
        return self.dossier.answers.report

    @property
    def report(self) -> Report | None:
        return self.dossier.report

    @property
    def state(self) -> Literal["none", "unavailable", "ready"]:
        """The state "none" means that there is no report that the visitor may read."""
        if self.report:
            return "ready"
        return "none" if self.panel.state == "unasked" else "unavailable"

    @property
    def reason(self) -> str:
        """Why no report is shown."""
        return (self.panel.reason or NO_REASON) if self.panel.body is None else _EMPTY

    @property
    def provenance(self) -> Provenance | None:
        return provenance("laudo", self.panel, self.now) if self.report else None

    @property
    def outdated(self) -> bool:
        return isinstance(self.panel, WrittenReport) and self.panel.outdated

    @property
    def made_of(self) -> tuple[LookupName, ...] | None:
        """The lookups whose records the report had, or None if they are unknown."""
        return self.panel.made_of if isinstance(self.panel, WrittenReport) else LOOKUPS

    @property
    def without(self) -> tuple[str, ...]:
        """The lookups that were unavailable when the report was written."""
        if self.made_of is None:
            return ()
        return tuple(words for name, words in LOOKUP_WORDS.items() if name not in self.made_of)

    @property
    def would_miss(self) -> tuple[str, ...]:
        """The lookups that are unavailable now. A new report would lack their records."""
        return tuple(LOOKUP_WORDS[name] for name in self.dossier.answers.in_state("unavailable"))

    @property
    def can_write(self) -> bool:
        return len(self.would_miss) < len(LOOKUPS)

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """The statements of the text that the records contradict."""
        if not self.report:
            return ()
        dossier, prices = self.dossier, self.dossier.prices
        # A doubtful price contradicts no text.
        tabs = prices.likeliest if prices and not prices.no_ceiling else ()
        known = [tab.current for tab in tabs if tab.current is not None]
        records = dossier.verdict, dossier.orders_in_force, dossier.totals, known
        return tuple(contradictions(self.report, *records))

    @property
    def is_compared(self) -> bool:
        """Whether each lookup has a readable answer to compare the text with."""
        return not self.dossier.verdict.missing

    @property
    def conclusion_badge(self) -> Literal["contradicted", ""]:
        """The mark of the conclusion, which may stand on another sheet than the contradictions."""
        return (
            "contradicted"
            if any(not contradiction.topic for contradiction in self.contradictions)
            else ""
        )

    def badge(self, topic: Topic) -> Literal["ok", "warning", "unverified", "contradicted", ""]:
        """Return the topic's mark, or "" if it has none.

        An "ok" that is not based on records becomes "unverified".
        """
        if any(contradiction.topic == topic.key for contradiction in self.contradictions):
            return "contradicted"
        if topic.mark != "ok":
            return topic.mark or ""
        return "ok" if _EVIDENCE.get(topic.key) in (self.made_of or ()) else "unverified"
