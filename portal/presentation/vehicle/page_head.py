"""The head of a vehicle's page: its title, the vehicle's name, and section links."""

from collections.abc import Iterator
from dataclasses import dataclass

from portal import formats
from portal.presentation.paths import subject_path
from portal.presentation.vehicle.panel_frame import PanelView
from portal.vehicle.plate import Plate, Renavam


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
    lines of the checklist. ``count`` is "?" if the number is unknown, and "" while the
    section's panel is "waiting". In all other sections ``count`` is "".
    """

    anchor: str
    label: str
    count: str = ""


def page_head(summary: PanelView) -> PageHead:
    """Build the head from the summary panel, which may be in any state."""
    subject, dossier = summary.dossier.subject, summary.content
    plate = subject if isinstance(subject, Plate) else None
    name = str(dossier.name) if dossier else ""
    label = f"Placa {subject.display}" if plate else f"Renavam {subject.display}"
    return PageHead(
        title=f"{subject.display} – {name}" if plate and name else label,
        path=subject_path(subject),
        plate=plate,
        renavam=subject if isinstance(subject, Renavam) else None,
        name=name,
        line=dossier.line if dossier else "",
        announcement=f"{name or label}: {_finding(summary)}" if dossier else "",
    )


def _finding(summary: PanelView) -> str:
    if summary.has_nothing and summary.gap is not None:
        return summary.gap.title
    return summary.content.verdict.headline if summary.content else ""


def section_links(
    summary: PanelView, fines: PanelView, restrictions: PanelView
) -> Iterator[SectionLink]:
    dossier = summary.dossier
    has_decode = isinstance(dossier.subject, Plate)
    if has_decode:
        yield SectionLink("fipe", "Preço")
    yield SectionLink("multas", "Multas", _count(fines, len(dossier.fines or ())))
    in_force = _count(restrictions, dossier.orders_in_force or 0)
    yield SectionLink("restricoes", "Justiça", in_force)
    if has_decode:
        yield SectionLink("veiculo", "Veículo")
    count = len(dossier.checklist.lines if summary.content else dossier.checklist.subjects)
    yield SectionLink("nao-verificado", "Conferir", formats.integer(count))
    if summary.timeline:
        yield SectionLink("linha-do-tempo", "Linha do tempo")
    if has_decode:
        yield SectionLink("laudo", "Análise")


def _count(panel: PanelView, count: int) -> str:
    if panel.state == "ready":
        return formats.integer(count)
    return "" if panel.state == "waiting" else "?"
