"""Columns and tables of a vehicle's fines, court orders and prices.

A column is a member of the JSON, too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, cast

from portal.batch.model import Item
from portal.dossier.answers import Panel
from portal.dossier.details import fine_notes, order_notes
from portal.dossier.dossier import Dossier
from portal.dossier.lookups import LOOKUP_WORDS
from portal.dossier.prices import PriceCandidate, Prices
from portal.dossier.row import EXPIRED, NO_ANSWER, NOTHING_STORED, has_expired
from portal.gateway.lookup import FailureKind
from portal.law.act_answers import ACTS, Act, Answer
from portal.law.assessment import AssessedFine
from portal.law.orders import AssessedOrder
from portal.phrasebook import authorities, effects, fines, interest, orders
from portal.phrasebook.failures import FAULTS
from portal.presentation.exports.tables import Column, Table
from portal.vehicle.decode import PricePoint
from portal.vehicle.field import Field
from portal.vehicle.operation_name import LookupName

UNREADABLE: Final = "A resposta veio em um formato que o portal não reconhece"
TableName = Literal["fines", "restrictions", "prices"]
NEEDS: Final[dict[TableName, LookupName]] = {
    "fines": "renainf",
    "restrictions": "renajud",
    "prices": "decode",
}


def priced(prices: Prices) -> tuple[PriceCandidate, ...]:
    """Return the entries of the price table, those of another vehicle last."""
    return (*prices.all, *prices.foreign)


def _confidence(tab: PriceCandidate) -> str:
    if tab.is_foreign:
        return "other_vehicle"
    return "tied" if tab.is_tied else "likeliest" if tab.number == 1 else "possible"


def _reason(tab: PriceCandidate) -> str | None:
    if tab.is_foreign:
        return f"Este preço é de outro veículo: {tab.described or tab.label}."
    return tab.reason or None


def text_of(field: Field) -> str | None:
    return field.value if field.state == "known" else None


FINE_COLUMNS: Final[Mapping[str, Callable[[AssessedFine], object]]] = {
    "number": lambda fine: fine.number,
    "record": lambda fine: fine.anchor,
    "code": lambda fine: text_of(fine.record.code),
    "description": lambda fine: fine.description or None,
    "article": lambda fine: fine.article or None,
    "gravity": lambda fine: fines.gravity_word(fine.gravity),
    "points": lambda fine: fine.points.by_gravity,
    "points_counted": lambda fine: fine.points_now,
    "amount": lambda fine: fine.amount.value,
    "amount_origin": lambda fine: fine.amount.origin,
    "amount_at_80": lambda fine: fine.amount.at_80 if fine.has_discount else None,
    "amount_at_60": lambda fine: fine.amount.at_60 if fine.has_discount else None,
    "has_discount": lambda fine: fine.has_discount,
    "standing": lambda fine: fine.standing,
    "standing_words": lambda fine: fines.status_word(fine.status),
    "standing_note": lambda fine: fines.status_note(fine),
    "open": lambda fine: fine.is_open,
    "committed_on": lambda fine: fine.record.committed_on,
    "committed_at": lambda fine: fine.record.committed_at and f"{fine.record.committed_at:%H:%M}",
    "notified_on": lambda fine: fine.record.notified_on,
    "penalty_on": lambda fine: fine.record.penalty_on,
    "paid_on": lambda fine: fine.record.paid_on,
    "authority": lambda fine: text_of(fine.record.authority),
    "authority_state": lambda fine: text_of(fine.record.authority_state),
    "place": lambda fine: text_of(fine.record.place),
    "amount_paid": lambda fine: fine.paid.value,
    "discount_note": fines.discount_note,
    "authority_code": lambda fine: text_of(fine.record.authority_code),
    "authority_name": lambda fine: fine.authority and fine.authority.name,
    "authority_level": lambda fine: fine.authority and fine.authority.level,
    "appeal_body": lambda fine: fine.authority and authorities.appeal_body(fine.authority),
    "town": lambda fine: fine.town and fine.town.name,
    "town_state": lambda fine: fine.town and fine.town.state,
    "code_conflict": lambda fine: authorities.code_conflict(fine) or None,
    "conflict": lambda fine: " ".join(fine_notes(fine)) or None,
    "other_vehicle": lambda fine: bool(fine.differing),
    "amount_with_interest": lambda fine: fine.interest and fine.interest.total,
    "interest_is_minimum": lambda fine: fine.interest and fine.interest.is_minimum,
    "interest_note": lambda fine: interest.sentence(fine.interest) if fine.interest else None,
    "authority_site": lambda fine: (fine.authority and fine.authority.site) or None,
}
ORDER_COLUMNS: Final[Mapping[str, Callable[[AssessedOrder], object]]] = {
    "number": lambda order: order.number,
    "record": lambda order: order.anchor,
    "title": orders.title,
    "in_force": lambda order: order.in_force,
    "kinds": lambda order: order.effect.kinds,
    "kinds_text": lambda order: text_of(order.record.kinds_text),
    "block_type": lambda order: text_of(order.record.block_type),
    "judicial_code": lambda order: text_of(order.record.judicial_code),
    "detail": lambda order: text_of(order.record.detail),
    "doubt": lambda order: effects.doubt(order.effect) or None,
    "court": lambda order: order.court or None,
    "court_body": lambda order: order.court_body or None,
    "case": lambda order: text_of(order.record.case),
    "included_at": lambda order: order.record.included_at,
    "other_vehicle": lambda order: bool(order.differing),
    "conflict": lambda order: " ".join(order_notes(order)) or None,
}
# The columns whose names begin with ``change_`` are price changes in per cent.
PRICE_COLUMNS: Final[Mapping[str, Callable[[PriceCandidate], object]]] = {
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
    "month": lambda point: point.month.isoformat()[: len("2026-01")],
    "value": lambda point: point.value,
    "predicted": lambda point: point.predicted,
}
# An effect on an act, an object in the record of a court order, has two columns of a table.
_EFFECT_COLUMNS: Final[tuple[tuple[str, Act, Callable[[Answer], str]], ...]] = tuple(
    (f"{act}_{member}", act, read)
    for act in ACTS
    for member, read in (("mark", lambda answer: answer.mark), ("reason", effects.reason))
)


def vehicle_table(name: TableName, dossier: Dossier) -> Table | None:
    """Return the table ``name``, or None if its lookup has no readable answer.

    An answer without a price, of which the source could not read the prices, is none.

    The last column is the time of the lookup's answer.
    """
    rows = _rows(name, dossier)
    return None if rows is None else Table(name, _columns(name), rows)


def batch_table(name: TableName, vehicles: Iterable[tuple[Item, Dossier]]) -> Table:
    """Return the table ``name`` of a batch.

    A vehicle whose lookup has no readable stored answer has one row with the columns "missing" and
    "cause", so that a reader of the table does not take it for a vehicle without records.
    """
    columns = _columns(name)

    def rows() -> Iterator[list[Any]]:
        for item, dossier in vehicles:
            rows = _rows(name, dossier)
            if rows is None:
                missing = why_missing(item, NEEDS[name], dossier.answers.of(NEEDS[name]))
                yield [item.subject.text, *[None] * (len(columns) - 1), *missing]
            else:
                yield from ([*cells, None, None] for cells in rows)

    ends = Column("missing"), Column("cause")
    return Table(name, [*columns, *ends], rows())


def _columns(name: TableName) -> list[Column]:
    names: Iterable[str] = FINE_COLUMNS
    if name == "restrictions":
        names = (*ORDER_COLUMNS, *(column for column, _, _ in _EFFECT_COLUMNS))
    elif name == "prices":
        names = (*PRICE_COLUMNS, *MONTH_COLUMNS)
    return [Column("plate", "subject"), *map(Column, names), Column("fetched_at", "moment")]


def _rows(name: TableName, dossier: Dossier) -> Iterator[list[Any]] | None:
    rows: Iterator[list[Any]]
    match name:
        case "fines" if dossier.fines is not None:
            rows = ([read(fine) for read in FINE_COLUMNS.values()] for fine in dossier.fines)
        case "restrictions" if dossier.orders is not None:
            rows = map(_order_cells, dossier.orders)
        case "prices" if dossier.prices is not None:
            if dossier.prices.unread_words and not priced(dossier.prices):
                return None
            rows = _months(dossier.prices)
        case _:
            return None
    fetched_at = dossier.answers.of(NEEDS[name]).fetched_at
    return ([dossier.subject.text, *cells, fetched_at] for cells in rows)


def _order_cells(order: AssessedOrder) -> list[Any]:
    cells = {name: read(order) for name, read in ORDER_COLUMNS.items()}
    cells["kinds"] = ", ".join(order.effect.kinds)
    answers = order.effect.answers
    return [*cells.values(), *(read(answers[act]) for _, act, read in _EFFECT_COLUMNS)]


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


def why_missing(item: Item, name: LookupName, panel: Panel) -> tuple[str, str | None]:
    """Say why a batch has no readable stored answer to a lookup, and name the failure.

    The failure is None if the answer has expired, if the batch has not looked the vehicle up yet,
    or if a Renavam has no such records.
    """
    cause, reason = "", NOTHING_STORED
    if panel.cause:
        cause, reason = panel.cause, panel.reason
    elif panel.has_answer:
        cause, reason = "unreadable", UNREADABLE
    elif has_expired(item, name):
        reason = EXPIRED
    elif item.state == "failed":
        cause, fault = item.cause, FAULTS.get(cast(FailureKind, item.cause))
        reason = fault.sentence if fault else NO_ANSWER
    return f"{LOOKUP_WORDS[name]}: {reason}", None if cause == "not_for_renavam" else cause or None
