"""Tables of a vehicle's fines, restrictions and prices."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from portal.dossier.dossier import Dossier
from portal.law import ACTS
from portal.presentation.exports.explained import (
    Record,
    fine_records,
    price_records,
    restriction_records,
)
from portal.presentation.exports.tables import Column, Table
from portal.vehicle import LookupName

TableName = Literal["fines", "restrictions", "prices"]
NEEDS: Final[dict[TableName, LookupName]] = {
    "fines": "renainf",
    "restrictions": "renajud",
    "prices": "decode",
}
# For each kind of record, the members that become columns. ``_OF_EFFECT`` names the members of an
# effect, an object inside a restriction. ``_OF_MONTH`` names the members of a month, an object
# inside a price.
_OF_FINE: Final = (
    *("number", "record", "code", "description", "article", "gravity", "points", "points_counted"),
    *("amount", "amount_origin", "amount_at_80", "amount_at_60", "has_discount"),
    *("standing", "standing_words", "standing_note", "open"),
    *("committed_on", "committed_at", "notified_on", "penalty_on", "paid_on"),
    *("authority", "authority_state", "place"),
)
_OF_RESTRICTION: Final = (
    *("number", "record", "title", "in_force", "kinds", "doubt"),
    *("court", "court_body", "case", "included_at"),
)
_OF_EFFECT: Final = [(act, member) for act in ACTS for member in ("mark", "reason")]
_OF_PRICE: Final = (
    *("number", "code", "code_is_verified", "description", "version", "model_year", "fuel"),
    *("price", "confidence", "reason"),
    *("change_12_months", "change_yearly", "change_since_peak", "change_predicted", "doubt"),
)
_OF_MONTH: Final = ("month", "value", "predicted")


def vehicle_table(name: TableName, dossier: Dossier) -> Table | None:
    """Return the table ``name``, or None if its lookup has no readable answer.

    The last column is the time of the lookup's answer.
    """
    columns: Sequence[str]
    records: Iterable[Record]
    match name:
        case "fines" if dossier.fines is not None:
            columns, records = _OF_FINE, fine_records(dossier.fines)
        case "restrictions" if dossier.orders is not None:
            columns = (*_OF_RESTRICTION, *(f"{act}_{member}" for act, member in _OF_EFFECT))
            records = map(_flat, restriction_records(dossier.orders))
        case "prices" if dossier.prices is not None:
            columns = (*_OF_PRICE, *_OF_MONTH)
            records = _months(price_records(dossier.prices))
        case _:
            return None
    fetched_at = dossier.answers.of(NEEDS[name]).fetched_at
    rows = ([*(record[column] for column in columns), fetched_at] for record in records)
    return Table(name, [*map(Column, columns), Column("fetched_at", "moment")], rows)


def _flat(restriction: Record) -> Record:
    effects = {f"{act}_{member}": restriction[act][member] for act, member in _OF_EFFECT}
    return {**restriction, **effects, "kinds": ", ".join(restriction["kinds"])}


def _months(prices: Iterable[Record]) -> Iterator[Record]:
    """Yield a row for each version of the vehicle and month of its price history.

    A version without a price history has one row.
    """
    for price in prices:
        for month in price["history"] or [dict.fromkeys(_OF_MONTH)]:
            yield {**price, **month}
