"""The written report: a stored text about a vehicle's records, in topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from portal.dossier.answers import Panel, Panels, WrittenReport
from portal.dossier.dossier import Dossier
from portal.dossier.gaps import NO_REASON
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.provenance import Provenance, provenance
from portal.law.report_check import Contradiction, Evidence, contradictions
from portal.presentation.render_context import RenderContext
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.report import Report, Topic, read_report

# Maps a topic of the report to the lookup whose records the upstream receives for that topic. The
# upstream receives no records for any other topic.
_EVIDENCE: Final[Mapping[str, LookupName]] = {
    "fipe": "decode",
    "restricoes": "renajud",
    "multas": "renainf",
}
_EMPTY: Final = "A análise veio vazia."
_RECORDS_INCOMPLETE: Final = (
    "Nem todos os registros que serviram de base a esta análise estão à mão agora: não é possível "
    "conferir se mudaram."
)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A page's section with the report.

    The state "none" means that there is no report that the visitor may read. ``outdated`` is true
    if the records have changed since the report was written. ``doubt`` is a warning that the portal
    cannot check for changes, because some of the records are missing now. In all other cases
    ``doubt`` is "".

    ``contradictions`` are statements of the text that the page's records contradict.
    ``is_compared`` is False if a lookup has no readable answer to compare the text with.

    ``without`` names the lookups that were unavailable when the report was written. ``would_miss``
    names the lookups that are unavailable now. A new report would lack their records.
    ``can_write`` is False if all lookups are unavailable. ``may_write`` is False if the visitor
    lacks the scope "report".
    """

    state: Literal["none", "unavailable", "ready"]
    action: str
    report: Report | None
    provenance: Provenance | None
    reason: str
    outdated: bool
    without: tuple[str, ...]
    doubt: str
    would_miss: tuple[str, ...]
    can_write: bool
    may_write: bool
    price: str
    made_of: tuple[LookupName, ...] | None
    contradictions: tuple[Contradiction, ...] = ()
    is_compared: bool = True

    @property
    def conclusion_badge(self) -> Literal["contradicted", ""]:
        """The mark of the conclusion, which may stand on another sheet than the contradictions."""
        return "contradicted" if any(not each.topic for each in self.contradictions) else ""

    def badge(self, topic: Topic) -> Literal["ok", "warning", "unverified", "contradicted", ""]:
        """Return the topic's mark, or "" if it has none.

        An "ok" that is not based on records becomes "unverified".
        """
        if any(each.topic == topic.key for each in self.contradictions):
            return "contradicted"
        if topic.mark != "ok":
            return topic.mark or ""
        return "ok" if _EVIDENCE.get(topic.key) in (self.made_of or ()) else "unverified"


def report_section(
    panel: Panel,
    context: RenderContext,
    *,
    action: str,
    outdated: bool,
    price: str,
    dossier: Dossier | None = None,
    records: Panels | None = None,
    may_write: bool = True,
) -> ReportSection:
    """Build a page's section with the report.

    The page's button for a new report sends a POST request to the path ``action``. ``records`` are
    the records for a new report, or None on a page without that button. ``dossier`` has the
    page's records, with which the text is compared.
    """
    state: Literal["none", "unavailable", "ready"] = "unavailable"
    report, reason = None, ""
    if panel.body is not None:
        report = read_report(panel.result, context.marker, mask_names=context.mask_names) or None
        state, reason = ("ready", "") if report else ("unavailable", _EMPTY)
    elif panel.state == "unasked":
        state = "none"
    else:
        reason = panel.reason or NO_REASON
    made_of = panel.made_of if isinstance(panel, WrittenReport) else LOOKUPS
    failed = [name for name in LOOKUPS if records and records.of(name).state == "unavailable"]
    return ReportSection(
        state=state,
        action=action,
        report=report,
        provenance=provenance("laudo", panel, context.now) if report else None,
        reason=reason,
        outdated=outdated,
        without=()
        if made_of is None
        else tuple(words for name, words in LOOKUP_WORDS.items() if name not in made_of),
        doubt=_RECORDS_INCOMPLETE if made_of is None and not outdated else "",
        would_miss=tuple(LOOKUP_WORDS[name] for name in failed),
        may_write=may_write,
        can_write=len(failed) < len(LOOKUPS),
        price=price,
        made_of=made_of,
        contradictions=contradictions(report, _evidence(dossier)) if report and dossier else (),
        is_compared=dossier is not None and not dossier.verdict.missing,
    )


def _evidence(dossier: Dossier) -> Evidence:
    prices = dossier.prices
    # A doubtful price contradicts no text.
    tabs = prices.likeliest if prices and not prices.no_ceiling else ()
    known = [tab.current for tab in tabs if tab.current is not None]
    return Evidence(
        dossier.verdict,
        dossier.orders_in_force,
        dossier.totals,
        (min(known), max(known)) if known else None,
    )
