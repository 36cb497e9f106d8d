"""The comparison page: up to four vehicles, their prices drawn on one scale.

When a user opens the page, each vehicle with missing answers "waits". For such a vehicle, the
page's script requests a second comparison page with only this vehicle. Before the portal answers
that request, it makes the missing lookups. The script copies the row into the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Final

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
        """What one vehicle alone does best, in words, where each of several vehicles is known."""
        rows, found = self.vehicles.rows, []
        changes, debts = [row.change for row in rows], [row.fines_amount for row in rows]
        for words, shown, best in (("perde menos valor", changes, max), ("deve menos", debts, min)):
            known = [value for value in shown if value is not None]
            if 1 < len(known) == len(rows) and known.count(best(known)) == 1:
                found.append((words, rows[known.index(best(known))]))
        return found


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
    """Return the prices of two or more vehicles, 100 in the first month that all have."""
    series: dict[str, Sequence[PricePoint]] = {}
    for dossier in dossiers:
        prices = dossier.prices
        # If several versions are equally likely, a line would show one of them.
        if prices and len(prices.likeliest) == 1 and prices.best:
            real = prices.best.series.real[-_MOST_MONTHS:]
            if len(real) >= _LEAST_MONTHS:
                series[dossier.subject.text] = real
    if len(series) < 2:
        return None
    first = max(points[0].month for points in series.values())
    common = {
        name: [point for point in points if point.month >= first] for name, points in series.items()
    }
    if any(len(points) < _LEAST_MONTHS or not points[0].value for points in common.values()):
        return None
    lines = [
        Line(name, [replace(one, value=100 * one.value / points[0].value) for one in points])
        for name, points in common.items()
    ]
    return price_chart(lines, words=Words(now=True, is_index=True))
