"""The fines of a vehicle: each with its legal assessment, and their totals."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from portal.law import FineAssessment, Totals, assess, totals
from portal.presentation.panels import Panel
from portal.presentation.vehicle.panel import RenderContext, is_readable
from portal.presentation.vehicle.record_details import FineDetails, fine_details
from portal.vehicle import STATES, Fine, Identity, read_fines

# A longer table would dominate the page, and nobody would read it. The totals count every fine, and
# the page says how many rows it omits.
MOST_ROWS = 300
# Shorter lists need no filter. States beyond the first MOST_STATES share one choice, because the
# style sheet needs a rule for each choice.
FEWEST_TO_FILTER: Final = 5
MOST_STATES: Final = 6


@dataclass(frozen=True, slots=True)
class FineRow:
    """One fine: its number on the page, its anchor, the record, its assessment and details.

    ``groups`` are the keys of the filters that show it.
    """

    number: int
    anchor: str
    fine: Fine
    law: FineAssessment
    details: FineDetails
    tone: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FineFilter:
    """A choice of which rows to show.

    ``key`` is "all", "open", "paid", "uf-1" and so on, or "uf-other". "uf-other" includes fines
    without a valid state, and its label says so.
    """

    key: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class FineList:
    """Every fine in the source's order.

    ``omitted`` rows are counted in the totals only. ``filters`` is empty where there is nothing to
    choose between.
    """

    rows: tuple[FineRow, ...]
    omitted: int
    filters: tuple[FineFilter, ...]
    totals: Totals
    assessments: tuple[FineAssessment, ...]

    @property
    def count(self) -> int:
        return len(self.assessments)


_TONES = {
    "paid": "ok",
    "enforceable": "danger",
    "probably_due": "warn",
    "due": "warn",
    "notice": "warn",
    "suspended": "unknown",
    "unknown": "unknown",
}


def fine_list(
    panel: Panel, context: RenderContext, vehicle: Identity | None = None
) -> FineList | None:
    """The fines of an answer; None if there is none or it is unreadable.

    ``vehicle`` is what the decoder says, with which each fine's vehicle is compared.
    """
    if not is_readable(panel.result, "renainf"):
        return None
    fines = read_fines(panel.result, context.marker)
    assessments = tuple(assess(fine, context.today) for fine in fines)
    states = _states(fines[:MOST_ROWS])
    rows = tuple(
        FineRow(
            number,
            f"multa-{number}",
            fine,
            law,
            fine_details(fine, law, vehicle),
            _TONES[law.standing],
            ("paid" if law.is_paid else "open", states.get(_state(fine), "uf-other")),
        )
        for number, (fine, law) in enumerate(
            zip(fines[:MOST_ROWS], assessments, strict=False), start=1
        )
    )
    return FineList(
        rows=rows,
        omitted=max(len(fines) - MOST_ROWS, 0),
        filters=tuple(_filters(rows, states)),
        totals=totals(assessments),
        assessments=assessments,
    )


def _state(fine: Fine) -> str:
    """The two letters of a Brazilian state, or "" for any other value."""
    state = fine.authority_state.value.strip().upper()
    return state if state in STATES else ""


def _states(fines: Sequence[Fine]) -> dict[str, str]:
    """The filter keys of the states with the most fines."""
    counted = Counter(state for fine in fines if (state := _state(fine)))
    ranked = sorted(counted, key=lambda state: (-counted[state], state))[:MOST_STATES]
    return {state: f"uf-{number}" for number, state in enumerate(ranked, start=1)}


def _others(rows: Sequence[FineRow]) -> str:
    has_state = {bool(_state(row.fine)) for row in rows if "uf-other" in row.groups}
    if False not in has_state:
        return "Outros estados"
    return "Outros ou não informado" if True in has_state else "Estado não informado"


def _filters(rows: Sequence[FineRow], states: dict[str, str]) -> Iterator[FineFilter]:
    counted = Counter(group for row in rows for group in row.groups)
    by_standing = {"open": "Em aberto", "paid": "Pagas"}
    by_state = {key: state for state, key in states.items()} | {"uf-other": _others(rows)}
    labels = {
        key: label
        for choices in (by_standing, by_state)
        if sum(key in counted for key in choices) > 1
        for key, label in choices.items()
        if key in counted
    }
    if len(rows) < FEWEST_TO_FILTER or not labels:
        return
    yield FineFilter("all", "Todas", len(rows))
    for key, label in labels.items():
        yield FineFilter(key, label, counted[key])
