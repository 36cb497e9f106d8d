"""The comparison page: up to four vehicles side by side.

When a user opens the page, each column with missing answers is "waiting". For such a column, the
page's script requests a second comparison page with only this column. Before the portal answers
that request, it makes the missing lookups. The script copies the new cells into the column.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import ClassVar, Final, Literal

from portal import formats
from portal.charts import Sparkline, sparkline
from portal.dossier.answers import Panel, Panels
from portal.dossier.dossier import Dossier
from portal.dossier.lookups import LOOKUP_WORDS, SHORT_LOOKUP_WORDS
from portal.dossier.prices import NOTHING_TO_COMPARE, Prices
from portal.dossier.status_style import LOOKS, StatusStyle
from portal.law import negotiate, orders_in_words
from portal.presentation.paths import subject_path
from portal.presentation.render_context import RenderContext
from portal.presentation.site.recent_lookup import RecentLookup
from portal.presentation.vehicle.panel_frame import provenance
from portal.vehicle import ATTRIBUTE_LABELS, LOOKUPS, Field, LookupName, Plate
from portal.wording import counted, sanitise_echo

MOST_PLATES: Final = 4
_LEAST_FIELDS: Final = 2
_MOST_FIELDS: Final = 8
_MOST_CHOICES: Final = 4
_LONGEST_TEXT: Final = 64
_MOST_KINDS: Final = 4
_MONTHS_OF_A_YEAR: Final = 12
_LONGEST_PROBLEM: Final = 200


@dataclass(frozen=True, slots=True)
class Cell:
    """One vehicle's value in a row.

    The value is missing in the last three states: the lookup failed ("unavailable"), was not made
    ("unasked"), or will be made when the page's script requests the column ("waiting").
    ``line`` is a small chart of the prices of the last five years.
    """

    state: Literal["known", "empty", "hidden", "unavailable", "unasked", "waiting"]
    text: str = ""
    note: str = ""
    look: StatusStyle | None = None
    line: Sparkline | None = None

    @property
    def period(self) -> str:
        """The period of ``line``, such as ``5 anos`` (years), or "" without a ``line``."""
        months = self.line.months if self.line else 0
        if months and months % _MONTHS_OF_A_YEAR == 0:
            return counted(months // _MONTHS_OF_A_YEAR, "ano", "anos")
        return f"{months} meses" if months else ""


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A row of the table.

    ``key`` identifies the row on every page, so that the page's script can copy a cell of another
    page into the same row.
    """

    key: str
    label: str
    cells: tuple[Cell, ...]

    @property
    def is_same(self) -> bool:
        """Whether there are several vehicles, all with the same value in this row."""
        states = {(cell.state, cell.text, cell.note) for cell in self.cells}
        return len(self.cells) > 1 and len(states) == 1 and self.cells[0].state in _COMPARABLE


@dataclass(frozen=True, slots=True)
class ComparedVehicle:
    """A column of the comparison.

    ``url`` is the URL of a comparison page with this vehicle alone. A request for ``url`` makes the
    portal look up the missing answers. ``without_url`` is the URL of the comparison without this
    vehicle, or "" if no vehicle would remain.

    Answers are missing in the states "waiting" and "idle". The page's script requests ``url`` only
    in the state "waiting". If the page is for a prefetch or a bot, the state is "idle", so that the
    page causes no lookups.
    """

    plate: Plate
    name: str
    line: str
    path: str
    url: str
    without_url: str
    state: Literal["ready", "waiting", "idle"]


@dataclass(frozen=True, slots=True)
class PlateChoice:
    subject: Plate
    name: str
    path: str


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """The comparison page.

    ``fields`` are the typed texts of the form's text fields. ``problem`` is an error message, or ""
    if the texts are valid. ``joined`` lists the compared plates, separated by commas.

    ``waits`` is true if a column is waiting. A browser without scripts then loads
    ``whole_page_url``, a URL for which the portal makes all missing lookups.
    """

    template: ClassVar[str] = "pages/comparison.html"
    title: str
    problem: str
    notices: tuple[str, ...]
    fields: tuple[str, ...]
    joined: str
    has_room: bool
    choices: tuple[PlateChoice, ...]
    waits: bool
    whole_page_url: str
    vehicles: tuple[ComparedVehicle, ...]
    rows: tuple[ComparisonRow, ...]


def comparison_page(
    plates: Sequence[Plate],
    panels: Sequence[Panels],
    context: RenderContext,
    *,
    follow: bool = False,
    recent: Sequence[RecentLookup] = (),
    typed: Sequence[str] = (),
    problem: str = "",
) -> ComparisonPage:
    """Build the comparison of ``plates``.

    ``panels`` has the lookups of each plate, in the order of ``plates``. If ``follow`` is true, the
    page's script requests each column that lacks a lookup. Without plates, the page is a form with
    the texts ``typed`` and the error message ``problem``.
    """
    dossiers = [context.dossier(plate, each) for plate, each in zip(plates, panels, strict=True)]
    states = [_state(each, follow=follow) for each in panels]
    columns = [
        list(_cells(one, context, is_waiting=state == "waiting"))
        for one, state in zip(dossiers, states, strict=True)
    ]
    texts = [sanitise_echo(text, _LONGEST_TEXT) for text in typed]
    others = [
        (one.subject, one.name)
        for one in recent
        if isinstance(one.subject, Plate) and one.subject not in plates
    ]
    return ComparisonPage(
        title="Comparar " + (", ".join(p.display for p in plates) if plates else "veículos"),
        problem=sanitise_echo(problem, _LONGEST_PROBLEM),
        notices=tuple(_twin_warnings(plates)),
        fields=tuple(texts[:_MOST_FIELDS] + [""] * (_LEAST_FIELDS - len(texts))),
        joined=",".join(plate.text for plate in plates),
        has_room=len(plates) < MOST_PLATES,
        choices=tuple(
            PlateChoice(plate, name, comparison_path([*plates, plate]))
            for plate, name in others[:_MOST_CHOICES]
        ),
        waits="waiting" in states,
        whole_page_url=_with_lookups(plates),
        vehicles=tuple(
            ComparedVehicle(
                plate,
                str(one.name),
                one.line,
                subject_path(plate),
                _with_lookups([plate]),
                comparison_path([other for other in plates if other != plate]),
                state,
            )
            for plate, one, state in zip(plates, dossiers, states, strict=True)
        ),
        rows=tuple(
            ComparisonRow(cells[0][0], cells[0][1], tuple(cell for _, _, cell in cells))
            for cells in zip(*columns, strict=True)
        ),
    )


def _state(panels: Panels, *, follow: bool) -> Literal["ready", "waiting", "idle"]:
    if not any(panel.state == "unasked" for panel in panels.all):
        return "ready"
    return "waiting" if follow else "idle"


def _with_lookups(plates: Sequence[Plate]) -> str:
    return f"{comparison_path(plates)}&completo=1" if plates else ""


def comparison_path(plates: Sequence[Plate]) -> str:
    """Return the path of the comparison of ``plates``, or "" if ``plates`` is empty."""
    return f"/comparar?placas={','.join(plate.text for plate in plates)}" if plates else ""


def _twin_warnings(plates: Sequence[Plate]) -> Iterator[str]:
    """Yield a warning for each plate that is compared in its old and its new format.

    ABC1234 and ABC1C34, for example, are the same plate. The upstream looks up each format
    separately, so the answers may differ.
    """
    for one, other in combinations(plates, 2):
        if one.twin == other:
            yield (
                f"{one.display} e {other.display} são a mesma placa em dois formatos: se as "
                "colunas diferem, confira no documento com qual o veículo está registrado."
            )


def _cells(
    dossier: Dossier, context: RenderContext, *, is_waiting: bool
) -> Iterator[tuple[str, str, Cell]]:
    """Yield the key, label and cell of each row for one vehicle, in a fixed order.

    If ``is_waiting`` is true, the state "waiting" replaces "unasked".
    """
    for key, label, cell in _known_cells(dossier, context):
        yield key, label, Cell("waiting") if is_waiting and cell.state == "unasked" else cell


def _known_cells(dossier: Dossier, context: RenderContext) -> Iterator[tuple[str, str, Cell]]:
    panels, verdict = dossier.answers, dossier.verdict
    waits = any(panel.state == "unasked" for panel in panels.all)
    kept = [words for lookup, words in LOOKUP_WORDS.items() if panels.of(lookup).state == "stale"]
    note = f"resposta guardada: {', '.join(kept)}" if kept else verdict.caveat
    # The verdict "blocked" is shown even if lookups are missing, because no further answer can lift
    # the block.
    is_open = waits and verdict.level != "blocked"
    known = Cell("known", verdict.finding, note, LOOKS[verdict.level])
    yield "verdict", "Conclusão", Cell("unasked") if is_open else known
    for row in verdict.matrix:
        answer = Cell("known", row.short, look=LOOKS[row.mark])
        is_open = waits and row.mark == "unknown"
        yield row.act, row.label, Cell("unasked") if is_open else answer
    yield "fines", "Multas em aberto", _with_stale_date(_fines(dossier), panels.renainf)
    yield "courts", "Restrições judiciais", _with_stale_date(_restrictions(dossier), panels.renajud)
    for key, label, cell in _prices(dossier):
        yield key, label, _with_stale_date(cell, panels.decode)
    yield "net", "FIPE menos as multas", _net(dossier)
    facts = {fact.label: fact.field for fact in dossier.attributes}
    for name in _FACTS:
        label = ATTRIBUTE_LABELS[name]
        known = _field(facts[label]) if label in facts else _absent(panels, "decode")
        yield name, label, known
    yield "asked", "Consultado", _lookup_ages(panels, context)


_COMPARABLE: Final = ("known", "empty", "hidden")
_FACTS: Final = (
    *("built_year_text", "model_year_text", "fuel", "power_text", "displacement_text"),
    *("gearbox", "passengers_text", "national"),
)


def _is_unasked(panels: Panels) -> bool:
    return all(panels.of(lookup).state == "unasked" for lookup in LOOKUPS)


def _kept(panel: Panel) -> str:
    is_old = panel.state == "stale" and panel.fetched_at is not None
    return f"resposta guardada de {formats.moment(panel.fetched_at)}" if is_old else ""


def _with_stale_date(cell: Cell, panel: Panel) -> Cell:
    """Add the date of a stale answer to the note of a cell."""
    notes = [note for note in (cell.note, _kept(panel)) if note]
    return replace(cell, note="; ".join(notes)) if cell.state == "known" else cell


def _absent(panels: Panels, lookup: LookupName) -> Cell:
    if panels.of(lookup).state == "unasked":
        return Cell("unasked")
    if lookup == "decode":
        return Cell("unavailable")
    return Cell("unavailable", "indisponíveis", "não significa “nada consta”")


def _field(field: Field) -> Cell:
    if field:
        return Cell("known", str(field))
    return Cell("hidden" if field.is_hidden else "empty")


def _fines(dossier: Dossier) -> Cell:
    totals = dossier.totals
    if totals is None:
        return _absent(dossier.answers, "renainf")
    if not totals.open_count:
        return Cell("known", "nenhuma nos registros")
    count = totals.open_words
    if totals.without_amount:
        count += f", {formats.integer(totals.without_amount)} sem valor informado"
    return Cell("known", formats.brl(totals.known_amount), count)


def _restrictions(dossier: Dossier) -> Cell:
    if dossier.orders is None:
        return _absent(dossier.answers, "renajud")
    if not dossier.orders_in_force:
        return Cell("known", "nenhuma nos registros")
    kinds = list(dict.fromkeys(order.title for order in dossier.orders if order.in_force))
    shown = kinds[:_MOST_KINDS]
    if len(kinds) > len(shown):
        shown.append(f"e mais {len(kinds) - len(shown)}")
    return Cell("known", orders_in_words(dossier.orders), "; ".join(shown))


def _prices(dossier: Dossier) -> Iterator[tuple[str, str, Cell]]:
    prices, absent = dossier.prices, _absent(dossier.answers, "decode")
    yield "price", "Preço FIPE", _price(prices) if prices else absent
    yield "change", "FIPE em 12 meses", _twelve_months(prices) if prices else absent


def _net(dossier: Dossier) -> Cell:
    """Return the price minus the open fines, because a buyer takes over the fines."""
    totals, prices = dossier.totals, dossier.prices
    if reason := dossier.verdict.no_ceiling:
        return Cell("empty", "sem teto", reason)
    if prices is None or totals is None:
        return _absent(dossier.answers, "decode" if prices is None else "renainf")
    if prices.no_reference:
        return Cell("empty", prices.no_reference)
    known = [tab.current for tab in prices.likeliest if tab.current is not None]
    nets = [negotiate(price, totals).scenario(100).ceiling or Decimal(0) for price in known]
    notes = []
    if totals.without_amount:
        notes.append(counted(totals.without_amount, "multa sem valor", "multas sem valor"))
    return Cell("known", formats.price_range(nets), "; ".join(notes))


def _price(prices: Prices) -> Cell:
    price, best = prices.price_summary, prices.best
    if price is None or best is None:
        return Cell("empty", prices.no_price)
    tied = len(prices.likeliest)
    if tied > 1:
        note = f"{tied} versões empatam: confira no documento"
    else:
        note = best.label + (f" · {best.code}" if best.code else "")
    if price.other_year:
        note = f"{price.other_year}; {note}"
    if others := len(prices.all) - tied:
        note += f"; há mais {counted(others, 'versão possível', 'versões possíveis')}"
    # If several versions are equally likely, there is no chart, because a chart shows one version.
    line = sparkline(best.series.points) if tied == 1 else None
    return Cell("known", price.text, note, line=line)


def _twelve_months(prices: Prices) -> Cell:
    last = prices.best.series.last_real if prices.best else None
    if not prices.twelve_months or last is None:
        return Cell("empty", NOTHING_TO_COMPARE)
    return Cell("known", prices.twelve_months, f"até {formats.month(last.month)}")


def _lookup_ages(panels: Panels, context: RenderContext) -> Cell:
    if _is_unasked(panels):
        return Cell("unasked")
    ages = {}
    for lookup, word in SHORT_LOOKUP_WORDS.items():
        panel = panels.of(lookup)
        if panel.has_answer:
            seen = provenance(word, panel, context.now)
            ages[word] = f"{seen.age}{' (resposta guardada)' if seen.is_stale else ''}"
    if not ages:
        return Cell("unavailable")
    if len(ages) == len(LOOKUPS) and len(set(ages.values())) == 1:
        return Cell("known", next(iter(ages.values())))
    return Cell("known", "; ".join(f"{word}: {age}" for word, age in ages.items()))
