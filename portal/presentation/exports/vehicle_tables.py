"""Columns and tables of a vehicle's fines, court orders and prices.

A column is a member of the JSON, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from portal.batch.model import Item
from portal.dossier.details import FINE_COLUMNS, ORDER_COLUMNS, text_of
from portal.dossier.dossier import Dossier
from portal.dossier.prices import Prices, PriceTab
from portal.law.act_answers import ACTS
from portal.law.orders import AssessedOrder
from portal.presentation.exports.tables import Column, Table
from portal.presentation.tools.vehicle_row import why_missing
from portal.vehicle.decode import PricePoint
from portal.vehicle.operation_name import LookupName

TableName = Literal["fines", "restrictions", "prices"]
NEEDS: Final[dict[TableName, LookupName]] = {
    "fines": "renainf",
    "restrictions": "renajud",
    "prices": "decode",
}


def priced(prices: Prices) -> tuple[PriceTab, ...]:
    """Return the entries of the price table, those of another vehicle last."""
    return (*prices.all, *prices.foreign)


def _confidence(tab: PriceTab) -> str:
    if tab.is_foreign:
        return "other_vehicle"
    return "tied" if tab.is_tied else "likeliest" if tab.number == 1 else "possible"


def _reason(tab: PriceTab) -> str | None:
    if tab.is_foreign:
        return f"Este preço é de outro veículo: {tab.described or tab.label}."
    return tab.reason or None


# The columns whose names begin with ``change_`` are price changes in per cent.
PRICE_COLUMNS: Final[Mapping[str, Callable[[PriceTab], object]]] = {
    "number": lambda tab: tab.number,
    "code": lambda tab: tab.code.text if tab.code else None,
    "code_is_verified": lambda tab: tab.code.is_verified if tab.code else None,
    "description": lambda tab: tab.described or None,
    "version": lambda tab: text_of(tab.entry.version),
    "model_year": lambda tab: tab.entry.year,
    "fuel": lambda tab: text_of(tab.entry.fuel),
    "price": lambda tab: tab.current,
    "confidence": _confidence,
    "reason": _reason,
    "change_12_months": lambda tab: tab.series.twelve_month_change,
    "change_yearly": lambda tab: tab.series.yearly_change,
    "change_since_peak": lambda tab: tab.series.change_since_peak,
    "change_predicted": lambda tab: tab.series.predicted_change,
    "doubt": lambda tab: " ".join(tab.cautions) or None,
}
MONTH_COLUMNS: Final[Mapping[str, Callable[[PricePoint], object]]] = {
    "month": lambda point: f"{point.month:%Y-%m}",
    "value": lambda point: point.value,
    "predicted": lambda point: point.predicted,
}
# An effect on an act, an object in the record of a court order, has two columns of a table.
_EFFECT_COLUMNS: Final = tuple((act, member) for act in ACTS for member in ("mark", "reason"))


def vehicle_table(name: TableName, dossier: Dossier) -> Table | None:
    """Return the table ``name``, or None if its lookup has no readable answer.

    The last column is the time of the lookup's answer.
    """
    rows = _rows(name, dossier)
    return None if rows is None else Table(name, _columns(name), rows)


def batch_table(name: TableName, vehicles: Iterable[tuple[Item, Dossier]]) -> Table:
    """Return the table ``name`` of a batch. The first column is the plate or Renavam.

    A vehicle whose lookup has no readable stored answer has one row with the columns "missing" and
    "cause", so that a reader of the table does not take it for a vehicle without records.
    """
    columns = _columns(name)

    def rows() -> Iterator[list[Any]]:
        for item, dossier in vehicles:
            found = _rows(name, dossier)
            if found is None:
                missing = why_missing(item, NEEDS[name], dossier.answers.of(NEEDS[name]))
                yield [item.subject.text, *[None] * len(columns), *missing]
            else:
                yield from ([item.subject.text, *cells, None, None] for cells in found)

    ends = Column("missing"), Column("cause")
    return Table(name, [Column("plate", "subject"), *columns, *ends], rows())


def _columns(name: TableName) -> list[Column]:
    names: Iterable[str] = FINE_COLUMNS
    if name == "restrictions":
        names = (*ORDER_COLUMNS, *(f"{act}_{member}" for act, member in _EFFECT_COLUMNS))
    elif name == "prices":
        names = (*PRICE_COLUMNS, *MONTH_COLUMNS)
    return [*map(Column, names), Column("fetched_at", "moment")]


def _rows(name: TableName, dossier: Dossier) -> Iterator[list[Any]] | None:
    rows: Iterator[list[Any]]
    match name:
        case "fines" if dossier.fines is not None:
            rows = ([read(fine) for read in FINE_COLUMNS.values()] for fine in dossier.fines)
        case "restrictions" if dossier.orders is not None:
            rows = map(_order_cells, dossier.orders)
        case "prices" if dossier.prices is not None:
            rows = _months(dossier.prices)
        case _:
            return None
    fetched_at = dossier.answers.of(NEEDS[name]).fetched_at
    return ([*cells, fetched_at] for cells in rows)


def _order_cells(order: AssessedOrder) -> list[Any]:
    cells = {name: read(order) for name, read in ORDER_COLUMNS.items()}
    cells["kinds"] = ", ".join(order.effect.kinds)
    effects = (getattr(order.effect.answers[act], member) for act, member in _EFFECT_COLUMNS)
    return [*cells.values(), *effects]


def _months(prices: Prices) -> Iterator[list[Any]]:
    """Yield a row for each version of the vehicle and month of its price history.

    A version without a price history has one row.
    """
    no_month: list[Any] = [None] * len(MONTH_COLUMNS)
    for tab in priced(prices):
        cells = [read(tab) for read in PRICE_COLUMNS.values()]
        months = [[read(point) for read in MONTH_COLUMNS.values()] for point in tab.series.points]
        for month in months or [no_month]:
            yield [*cells, *month]
