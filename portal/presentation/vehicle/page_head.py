"""The head of a vehicle's page: its title, the vehicle's name, and section links."""

from collections.abc import Iterator
from dataclasses import dataclass

from portal.law import UNVERIFIED
from portal.presentation import formats
from portal.presentation.paths import subject_path
from portal.presentation.vehicle.fines import FineList
from portal.presentation.vehicle.panel_frame import PanelView
from portal.presentation.vehicle.restrictions import RestrictionList
from portal.presentation.vehicle.summary import Summary
from portal.vehicle import Plate, Renavam


@dataclass(frozen=True, slots=True)
class PageHead:
    """The vehicle in the head of the page. Either ``plate`` or ``renavam`` is None.

    ``announcement`` is a text for screen readers with the verdict, or "" if the summary panel has
    no content.
    """

    title: str
    path: str
    plate: Plate | None
    renavam: Renavam | None
    name: str
    line: str
    announcement: str


@dataclass(frozen=True, slots=True)
class SectionLink:
    """A link to a section of the page.

    Three sections have a number as ``count``: the fines, the court restrictions in force, and the
    subjects that no lookup covers. ``count`` is "?" if the number is unknown, and "" while the
    section's panel is "waiting". In all other sections ``count`` is "".
    """

    anchor: str
    label: str
    count: str = ""


def page_head(summary: PanelView[Summary]) -> PageHead:
    """Build the head from the summary panel, which may be in any state."""
    subject, content = summary.subject, summary.content
    plate = subject if isinstance(subject, Plate) else None
    name = content.name if content else ""
    label = f"Placa {subject.display}" if plate else f"Renavam {subject.display}"
    return PageHead(
        title=f"{subject.display} – {name}" if plate and name else label,
        path=subject_path(subject),
        plate=plate,
        renavam=subject if isinstance(subject, Renavam) else None,
        name=name,
        line=content.line if content else "",
        announcement=f"{name or label}: {_finding(summary)}" if content else "",
    )


def _finding(summary: PanelView[Summary]) -> str:
    if summary.has_nothing and summary.gap is not None:
        return summary.gap.title
    return summary.content.verdict.headline if summary.content else ""


def section_links(
    summary: PanelView[Summary],
    fines: PanelView[FineList],
    restrictions: PanelView[RestrictionList],
) -> Iterator[SectionLink]:
    has_decode = isinstance(summary.subject, Plate)
    if has_decode:
        yield SectionLink("fipe", "Preço")
    count = formats.integer(fines.content.count) if fines.content else _unknown(fines)
    yield SectionLink("multas", "Multas", count)
    in_force = restrictions.content.in_force if restrictions.content else None
    count = _unknown(restrictions) if in_force is None else formats.integer(in_force)
    yield SectionLink("restricoes", "Justiça", count)
    if has_decode:
        yield SectionLink("veiculo", "Veículo")
    yield SectionLink("nao-verificado", "Não verificado", formats.integer(len(UNVERIFIED)))
    if summary.content and summary.content.timeline.events:
        yield SectionLink("linha-do-tempo", "Linha do tempo")
    if has_decode:
        yield SectionLink("laudo", "Análise")


def _unknown(panel: PanelView[FineList] | PanelView[RestrictionList]) -> str:
    return "" if panel.state == "waiting" else "?"
