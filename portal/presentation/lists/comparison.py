"""The comparison page: up to four vehicles, their prices drawn on one scale.

When a user opens the page, each vehicle with missing answers "waits". For such a vehicle, the
page's script requests a second comparison page with only this vehicle. Before the portal answers
that request, it makes the missing lookups. The script copies the row into the page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Final, NamedTuple

from msgspec.structs import replace

from portal.charts.geometry import Line, PriceChart
from portal.charts.price_chart import price_chart
from portal.charts.price_labels import Words
from portal.dossier.dossier import Dossier
from portal.dossier.row import VehicleRow, listed_row
from portal.presentation.lists.recent_lookup import RecentLookup
from portal.presentation.lists.vehicle_list import ListChoice, VehicleList
from portal.vehicle.decode import PricePoint
from portal.vehicle.plate import Plate
from portal.wording import sanitise_echo

MOST_PLATES: Final = 4
_LEAST_FIELDS: Final = 2
_MOST_FIELDS: Final = 8
_LONGEST_TEXT: Final = 64
_LONGEST_PROBLEM: Final = 200
_MOST_MONTHS: Final = 61
_LEAST_MONTHS: Final = 3
_NOTHING_CHOSEN: Final = ListChoice()


QUESTIONS: Final[Mapping[str, str]] = {
    "transfere": "Transfere?",
    "deve": "Deve",
    "vale": "Vale",
    "por-mes": "Por mês, no último ano",
    "verificar": "Falta verificar",
}


class DuelRow(NamedTuple):
    """A question, with each vehicle and whether its answer is the best."""

    key: str
    label: str
    cells: Sequence[tuple[VehicleRow, bool]]


@dataclass(frozen=True)
class ComparisonPage:
    """The comparison page, or its form if there are no vehicles.

    ``waiting`` are the plates whose lookups the page's script makes, and ``idle`` those that lack
    lookups which nothing makes, because a prefetch or a bot asked for the page. ``recent`` are the
    visitor's recent vehicles. ``typed`` are the texts of the form's fields, and ``problem`` is an
    error message, or "" if the texts are valid.
    """

    template: ClassVar[str] = "pages/comparison.html"
    vehicles: VehicleList
    plates: Sequence[Plate]
    waiting: Sequence[str]
    idle: Sequence[str]
    chart: PriceChart | None
    recent: Sequence[RecentLookup]
    typed: Sequence[str]
    problem: str

    @property
    def not_drawn(self) -> list[str]:
        """The plates that the chart leaves out."""
        curves = (self.chart.chosen, *self.chart.others) if self.chart else ()
        drawn = {curve.name for curve in curves}
        return [plate.display for plate in self.plates if plate.text not in drawn]

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
        return [one for one in others if one.subject not in self.plates]

    @cached_property
    def best(self) -> Sequence[tuple[str, VehicleRow]]:
        """What one vehicle alone does best, in words, among those that may be transferred."""
        measures = {"perde menos valor": _change, "deve menos": _debt}
        best = {words: best_of(self._rivals, one) for words, one in measures.items()}
        return [(words, winners[0]) for words, winners in best.items() if len(winners) == 1]

    @property
    def _rivals(self) -> Sequence[VehicleRow]:
        """The vehicles that are compared: those that no record keeps from being transferred."""
        rows = self.vehicles.rows
        return [row for row in rows if row.mark("transfer") in ("yes", "careful")]

    @property
    def duel(self) -> Sequence[DuelRow]:
        """The five questions, each with the vehicles side by side."""
        rows = self.vehicles.rows
        winners = {key: best_of(self._rivals, measure) for key, measure in _MEASURES.items()}
        return [
            DuelRow(key, label, [(row, row in winners.get(key, ())) for row in rows])
            for key, label in QUESTIONS.items()
        ]

    @property
    def means(self) -> list[str]:
        """The plates whose line is the mean of several versions."""
        curves = (self.chart.chosen, *self.chart.others) if self.chart else ()
        drawn = {curve.name for curve in curves if curve.is_mean}
        return [plate.display for plate in self.plates if plate.text in drawn]


def best_of(
    rows: Sequence[VehicleRow], measure: Callable[[VehicleRow], Decimal | None]
) -> Sequence[VehicleRow]:
    """Return the rows of the highest measure, or none if all share it or one is unknown."""
    known = [(value, row) for row in rows if (value := measure(row)) is not None]
    if not known or len(known) < len(rows):
        return ()
    highest = max(value for value, _ in known)
    winners = [row for value, row in known if value == highest]
    return winners if len(winners) < len(rows) else ()


def _transfers(row: VehicleRow) -> Decimal | None:
    return Decimal(row.mark("transfer") == "yes")


def _monthly(row: VehicleRow) -> Decimal | None:
    """The change a month of the version that lost most."""
    return row.monthly_changes[0] if row.monthly_changes else None


def _open_lines(row: VehicleRow) -> Decimal | None:
    return None if row.open_lines is None else Decimal(-row.open_lines)


def _change(row: VehicleRow) -> Decimal | None:
    return row.change


def _debt(row: VehicleRow) -> Decimal | None:
    return None if row.fines_amount is None else -row.fines_amount


# What is best, by the key of its question. A higher price is neither better nor worse.
_MEASURES: Final[Mapping[str, Callable[[VehicleRow], Decimal | None]]] = {
    "transfere": _transfers,
    "deve": _debt,
    "por-mes": _monthly,
    "verificar": _open_lines,
}


def comparison_page(
    dossiers: Sequence[Dossier],
    now: datetime,
    *,
    notes: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    choice: ListChoice = _NOTHING_CHOSEN,
    follow: bool = False,
    recent: Sequence[RecentLookup] = (),
    typed: Sequence[str] = (),
    problem: str = "",
) -> ComparisonPage:
    """Build the comparison of vehicles. Without dossiers of plates, the page is a form.

    If ``follow`` is true, the page's script makes the missing lookups.
    """
    plates = [one.subject for one in dossiers if isinstance(one.subject, Plate)]
    open_ = [one.subject.text for one in dossiers if one.answers.in_state("unasked")]
    return ComparisonPage(
        vehicles=VehicleList(
            path=comparison_path(plates),
            rows=[*map(listed_row, dossiers)],
            notes=notes,
            choice=choice,
            now=now,
        ),
        plates=plates,
        waiting=open_ if follow else (),
        idle=() if follow else open_,
        chart=_chart(dossiers),
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


def _chart(dossiers: Sequence[Dossier]) -> PriceChart | None:
    """Return the prices of two or more vehicles, 100 in the first month that all have.

    The line of a vehicle with several equally likely versions is their mean.
    """
    series: dict[str, list[Sequence[PricePoint]]] = {}
    for dossier in dossiers:
        versions = dossier.prices.likeliest if dossier.prices else ()
        histories: list[Sequence[PricePoint]] = [
            tab.series.real[-_MOST_MONTHS:] for tab in versions
        ]
        if histories and min(map(len, histories)) >= _LEAST_MONTHS:
            series[dossier.subject.text] = histories
    if len(series) < 2:
        return None
    first = max(points[0].month for histories in series.values() for points in histories)
    lines = [_index(name, histories, first) for name, histories in series.items()]
    if any(len(line.points) < _LEAST_MONTHS for line in lines):
        return None
    return price_chart(lines, words=Words(now=True, is_index=True))


def _index(name: str, histories: Sequence[Sequence[PricePoint]], first: date) -> Line:
    """Return the mean of several price histories, each 100 in the month ``first``."""
    indexed = []
    for points in histories:
        since = [point for point in points if point.month >= first]
        base = since[0].value if since else Decimal(0)
        indexed.append({one.month: 100 * one.value / base for one in since} if base else {})
    kept = [point for point in histories[0] if all(point.month in known for known in indexed)]
    means = [sum(known[point.month] for known in indexed) / len(indexed) for point in kept]
    values = [replace(point, value=Decimal(mean)) for point, mean in zip(kept, means, strict=True)]
    return Line(name, values, is_mean=len(set(map(tuple, histories))) > 1)
