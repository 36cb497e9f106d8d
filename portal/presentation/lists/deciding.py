"""The page on which a visitor decides the vehicles of a list one by one.

A decision is the tag of a vehicle, which lists show. The page reads stored answers alone.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final, NamedTuple

from portal.charts.sparkline import Sparkline, sparklines
from portal.dossier.row import VehicleRow
from portal.presentation.lists.vehicle_list import TAGS, VehicleList
from portal.presentation.walk import Walk
from portal.vehicle.plate import Plate, Renavam

# The buttons, from the left thumb to the right.
DECISIONS: Final = ("fora", "negociar", "comprar")
assert set(DECISIONS) == set(TAGS)
ENDING: Final = "/mesa"
# More would take more of a phone's height than the vehicle.
MOST_TICKS: Final = 60


class Tick(NamedTuple):
    """A vehicle in the ribbon that shows the list."""

    row: VehicleRow
    url: str
    tag: str
    is_current: bool


@dataclass(frozen=True)
class DecidingPage:
    """A vehicle of a list, or the list's end if ``at`` is None.

    ``name`` is the list's. ``at`` is the place of the vehicle among the chosen rows, from 0.
    ``sent`` are the vehicles to buy that have an issued dossier of the present answers, of which
    one request issues at most ``at_once``.
    """

    template: ClassVar[str] = "pages/deciding.html"
    decisions: ClassVar[Sequence[str]] = DECISIONS
    name: str
    vehicles: VehicleList
    at: int | None
    sent: Collection[Plate | Renavam] = ()
    at_once: int = 0

    @property
    def rows(self) -> Sequence[VehicleRow]:
        return self.vehicles.selected

    @property
    def row(self) -> VehicleRow | None:
        return None if self.at is None else self.rows[self.at]

    @property
    def before(self) -> str:
        """The address of the vehicle before, or "" for the first."""
        last = len(self.rows) if self.at is None else self.at
        return self.url_of(self.rows[last - 1]) if last else ""

    @property
    def after(self) -> VehicleRow | None:
        return self.rows[self.at + 1] if self.at is not None and self.at + 1 < self.total else None

    @property
    def total(self) -> int:
        return len(self.rows)

    @property
    def line(self) -> Sparkline | None:
        """The prices of the vehicle, on the scale of all vehicles of the list."""
        assert self.at is not None
        return sparklines([row.histories for row in self.rows])[self.at]

    @property
    def note(self) -> tuple[str, str]:
        """The text and the tag that the visitor has given the vehicle."""
        return self.vehicles.notes.get(self.row.plate, ("", "")) if self.row else ("", "")

    @property
    def ticks(self) -> Iterator[Tick]:
        """The vehicles around the shown one, each with its address."""
        middle = self.total if self.at is None else self.at
        first = max(0, min(middle - MOST_TICKS // 2, self.total - MOST_TICKS))
        for at, row in enumerate(self.rows[first : first + MOST_TICKS], first):
            yield Tick(row, self.url_of(row), self._tag(row), at == self.at)

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """The number of vehicles of each decision, and under "" those without one."""
        return Counter(self._tag(row) for row in self.rows)

    def with_tag(self, tag: str) -> Sequence[VehicleRow]:
        return [row for row in self.rows if self._tag(row) == tag]

    @property
    def to_send(self) -> Sequence[VehicleRow]:
        """The vehicles to buy whose dossier is not issued yet. A Renavam alone has none."""
        bought = self.with_tag("comprar")
        return [
            one for one in bought if isinstance(one.subject, Plate) and one.subject not in self.sent
        ]

    @property
    def first_open(self) -> VehicleRow | None:
        """The first vehicle without a decision."""
        return next(iter(self.with_tag("")), None)

    @property
    def list_url(self) -> str:
        """The address of the list with its present choice."""
        return self.vehicles.url()

    @property
    def end_url(self) -> str:
        return self._here.url(fim="1")

    def url_of(self, row: VehicleRow) -> str:
        return self._here.url(carro=row.plate)

    @property
    def action(self) -> str:
        """The address that takes a decision."""
        return self._here.url()

    @cached_property
    def _here(self) -> VehicleList:
        return replace(self.vehicles, path=self.vehicles.path + ENDING)

    @property
    def vehicle_url(self) -> str:
        """The vehicle's own page, from which one can go on through the list."""
        assert self.row is not None and self.at is not None
        return Walk(self.list_url, self.at + 1, self.total).url_of(self.row.subject)

    def _tag(self, row: VehicleRow) -> str:
        return self.vehicles.notes.get(row.plate, ("", ""))[1]


def deciding_page(name: str, vehicles: VehicleList, plate: str, *, at_end: bool) -> DecidingPage:
    """Build the page of ``plate``, by default of the first vehicle without a decision.

    A list without such a vehicle, and ``at_end``, give the list's end.
    """
    rows = vehicles.selected
    at_plate = next((at for at, row in enumerate(rows) if row.plate == plate), None)
    if at_plate is None and not at_end:
        tags = [vehicles.notes.get(row.plate, ("", ""))[1] for row in rows]
        at_plate = tags.index("") if "" in tags else None
    return DecidingPage(name, vehicles, at_plate)
