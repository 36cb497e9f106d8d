"""The comparison page: up to four vehicles side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar, Final, Literal

from portal.charts import Sparkline, sparkline
from portal.law import ACTS
from portal.presentation import formats
from portal.presentation.panels import Panel
from portal.presentation.site.typed_text import sanitise_echo
from portal.presentation.status_style import StatusStyle
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.panel import (
    LOOKUP_WORDS,
    Lookup,
    Panels,
    RenderContext,
    provenance,
    subject_path,
)
from portal.presentation.vehicle.prices import NO_PRICE, NOTHING_TO_COMPARE, Prices
from portal.vehicle import ATTRIBUTE_LABELS, Field, Plate
from portal.wording import counted

MOST_PLATES: Final = 4
_MOST_FIELDS: Final = 8
_LONGEST_TEXT: Final = 64
_MOST_KINDS: Final = 4
_LONGEST_PROBLEM: Final = 200
_SHORT_WORDS: Final[tuple[tuple[Lookup, str], ...]] = (
    ("decode", "dados"),
    ("renainf", "multas"),
    ("renajud", "restrições"),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One vehicle's value in a row.

    Only a "known" cell is a statement about the vehicle. "unavailable": the lookup failed;
    "unasked": it was not made. ``line`` is the price's course of five years.
    """

    state: Literal["known", "empty", "hidden", "unavailable", "unasked"]
    text: str = ""
    note: str = ""
    look: StatusStyle | None = None
    line: Sparkline | None = None


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class ComparedVehicle:
    """A column; ``without_url`` is the comparison of the other vehicles, or ""."""

    plate: Plate
    name: str
    path: str
    without_url: str
    is_idle: bool


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """The comparison page.

    ``fields`` are the form's texts as typed, at least four. ``problem`` is a sentence or "".
    ``notices`` are warnings about the compared plates.
    """

    template: ClassVar[str] = "pages/comparison.html"
    title: str
    problem: str
    notices: tuple[str, ...]
    fields: tuple[str, ...]
    vehicles: tuple[ComparedVehicle, ...]
    rows: tuple[ComparisonRow, ...]


def comparison_page(
    plates: Sequence[Plate],
    panels: Sequence[Panels],
    context: RenderContext,
    *,
    typed: Sequence[str] = (),
    problem: str = "",
) -> ComparisonPage:
    """The vehicles of ``plates`` with their ``panels``, in that order.

    Without plates the page is the empty form.
    """
    contents = [VehicleContents.of(each, context) for each in panels]
    columns = [list(_cells(one, its, context)) for one, its in zip(contents, panels, strict=True)]
    texts = [
        sanitise_echo(text, _LONGEST_TEXT) for text in typed or [plate.text for plate in plates]
    ]
    fields = texts[:_MOST_FIELDS] + [""] * (MOST_PLATES - len(texts))
    return ComparisonPage(
        title="Comparar " + (", ".join(p.display for p in plates) if plates else "veículos"),
        problem=sanitise_echo(problem, _LONGEST_PROBLEM),
        notices=tuple(_twins(plates)),
        fields=tuple(fields),
        vehicles=tuple(
            ComparedVehicle(
                plate,
                one.summary.name,
                subject_path(plate),
                comparison_path([other for other in plates if other != plate]),
                any(its.of(lookup).state == "unasked" for lookup, _ in _SHORT_WORDS),
            )
            for plate, one, its in zip(plates, contents, panels, strict=True)
        ),
        rows=tuple(
            ComparisonRow(cells[0][0], tuple(cell for _, cell in cells))
            for cells in zip(*columns, strict=True)
        ),
    )


def comparison_path(plates: Sequence[Plate]) -> str:
    """The canonical path of a comparison; "" without plates."""
    return f"/comparar?placas={','.join(plate.text for plate in plates)}" if plates else ""


def _twins(plates: Sequence[Plate]) -> Iterator[str]:
    """Warnings about plates that are two spellings of one plate.

    The two spellings are separate lookups, and their answers may differ.
    """
    for one, other in combinations(plates, 2):
        if one.twin == other:
            yield (
                f"{one.display} e {other.display} são a mesma placa em dois formatos: se as "
                "colunas diferem, confira no documento com qual o veículo está registrado."
            )


def _cells(
    contents: VehicleContents, panels: Panels, context: RenderContext
) -> Iterator[tuple[str, Cell]]:
    """The labelled cells of one vehicle, in the same order for every vehicle."""
    summary = contents.summary
    unasked = _is_unasked(panels)
    kept = [words for lookup, words in LOOKUP_WORDS.items() if panels.of(lookup).state == "stale"]
    note = f"resposta guardada: {', '.join(kept)}" if kept else ""
    verdict = Cell("known", summary.verdict.headline, note, summary.look)
    yield "Conclusão", Cell("unasked") if unasked else verdict
    for act, line in zip(ACTS, summary.matrix, strict=True):
        label = line.row.label if act == "removal" else f"{line.row.label}?"
        answer = Cell("known", line.row.short, look=line.look)
        yield label, Cell("unasked") if unasked else answer
    yield "Multas em aberto", _dated(_fines(contents, panels), panels.renainf)
    yield "Restrições judiciais", _dated(_restrictions(contents, panels), panels.renajud)
    for label, cell in _prices(contents, panels):
        yield label, _dated(cell, panels.decode)
    facts = {fact.label: fact.field for fact in contents.facts.facts} if contents.facts else {}
    for label in (ATTRIBUTE_LABELS[name] for name in _FACTS):
        known = label in facts
        yield label, _field(facts[label]) if known else _absent(panels, "decode")
    yield "Consultado", _lookup_ages(panels, context)


_FACTS: Final = (
    *("built_year_text", "model_year_text", "fuel", "power_text", "displacement_text"),
    *("gearbox", "passengers_text", "national"),
)


def _is_unasked(panels: Panels) -> bool:
    return all(panels.of(lookup).state == "unasked" for lookup, _ in _SHORT_WORDS)


def _kept(panel: Panel) -> str:
    """The note about a stale answer; "" for any other."""
    is_old = panel.state == "stale" and panel.fetched_at is not None
    return f"resposta guardada de {formats.moment(panel.fetched_at)}" if is_old else ""


def _dated(cell: Cell, panel: Panel) -> Cell:
    """The cell, with the date of a stale answer added to its note.

    The date is shown with the figure, because the row with the ages comes last.
    """
    notes = [note for note in (cell.note, _kept(panel)) if note]
    return replace(cell, note="; ".join(notes)) if cell.state == "known" else cell


def _absent(panels: Panels, lookup: Lookup) -> Cell:
    if panels.of(lookup).state == "unasked":
        return Cell("unasked")
    if lookup == "decode":
        return Cell("unavailable")
    return Cell("unavailable", "indisponíveis", "não significa “nada consta”")


def _field(field: Field) -> Cell:
    if field:
        return Cell("known", str(field))
    return Cell("hidden" if field.is_hidden else "empty")


def _fines(contents: VehicleContents, panels: Panels) -> Cell:
    totals = contents.summary.fines
    if totals is None:
        return _absent(panels, "renainf")
    if not totals.open_count:
        return Cell("known", "nenhuma nos registros")
    count = counted(totals.open_count, "multa", "multas")
    if totals.without_amount:
        count += f", {formats.integer(totals.without_amount)} sem valor informado"
    return Cell("known", formats.brl(totals.amount or None), count)


def _restrictions(contents: VehicleContents, panels: Panels) -> Cell:
    count = contents.summary.restrictions
    if count is None:
        return _absent(panels, "renajud")
    if not count:
        return Cell("known", "nenhuma nos registros")
    cards = contents.restrictions.cards if contents.restrictions else ()
    kinds = list(dict.fromkeys(card.title for card in cards if card.effect.in_force))
    shown = kinds[:_MOST_KINDS]
    if len(kinds) > len(shown):
        shown.append(f"e mais {len(kinds) - len(shown)}")
    return Cell("known", f"{formats.integer(count)} em vigor", "; ".join(shown))


def _prices(contents: VehicleContents, panels: Panels) -> Iterator[tuple[str, Cell]]:
    if contents.facts is None:
        yield "Preço FIPE", _absent(panels, "decode")
        yield "FIPE em 12 meses", _absent(panels, "decode")
        return
    prices = contents.facts.prices
    yield "Preço FIPE", _price(prices)
    yield "FIPE em 12 meses", _twelve_months(prices)


def _price(prices: Prices) -> Cell:
    price, best = prices.price_summary, prices.best
    if price is None or best is None:
        return Cell("empty", NO_PRICE)
    tied = len(prices.likeliest)
    if tied > 1:
        note = f"{tied} versões empatam: confira no documento"
    else:
        note = best.label + (f" · {best.code}" if best.code else "")
    if others := len(prices.all) - tied:
        note += f"; há mais {counted(others, 'versão possível', 'versões possíveis')}"
    # The line of one of several tied versions would stand for all of them.
    line = sparkline(best.series.points) if tied == 1 else None
    return Cell("known", price.text, note, line=line)


def _twelve_months(prices: Prices) -> Cell:
    series = [tab.series for tab in prices.likeliest]
    changes = [one.twelve_month_change for one in series]
    known = [change for change in changes if change is not None]
    last = series[0].last_real if series else None
    if not known or last is None:
        return Cell("empty", NOTHING_TO_COMPARE)
    text = formats.change(min(known))
    if max(known) != min(known):
        text += f" a {formats.change(max(known))}"
    return Cell("known", text, f"até {formats.month(last.month)}")


def _lookup_ages(panels: Panels, context: RenderContext) -> Cell:
    if _is_unasked(panels):
        return Cell("unasked")
    parts = []
    for lookup, word in _SHORT_WORDS:
        panel = panels.of(lookup)
        if panel.has_answer:
            seen = provenance(word, panel, context.now)
            stale = " (resposta guardada)" if seen.is_stale else ""
            parts.append(f"{word}: {seen.age}{stale}")
    return Cell("known", "; ".join(parts)) if parts else Cell("unavailable")
