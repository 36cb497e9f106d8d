"""The written report of a vehicle, as it was stored."""

from dataclasses import dataclass
from typing import Final, Literal

from portal.presentation.panels import Panel
from portal.presentation.vehicle.panel import (
    LOOKUP_WORDS,
    NO_REASON,
    Lookup,
    Panels,
    Provenance,
    RenderContext,
    provenance,
)
from portal.vehicle import Report, read_report

_EVERYTHING: Final = tuple(LOOKUP_WORDS)
_EMPTY: Final = "O laudo veio vazio."
NOT_ALL_AT_HAND: Final = (
    "Nem todos os registros de que este laudo foi escrito estão à mão agora: não é possível "
    "conferir se mudaram."
)


@dataclass(frozen=True, slots=True)
class WrittenReport(Panel):
    """A stored report. ``made_of`` are the lookups whose records went into it, None where that
    cannot be told from the records at hand."""

    made_of: tuple[Lookup, ...] | None = _EVERYTHING


@dataclass(frozen=True, slots=True)
class ReportSection:
    """``state`` "none": no report was written yet; ``outdated``: the records changed since.

    ``without`` names the records that the report was written without, ``would_miss`` those that
    one written now would be; ``doubt`` is a sentence where it cannot be told. ``can_write``
    False: no record is available, so there is nothing to write about; ``may_write`` False: the
    visitor's access includes no report.
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


def report_section(
    panel: Panel,
    reading: RenderContext,
    *,
    action: str,
    outdated: bool,
    price: str,
    records: Panels | None = None,
    may_write: bool = True,
) -> ReportSection:
    """The report's part of a page. ``action`` is the path that has it written, ``records`` are
    what it would be written from; None where nobody can ask for that, as on paper."""
    report = (
        None
        if panel.body is None
        else read_report(panel.body, reading.marker, mask_names=reading.mask_names)
    )
    state: Literal["none", "unavailable", "ready"]
    if report is not None:
        state = "ready" if report else "unavailable"
    else:
        state = "none" if panel.state == "unasked" else "unavailable"
    reason = "" if state != "unavailable" else panel.reason or NO_REASON
    if panel.body is not None and state == "unavailable":
        reason = _EMPTY
    made_of = panel.made_of if isinstance(panel, WrittenReport) else _EVERYTHING
    down = [name for name in _EVERYTHING if records and records.of(name).state == "unavailable"]
    return ReportSection(
        state=state,
        action=action,
        report=report if state == "ready" else None,
        provenance=provenance("laudo", panel, reading.now) if state == "ready" else None,
        reason=reason,
        outdated=outdated,
        without=_without(made_of) if made_of is not None else (),
        doubt=NOT_ALL_AT_HAND if made_of is None and not outdated else "",
        would_miss=tuple(LOOKUP_WORDS[name] for name in down),
        may_write=may_write,
        can_write=len(down) < len(_EVERYTHING),
        price=price,
    )


def _without(made_of: tuple[Lookup, ...]) -> tuple[str, ...]:
    return tuple(words for name, words in LOOKUP_WORDS.items() if name not in made_of)
