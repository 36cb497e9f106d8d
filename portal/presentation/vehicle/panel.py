"""One panel as a page shows it: what is known, since when, from where, at what price.

A panel is *waiting* (a script will fetch it), *idle* (nobody asked, and this visit must not
spend), *unavailable* (asked in vain, which never reads as "nothing found") or *ready*.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final, Generic, Literal, TypeVar

import msgspec

from portal.law import Term, term
from portal.presentation import formats
from portal.presentation.panels import Panel
from portal.presentation.vehicle.gaps import (
    Gap,
    Unavailable,
    gap_of,
    group_by_reason,
    kept_titles,
    named,
    reason_about,
)
from portal.vehicle import Plate, Renavam

PanelName = Literal["resumo", "veiculo", "multas", "restricoes"]
Lookup = Literal["decode", "renainf", "renajud"]
PANEL_NAMES: Final[tuple[PanelName, ...]] = ("resumo", "veiculo", "multas", "restricoes")

TITLES: Final[Mapping[PanelName, str]] = {
    "resumo": "Resumo",
    "veiculo": "Veículo e preço FIPE",
    "multas": "Multas",
    "restricoes": "Restrições judiciais",
}
_NEEDS: Final[Mapping[PanelName, tuple[Lookup, ...]]] = {
    "resumo": ("decode", "renainf", "renajud"),
    "veiculo": ("decode",),
    "multas": ("renainf",),
    "restricoes": ("renajud",),
}
_TEMPLATES: Final[Mapping[PanelName, str]] = {
    "resumo": "panels/summary.html",
    "veiculo": "panels/vehicle.html",
    "multas": "panels/fines.html",
    "restricoes": "panels/restrictions.html",
}
# The word of each panel that a newcomer asks about, by its slug in the glossary.
_TERMS: Final[Mapping[PanelName, str]] = {
    "veiculo": "fipe",
    "multas": "renainf",
    "restricoes": "renajud",
}
LOOKUP_WORDS: Final[Mapping[Lookup, str]] = {
    "decode": "dados do veículo",
    "renainf": "multas",
    "renajud": "restrições judiciais",
}
_SOURCES: Final[Mapping[str, str]] = {"primary": "fonte principal", "secondary": "fonte secundária"}
UNREADABLE: Final = "A fonte respondeu em um formato que o portal não reconhece."
NO_REASON: Final = "A fonte de dados não respondeu."


@dataclass(frozen=True, slots=True)
class Panels:
    """The three lookups of a page."""

    decode: Panel
    renainf: Panel
    renajud: Panel

    @property
    def all(self) -> tuple[Panel, ...]:
        return (self.decode, self.renainf, self.renajud)

    def of(self, lookup: Lookup) -> Panel:
        panels: Mapping[Lookup, Panel] = {
            "decode": self.decode,
            "renainf": self.renainf,
            "renajud": self.renajud,
        }
        return panels[lookup]


@dataclass(frozen=True, slots=True)
class RenderContext:
    """How bodies are read: the present moment (aware), the hidden marker, whether names are
    masked."""

    now: datetime
    marker: str
    mask_names: bool

    @property
    def today(self) -> date:
        """The calendar day in America/Sao_Paulo, on which the law's clocks are judged."""
        return formats.local_date(self.now)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an answer comes from. ``price`` of asking again is None where it is free or unknown."""

    what: str
    source: str
    age: str
    fetched_at: datetime | None
    from_memory: bool
    is_stale: bool
    price: Decimal | None


Content = TypeVar("Content", covariant=True)


@dataclass(frozen=True, slots=True)
class PanelView(Generic[Content]):
    """A panel's frame; ``content`` is there exactly when the state is "ready".

    ``missing`` lists the lookups that failed, ``gap`` is the notice about them; a summary is ready
    in spite of them all, because it says what cannot be told. ``kept`` are the titles of the
    notices about answers from before. ``term`` is
    the glossary's entry on the panel's register, ``url`` gives this panel alone and
    ``whole_page_url`` the page with every panel resolved.
    """

    name: PanelName
    title: str
    term: Term | None
    state: Literal["waiting", "idle", "unavailable", "ready"]
    url: str
    whole_page_url: str
    provenance: tuple[Provenance, ...]
    missing: tuple[Unavailable, ...]
    gap: Gap | None
    kept: tuple[str, ...]
    content: Content | None

    @property
    def template(self) -> str:
        return _TEMPLATES[self.name]


def panel_needs(name: PanelName) -> tuple[Lookup, ...]:
    """The lookups a panel is made of; KeyError for a name that is no panel."""
    return _NEEDS[name]


def subject_path(subject: Plate | Renavam) -> str:
    """``/placa/ABC1D23`` or ``/renavam/12345678910``."""
    return f"/{'placa' if isinstance(subject, Plate) else 'renavam'}/{subject.text}"


def state_of(
    name: PanelName, panels: Panels, *, follow: bool, lookups: tuple[Lookup, ...] | None = None
) -> Literal["waiting", "idle", "unavailable", "ready"]:
    """How a panel stands, given what its lookups brought.

    One unasked lookup keeps it waiting (or idle). A summary is ready without any answer: that
    nothing can be told is the verdict then.
    """
    asked = [panels.of(lookup) for lookup in lookups or panel_needs(name)]
    if any(panel.state == "unasked" for panel in asked):
        return "waiting" if follow else "idle"
    is_told = name == "resumo" or any(panel.has_answer for panel in asked)
    return "ready" if is_told else "unavailable"


def frame(
    name: PanelName,
    subject: Plate | Renavam,
    panels: Panels,
    reading: RenderContext,
    content: Content | None,
    *,
    follow: bool = True,
    lookups: tuple[Lookup, ...] | None = None,
) -> PanelView[Content]:
    """The frame around a panel's content; no content from an answer means it was unreadable."""
    lookups = lookups or panel_needs(name)
    state = state_of(name, panels, follow=follow, lookups=lookups)
    if state == "ready" and content is None:
        state = "unavailable"
    path = subject_path(subject)
    settled = state in {"ready", "unavailable"}
    origins = tuple(
        provenance(LOOKUP_WORDS[lookup], panel, reading.now)
        for lookup in lookups
        if settled and (panel := panels.of(lookup)).has_answer
    )
    missing = missing_of(panels, subject, lookups) if settled else ()
    return PanelView(
        name=name,
        title=TITLES[name],
        term=term(_TERMS[name]) if name in _TERMS else None,
        state=state,
        url=f"{path}/painel/{name}",
        whole_page_url=f"{path}?completo=1",
        provenance=origins,
        missing=missing,
        gap=gap_of(missing, subject, is_all=name == "resumo" and len(missing) == len(lookups)),
        kept=kept_titles(
            [(one.what, at) for one in origins if one.is_stale and (at := one.fetched_at)]
        ),
        content=content if state == "ready" else None,
    )


def missing_of(
    panels: Panels, subject: Plate | Renavam, lookups: Sequence[Lookup] = tuple(LOOKUP_WORDS)
) -> tuple[Unavailable, ...]:
    """The lookups that were asked in vain; an answer that cannot be read is one of them."""
    return tuple(
        Unavailable(
            LOOKUP_WORDS[lookup],
            UNREADABLE
            if panel.has_answer
            else reason_about(panel.reason or NO_REASON, panel.cause, subject),
            panel.cause,
        )
        for lookup in lookups
        if (panel := panels.of(lookup)).state != "unasked" and not is_readable(panel, lookup)
    )


def not_refreshed(panels: Panels, subject: Plate | Renavam) -> str:
    """What asking again did not bring, and why as far as it is known; "" where all came anew.

    Why an answer from before stands in for a new one, nobody told us: not by us either, then.
    """
    lookups = [one for one in LOOKUP_WORDS if panels.of(one).state != "unasked"]
    told = [
        f"{lookup_labels}: {why}"
        for lookup_labels, why in group_by_reason(missing_of(panels, subject))
    ]
    kept = [LOOKUP_WORDS[one] for one in lookups if panels.of(one).from_memory]
    if kept:
        told.append(f"{named(kept)}: não veio resposta nova.")
    if told:
        told.append("O que estiver guardado vale ainda, com a sua data.")
    return " ".join(told)


def provenance(what: str, panel: Panel, now: datetime) -> Provenance:
    """Age, source and price of an answer; one of less than a minute is news, from wherever."""
    is_news = panel.fetched_at is not None and now - panel.fetched_at < timedelta(minutes=1)
    return Provenance(
        what=what,
        source=_SOURCES.get(panel.origin or "", ""),
        age="" if panel.fetched_at is None else formats.age(now - panel.fetched_at),
        fetched_at=panel.fetched_at,
        from_memory=panel.from_memory and not is_news,
        is_stale=panel.state == "stale",
        price=panel.price if panel.price > 0 else None,
    )


def is_readable(panel: Panel, lookup: Lookup) -> bool:
    """Whether an answer has the contract's frame.

    An answer without a list in ``result`` holds no fine, and must not read like "no fines".
    """
    if panel.body is None:
        return False
    try:
        answer = msgspec.json.decode(panel.body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # Lone surrogates and huge numbers are JSON to the standard library alone.
        try:
            answer = json.loads(panel.body, parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            return False
    result = answer.get("result") if isinstance(answer, dict) else None
    return isinstance(result, dict if lookup == "decode" else list)
