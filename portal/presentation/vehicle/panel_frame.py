"""The frame of a panel: its state, and the age, source and price of its answers.

A panel whose lookup was not made is "waiting" if a script will fetch the panel, and "idle" if the
request must not cause paid lookups. If a lookup failed and the panel has no content, the panel is
"unavailable", so that it does not look as if nothing was found. Any other panel is "ready".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Generic, Literal, TypeVar

from portal.gateway import lookups_of
from portal.law import Term, term
from portal.presentation import formats
from portal.presentation.operation_names import LOOKUP_WORDS
from portal.presentation.panels import Panel, Panels, is_readable
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.vehicle.gaps import (
    Gap,
    Unavailable,
    capitalised_list,
    gap_of,
    group_by_reason,
    kept_titles,
    reason_about,
)
from portal.presentation.vehicle.query import changed
from portal.vehicle import (
    LOOKUPS,
    MOST_RECORDS,
    MOST_VALUES,
    OVERSIZED,
    LookupName,
    Plate,
    Renavam,
)
from portal.wording import grouped

PanelName = Literal["resumo", "veiculo", "multas", "restricoes"]
PanelState = Literal["waiting", "idle", "unavailable", "ready"]


@dataclass(frozen=True, slots=True)
class _Kind:
    """The fixed properties of a panel.

    ``term`` is the key of the glossary entry about the source of the data. It is "" for the
    summary, because the summary has several sources.
    """

    title: str
    template: str
    needs: tuple[LookupName, ...]
    term: str = ""


_KINDS: Final[Mapping[PanelName, _Kind]] = {
    "resumo": _Kind("Resumo", "panels/summary.html", LOOKUPS),
    "veiculo": _Kind("Veículo", "panels/vehicle.html", ("decode",), "fipe"),
    "multas": _Kind("Multas", "panels/fines.html", ("renainf",), "renainf"),
    "restricoes": _Kind(
        "Restrições judiciais", "panels/restrictions.html", ("renajud",), "renajud"
    ),
}
PANEL_NAMES: Final = tuple(_KINDS)
_SOURCES: Final[Mapping[str, str]] = {"primary": "fonte principal", "secondary": "fonte secundária"}
UNREADABLE: Final = "A fonte respondeu em um formato que o portal não reconhece."
TOO_LARGE: Final = (
    "A resposta da fonte é grande demais para o portal mostrar: mais de "
    f"{grouped(MOST_RECORDS)} registros, ou de {grouped(MOST_VALUES)} valores."
)
NO_REASON: Final = "A fonte de dados não respondeu."


@dataclass(frozen=True, slots=True)
class Provenance:
    """The source and age of an answer, and the cost in R$ of repeating the lookup."""

    what: str
    source: str
    age: str
    fetched_at: datetime | None
    from_cache: bool
    is_stale: bool
    price: Decimal | None


Content = TypeVar("Content", covariant=True)


@dataclass(frozen=True, slots=True)
class PanelView(Generic[Content]):
    """A panel's frame. ``content`` is None unless the state is "ready".

    ``missing`` lists the failed lookups, and ``gap`` is the notice about them. ``has_nothing`` is
    true for a summary whose lookups all failed. ``kept`` are the titles of the notices about stale
    answers. ``url`` is the URL of this panel alone. ``whole_page_url`` is the URL of the page with
    all panels. No panel of that page is "waiting", because the server first makes all lookups.
    """

    name: PanelName
    subject: Plate | Renavam
    title: str
    term: Term | None
    state: PanelState
    url: str
    whole_page_url: str
    provenance: tuple[Provenance, ...]
    missing: tuple[Unavailable, ...]
    gap: Gap | None
    kept: tuple[str, ...]
    content: Content | None
    has_nothing: bool

    @property
    def template(self) -> str:
        return _KINDS[self.name].template

    @property
    def export_path(self) -> str:
        """The path prefix of the panel's CSV and JSON files, or "" if the panel has no files."""
        has_exports = isinstance(self.subject, Plate) and self.state == "ready"
        return f"/api/v1/vehicles/{self.subject.text}" if has_exports else ""


def panel_needs(name: PanelName) -> tuple[LookupName, ...]:
    """Return the lookups that the panel needs on the page of a plate."""
    return _KINDS[name].needs


def frame(
    name: PanelName,
    subject: Plate | Renavam,
    panels: Panels,
    context: RenderContext,
    content: Content | None,
    *,
    follow: bool,
) -> PanelView[Content]:
    """Build the frame around a panel's content.

    ``follow`` decides the state of a panel whose lookup was not made: true means "waiting", false
    means "idle". Any other panel is "ready", or "unavailable" if ``content`` is None. A summary
    always has content. If all lookups failed, the summary's verdict says that nothing is known.
    """
    kind, path = _KINDS[name], subject_path(subject)
    lookups = lookups_of(subject, kind.needs)
    state: PanelState = "unavailable" if content is None else "ready"
    if any(panels.of(lookup).state == "unasked" for lookup in lookups):
        state = "waiting" if follow else "idle"
    settled = state in {"ready", "unavailable"}
    origins = tuple(
        provenance(LOOKUP_WORDS[lookup], panel, context.now)
        for lookup in lookups
        if settled and (panel := panels.of(lookup)).has_answer
    )
    missing = missing_of(panels, subject, lookups) if settled else ()
    # The page's script may fetch the vehicle panel in a separate request. The URL of this panel
    # therefore contains the visitor's choices, such as the version in the price chart.
    choices = context.query if name == "veiculo" else ()
    has_nothing = name == "resumo" and len(missing) == len(lookups)
    return PanelView(
        name=name,
        subject=subject,
        title=kind.title,
        term=term(kind.term),
        state=state,
        url=f"{path}/painel/{name}" + changed(choices, completo=""),
        whole_page_url=path + changed(choices, completo="1"),
        provenance=origins,
        missing=missing,
        gap=gap_of(missing, subject, is_all=has_nothing),
        kept=kept_titles(
            [(one.what, at) for one in origins if one.is_stale and (at := one.fetched_at)]
        ),
        content=content if state == "ready" else None,
        has_nothing=has_nothing,
    )


def missing_of(
    panels: Panels, subject: Plate | Renavam, lookups: Sequence[LookupName] = LOOKUPS
) -> tuple[Unavailable, ...]:
    """Return the lookups that were made but have no readable answer."""
    return tuple(
        Unavailable(
            LOOKUP_WORDS[lookup],
            _why_unreadable(panel.result)
            if panel.has_answer
            else reason_about(panel.reason or NO_REASON, panel.cause, subject),
            panel.cause,
        )
        for lookup in lookups
        if (panel := panels.of(lookup)).state != "unasked" and not is_readable(panel.result, lookup)
    )


def _why_unreadable(result: object) -> str:
    return TOO_LARGE if result is OVERSIZED else UNREADABLE


def not_refreshed(panels: Panels, subject: Plate | Renavam) -> str:
    """Name the lookups without a new answer after a refresh, or return "".

    The text gives the reason for each lookup without a readable answer. For a lookup with a stored
    answer it gives no reason, because a panel with an answer contains no reason.
    """
    lookups = [one for one in LOOKUPS if panels.of(one).state != "unasked"]
    sentences = [
        f"{lookup_labels}: {reason}"
        for lookup_labels, reason in group_by_reason(missing_of(panels, subject))
    ]
    stored = [LOOKUP_WORDS[one] for one in lookups if panels.of(one).from_cache]
    if stored:
        sentences.append(f"{capitalised_list(stored)}: não veio resposta nova.")
    if sentences:
        sentences.append("O que estiver guardado vale ainda, com a sua data.")
    return " ".join(sentences)


def provenance(what: str, panel: Panel, now: datetime) -> Provenance:
    """Return the age and source of an answer, and the price of repeating the lookup.

    The page labels only answers older than a minute as stored. ``from_cache`` is therefore False
    for a younger answer, even if it came from the store.
    """
    is_recent = panel.fetched_at is not None and now - panel.fetched_at < timedelta(minutes=1)
    return Provenance(
        what=what,
        source=_SOURCES.get(panel.origin or "", ""),
        age="" if panel.fetched_at is None else formats.age(now - panel.fetched_at),
        fetched_at=panel.fetched_at,
        from_cache=panel.from_cache and not is_recent,
        is_stale=panel.state == "stale",
        price=panel.price if panel.price > 0 else None,
    )
