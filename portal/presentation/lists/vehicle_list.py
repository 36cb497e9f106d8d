"""The table of vehicles that a batch, the history and a comparison show."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import ClassVar, Final
from urllib.parse import urlencode

from portal.charts.sparkline import Sparkline, sparklines
from portal.data_files import read_toml
from portal.dossier.row import VehicleRow
from portal.presentation.choice import Choice
from portal.presentation.paths import subject_path
from portal.presentation.walk import Walk
from portal.wording import bare

PAGE_SIZE: Final = 50
LONGEST_SEARCH: Final = 40
LONGEST_NOTE: Final = 120
CHANGED: Final = "mudou"  # the filter of what differs from what the visitor last saw
TAGS: Final = ("comprar", "negociar", "fora")
_WORDS: Final = read_toml(__package__, "vehicle_list.toml", dict[str, dict[str, str]])
ORDERS: Final[Mapping[str, str]] = _WORDS["orders"]
FILTERS: Final[Mapping[str, str]] = _WORDS["filters"]


@dataclass(frozen=True, slots=True)
class ListChoice:
    """What a visitor has chosen of a list: filters, order ("" is the list's own), search, page.

    ``noted`` is the plate or Renavam whose note is being edited, or "".
    """

    only: str = ""
    tag: str = ""
    order: str = ""
    search: str = ""
    number: int = 1
    noted: str = ""

    @property
    def needs_all_rows(self) -> bool:
        return bool(self.only or self.tag or self.order or self.search)


@dataclass(frozen=True)
class VehicleList:
    """A list of vehicles. ``path`` is its address.

    ``rows`` are all rows, or only those of one page of ``total`` rows. ``notes`` has the text and
    the tag that the visitor has given a plate or Renavam. ``order`` is the key of the default
    order. ``days`` names the day of each plate or Renavam, which heads its rows in that order.
    ``changed`` are the plates and Renavams that differ from what the visitor last saw.
    ``is_walked`` is true if one can go on from a vehicle's page to the next vehicle of the list.
    """

    longest_note: ClassVar[int] = LONGEST_NOTE
    tag_choices: ClassVar[Sequence[str]] = ("", *TAGS)
    path: str
    rows: Sequence[VehicleRow]
    notes: Mapping[str, tuple[str, str]]
    choice: ListChoice
    now: datetime
    order: str = "lista"
    total: int | None = None
    page_size: int = PAGE_SIZE
    days: Mapping[str, str] | None = None
    changed: Collection[str] = ()
    is_walked: bool = False

    @property
    def has_days(self) -> bool:
        return self.days is not None and self.choice.order in ("", self.order)

    @property
    def orders(self) -> Iterator[Choice]:
        """The orders, the default first."""
        for key in (self.order, *(key for key in ORDERS if key != self.order)):
            yield Choice(ORDERS[key], "", key == (self.choice.order or self.order), key)

    @cached_property
    def found(self) -> Sequence[VehicleRow]:
        """The rows that match the search."""
        return [row for row in self.rows if _contains(row, self.choice.search)]

    @cached_property
    def selected(self) -> Sequence[VehicleRow]:
        rows = [row for row in self.found if self._matches(row, self.choice.only, self.choice.tag)]
        match self.choice.order or self.order:
            case "conclusao":
                return sorted(rows, key=lambda row: row.gravity)
            case "multas":
                return sorted(rows, key=lambda row: -(row.fines_amount or 0))
            case "preco":
                return sorted(rows, key=lambda row: -(row.fipe_high or 0))
        return rows

    @cached_property
    def lines(self) -> Sequence[tuple[VehicleRow, Sparkline | None]]:
        """The rows of this page with their sparklines."""
        first = 0 if self.total is not None else (self.number - 1) * self.page_size
        rows = self.selected[first : first + self.page_size]
        return list(zip(rows, sparklines([row.histories for row in rows]), strict=True))

    @property
    def deciding_url(self) -> str:
        """Return the address on which the chosen vehicles are decided one by one."""
        return replace(self, path=f"{self.path}/mesa").url(pagina=1)

    def vehicle_url(self, row: VehicleRow) -> str:
        """Return the address of a vehicle's page, with its place in this list."""
        place = self._places.get(row.plate)
        if place is None:
            return subject_path(row.subject)
        return Walk(self.url(pagina=1), place, len(self.selected)).url_of(row.subject)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        """The place of each row in the list, from 1. A part of a list knows none."""
        is_known = self.is_walked and self.total is None and len(self.selected) > 1
        return {row.plate: at for at, row in enumerate(self.selected, 1)} if is_known else {}

    @property
    def filters(self) -> Iterator[Choice]:
        """The verdicts that occur, with the number of vehicles if all rows are known."""
        for key, label in FILTERS.items():
            is_chosen = key == self.choice.only
            count = sum(self._matches(row, key, self.choice.tag) for row in self.found)
            if count or is_chosen or not key:
                yield Choice(label, self.url(so=key, pagina=1), is_chosen, key, self._told(count))

    @property
    def tags(self) -> Iterator[Choice]:
        """The tags that occur. The chosen one leads back to all vehicles."""
        for tag in TAGS:
            is_chosen = tag == self.choice.tag
            count = sum(self._matches(row, self.choice.only, tag) for row in self.found)
            if count or is_chosen:
                url = self.url(etiqueta="" if is_chosen else tag, pagina=1)
                yield Choice(tag, url, is_chosen, tag, self._told(count))

    @property
    def pages(self) -> Sequence[Choice]:
        """The pages of the table, or none if the table has one page."""
        numbers = range(1, self.page_count + 1 if self.page_count > 1 else 1)
        return [Choice(str(n), self.url(pagina=n), n == self.number) for n in numbers]

    @property
    def page_count(self) -> int:
        rows = len(self.selected) if self.total is None else self.total
        return max(1, -(-rows // self.page_size))

    @property
    def number(self) -> int:
        return min(max(1, self.choice.number), self.page_count)

    def url(self, **changes: str | int) -> str:
        """Return the address of this list with other choices."""
        choice = self.choice
        chosen: dict[str, str | int] = {
            "so": choice.only,
            "etiqueta": choice.tag,
            "ordem": choice.order,
            "busca": choice.search,
            "pagina": self.number,
        }
        kept = {key: value for key, value in (chosen | changes).items() if value not in ("", 1)}
        separator = "&" if "?" in self.path else "?"
        return self.path + (separator + urlencode(kept) if kept else "")

    def _matches(self, row: VehicleRow, only: str, tag: str) -> bool:
        own = self.notes.get(row.plate, ("", ""))[1]
        is_found = not only or only == row.group or only == row.state == "failed"
        is_found = row.plate in self.changed if only == CHANGED else is_found
        return is_found and (not tag or tag == own)

    def _told(self, count: int) -> int | None:
        return count if self.total is None else None


def _contains(row: VehicleRow, search: str) -> bool:
    """Return whether a row contains all words of ``search``.

    Hyphens, accents and letter case do not matter.
    """
    facts = (bare(fact).replace("-", "") for fact in (row.plate, row.vehicle, row.year) if fact)
    text = " ".join(form for fact in facts for form in (fact, fact.replace(" ", "")))
    return all(word in text for word in bare(search).replace("-", "").split())
