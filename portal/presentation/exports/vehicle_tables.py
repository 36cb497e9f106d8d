"""Tables of a vehicle's fines, restrictions and prices."""

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Final, Literal

from portal.presentation.exports.explained import (
    ExplainedFine,
    ExplainedPrice,
    ExplainedRestriction,
    explained_fines,
    explained_prices,
    explained_restrictions,
)
from portal.presentation.exports.tables import Cell, Column, Kind, Table
from portal.presentation.vehicle.contents import VehicleContents
from portal.presentation.vehicle.panel import Lookup

TableName = Literal["fines", "restrictions", "prices"]
NEEDS: Final[dict[TableName, Lookup]] = {
    "fines": "renainf",
    "restrictions": "renajud",
    "prices": "decode",
}
_EFFECTS: Final = ("transfer", "licence", "drive", "removal")
_KINDS: Final[dict[str, Kind]] = {
    "int": "integer",
    "int | None": "integer",
    "bool": "flag",
    "bool | None": "flag",
    "date | None": "date",
    "datetime | None": "moment",
}
_MONEY: Final = frozenset({"amount", "amount_at_80", "amount_at_60", "price"})


def vehicle_table(name: TableName, contents: VehicleContents) -> Table | None:
    """Return one table of a vehicle's records, or None if no readable answer contains them."""
    match name:
        case "fines":
            fines = explained_fines(contents)
            return None if fines is None else Table(name, _FINE_COLUMNS, _flat(fines))
        case "restrictions":
            found = explained_restrictions(contents)
            return None if found is None else Table(name, _RESTRICTION_COLUMNS, _effects(found))
        case "prices":
            prices = explained_prices(contents)
            return None if prices is None else Table(name, _PRICE_COLUMNS, _months(prices))


def _columns(cls: type, *left_out: str) -> list[Column]:
    return [
        Column(each.name, "money" if each.name in _MONEY else _kind(str(each.type), each.name))
        for each in fields(cls)
        if each.name not in left_out
    ]


def _kind(type_name: str, name: str) -> Kind:
    kind: Kind = _KINDS.get(_short(type_name), "text")
    return "number" if name.startswith("change_") else kind


def _short(type_name: str) -> str:
    return (
        type_name.replace("datetime.datetime", "datetime")
        .replace("datetime.date", "date")
        .replace("<class '", "")
        .replace("'>", "")
    )


_FINE_COLUMNS: Final = _columns(ExplainedFine, "deadlines")
_RESTRICTION_COLUMNS: Final = [
    *_columns(ExplainedRestriction, *_EFFECTS),
    *(Column(f"{act}_{part}", "text") for act in _EFFECTS for part in ("mark", "reason")),
]
_PRICE_COLUMNS: Final = [
    *_columns(ExplainedPrice, "history"),
    Column("month", "text"),
    Column("value", "money"),
    Column("predicted", "flag"),
]


def _flat(fines: Sequence[ExplainedFine]) -> Iterator[list[Cell]]:
    for fine in fines:
        yield [getattr(fine, column.name) for column in _FINE_COLUMNS]


def _effects(restrictions: Sequence[ExplainedRestriction]) -> Iterator[list[Cell]]:
    names = [column.name for column in _columns(ExplainedRestriction, *_EFFECTS)]
    for each in restrictions:
        cells: list[Cell] = [_joined(getattr(each, name)) for name in names]
        for act in _EFFECTS:
            effect = getattr(each, act)
            cells += [effect.mark, effect.reason]
        yield cells


def _months(prices: Sequence[ExplainedPrice]) -> Iterator[list[Cell]]:
    """Yield a row for each month in the price history of each version.

    A version without a price history has one row.
    """
    names = [column.name for column in _columns(ExplainedPrice, "history")]
    for price in prices:
        cells: list[Cell] = [getattr(price, name) for name in names]
        for month in price.history:
            yield [*cells, month.month, month.value, month.predicted]
        if not price.history:
            yield [*cells, None, None, None]


def _joined(value: object) -> Cell:
    return ", ".join(value) if isinstance(value, tuple) else value  # type: ignore[return-value]
