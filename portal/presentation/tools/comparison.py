"""The comparison page: up to four vehicles side by side.

When a user opens the page, each column with missing answers is "waiting". For such a column, the
page's script requests a second comparison page with only this column. Before the portal answers
that request, it makes the missing lookups. The script copies the new cells into the column.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from itertools import combinations
from typing import ClassVar, Final, Literal

from portal import formats
from portal.charts.sparkline import Sparkline, sparkline
from portal.dossier import figures
from portal.dossier.answers import Panel, Panels
from portal.dossier.attributes import attribute_fields
from portal.dossier.dossier import Dossier
from portal.dossier.figures import Figure
from portal.dossier.lookups import LOOKUP_WORDS, SHORT_LOOKUP_WORDS
from portal.dossier.prices import NOTHING_TO_COMPARE, Prices
from portal.dossier.status_style import LOOKS, StatusStyle
from portal.law.negotiation import negotiate
from portal.presentation.render_context import RenderContext
from portal.presentation.site.recent_lookup import RecentLookup
from portal.vehicle.decode import ATTRIBUTE_LABELS
from portal.vehicle.field import Field
from portal.vehicle.operation_name import LOOKUPS, LookupName
from portal.vehicle.plate import Plate
from portal.wording import counted, sanitise_echo

MOST_PLATES: Final = 4
_LEAST_FIELDS: Final = 2
_MOST_FIELDS: Final = 8
_MOST_CHOICES: Final = 4
_LONGEST_TEXT: Final = 64
_MOST_KINDS: Final = 4
_LONGEST_PROBLEM: Final = 200
_COMPARABLE: Final = ("known", "empty", "hidden")
_FACTS: Final = (
    *("built_year_text", "model_year_text", "fuel", "power_text", "displacement_text"),
    *("gearbox", "passengers_text", "national"),
)


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


@dataclass(frozen=True)
class ComparisonPage:
    """The comparison page, or its form if there are no vehicles.

    If ``follow`` is true, the page's script requests each column that lacks a lookup. ``recent``
    are the visitor's recent vehicles. ``typed`` are the texts of the form's fields, and ``problem``
    is an error message, or "" if the texts are valid.
    """

    template: ClassVar[str] = "pages/comparison.html"
    vehicles: tuple[Dossier, ...]
    plates: Sequence[Plate]
    now: datetime
    follow: bool
    recent: Sequence[RecentLookup]
    typed: Sequence[str]
    problem: str

    def state(self, vehicle: Dossier) -> Literal["ready", "waiting", "idle"]:
        """Return whether a column lacks lookups.

        The page's script requests a column only in the state "waiting". If the page is for a
        prefetch or a bot, the state is "idle", so that the page causes no lookups.
        """
        if not vehicle.answers.in_state("unasked"):
            return "ready"
        return "waiting" if self.follow else "idle"

    @property
    def waits(self) -> bool:
        """Whether a browser without scripts loads the URL that makes all missing lookups."""
        return any(self.state(vehicle) == "waiting" for vehicle in self.vehicles)

    @property
    def has_room(self) -> bool:
        return len(self.plates) < MOST_PLATES

    @property
    def fields(self) -> Sequence[str]:
        """The texts of the form's fields."""
        return [*self.typed[:_MOST_FIELDS], *[""] * (_LEAST_FIELDS - len(self.typed))]

    @property
    def choices(self) -> Sequence[RecentLookup]:
        """The recent vehicles that may be added."""
        others = [one for one in self.recent if isinstance(one.subject, Plate)]
        return [one for one in others if one.subject not in self.plates][:_MOST_CHOICES]

    @property
    def twins(self) -> Sequence[tuple[Plate, Plate]]:
        """The plates that are compared in their old and their new format.

        ABC1234 and ABC1C34, for example, are the same plate. The upstream looks up each format
        separately, so the answers may differ.
        """
        return [(one, other) for one, other in combinations(self.plates, 2) if one.twin == other]

    @cached_property
    def rows(self) -> Sequence[ComparisonRow]:
        columns = [
            [
                (key, label, Cell("waiting") if cell.state == "unasked" and waits else cell)
                for key, label, cell in _cells(vehicle, self.now)
            ]
            for vehicle in self.vehicles
            for waits in [self.state(vehicle) == "waiting"]
        ]
        return [
            ComparisonRow(cells[0][0], cells[0][1], tuple(cell for _, _, cell in cells))
            for cells in zip(*columns, strict=True)
        ]


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

    ``panels`` has the lookups of each plate, in the order of ``plates``. Without plates, the page
    is a form.
    """
    return ComparisonPage(
        vehicles=tuple(map(context.dossier, plates, panels)),
        plates=plates,
        now=context.now,
        follow=follow,
        recent=recent,
        typed=[sanitise_echo(text, _LONGEST_TEXT) for text in typed],
        problem=sanitise_echo(problem, _LONGEST_PROBLEM),
    )


def comparison_path(plates: Sequence[Plate], *, with_lookups: bool = False) -> str:
    """Return the path of the comparison of ``plates``.

    If ``with_lookups`` is true, a request for the path makes all missing lookups.
    """
    path = f"/comparar?placas={','.join(plate.text for plate in plates)}"
    return f"{path}&completo=1" if with_lookups else path


def _cells(dossier: Dossier, now: datetime) -> Iterator[tuple[str, str, Cell]]:
    """Yield the key, label and cell of each row for one vehicle, in a fixed order."""
    panels, verdict = dossier.answers, dossier.verdict
    waits = bool(panels.in_state("unasked"))
    kept = [LOOKUP_WORDS[name] for name in panels.in_state("stale")]
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
    yield "fines", *_figure(figures.fines(dossier), panels.renainf)
    orders = figures.orders(dossier)
    yield "courts", *_figure(replace(orders, note=orders.note or _kinds(dossier)), panels.renajud)
    prices, absent = dossier.prices, _absent(panels, "decode")
    price = _price(prices) if prices else absent
    yield "price", "Preço FIPE", _with_stale_date(price, panels.decode)
    change = Cell("empty", NOTHING_TO_COMPARE) if prices else absent
    for figure in figures.price_change(dossier):
        _, change = _figure(figure, panels.decode)
    yield "change", "FIPE em 12 meses", change
    yield "net", "FIPE menos as multas", _net(dossier)
    facts = attribute_fields(dossier.decoded) if dossier.decoded else {}
    for name in _FACTS:
        yield name, ATTRIBUTE_LABELS[name], _field(facts[name]) if facts else absent
    yield "asked", "Consultado", _lookup_ages(panels, now)


def _figure(figure: Figure, panel: Panel) -> tuple[str, Cell]:
    """Return the label and the cell of a figure of the answer ``panel``."""
    if panel.state == "unasked":
        return figure.label, Cell("unasked")
    cell = Cell("known" if figure.is_known else "unavailable", figure.value, figure.note)
    return figure.label, _with_stale_date(cell, panel)


def _with_stale_date(cell: Cell, panel: Panel) -> Cell:
    """Add the date of a stale answer to the note of a cell."""
    if cell.state != "known" or panel.state != "stale" or panel.fetched_at is None:
        return cell
    stale = f"resposta guardada de {formats.moment(panel.fetched_at)}"
    return replace(cell, note=f"{cell.note}; {stale}" if cell.note else stale)


def _absent(panels: Panels, lookup: LookupName) -> Cell:
    return Cell("unasked" if panels.of(lookup).state == "unasked" else "unavailable")


def _field(field: Field) -> Cell:
    if field:
        return Cell("known", str(field))
    return Cell("hidden" if field.is_hidden else "empty")


def _kinds(dossier: Dossier) -> str:
    """Name the court orders in force."""
    kinds = list(dict.fromkeys(order.title for order in dossier.orders or () if order.in_force))
    more = [f"e mais {len(kinds) - _MOST_KINDS}"] if len(kinds) > _MOST_KINDS else []
    return "; ".join([*kinds[:_MOST_KINDS], *more])


def _net(dossier: Dossier) -> Cell:
    """Return the price minus the open fines, because a buyer takes over the fines."""
    totals, prices = dossier.totals, dossier.prices
    if reason := dossier.verdict.no_ceiling or (prices.no_ceiling if prices else ""):
        return Cell("empty", "sem teto", reason)
    if prices is None:
        return _absent(dossier.answers, "decode")
    if totals is None:
        _, fines = _figure(figures.fines(dossier), dossier.answers.renainf)
        return fines
    if prices.price_summary is None:
        return Cell("empty", prices.no_price)
    known = [tab.current for tab in prices.likeliest if tab.current is not None]
    nets = [negotiate(price, totals).scenario(100).ceiling or Decimal(0) for price in known]
    count = totals.without_amount
    note = counted(count, "multa sem valor", "multas sem valor") if count else ""
    return Cell("known", formats.price_range(nets), note)


def _price(prices: Prices) -> Cell:
    price, best = prices.price_summary, prices.best
    if price is None or best is None:
        return Cell("empty", prices.no_price)
    tied = len(prices.likeliest)
    if tied > 1:
        note = f"{tied} versões empatam: confira no documento"
    else:
        note = best.label + (f" · {best.code}" if best.code else "")
    if price.doubt:
        note = f"{price.doubt}; {note}"
    if others := len(prices.all) - tied:
        note += f"; há mais {counted(others, 'versão possível', 'versões possíveis')}"
    # If several versions are equally likely, there is no chart, because a chart shows one version.
    line = sparkline(best.series.points) if tied == 1 else None
    return Cell("known", price.text, note, line=line)


def _lookup_ages(panels: Panels, now: datetime) -> Cell:
    if len(panels.in_state("unasked")) == len(LOOKUPS):
        return Cell("unasked")
    ages = {}
    for lookup, word in SHORT_LOOKUP_WORDS.items():
        panel = panels.of(lookup)
        if panel.has_answer and panel.fetched_at is not None:
            stale = " (resposta guardada)" if panel.state == "stale" else ""
            ages[word] = formats.age(now - panel.fetched_at) + stale
    if not ages:
        return Cell("unavailable")
    if len(ages) == len(LOOKUPS) and len(set(ages.values())) == 1:
        return Cell("known", next(iter(ages.values())))
    return Cell("known", "; ".join(f"{word}: {age}" for word, age in ages.items()))
