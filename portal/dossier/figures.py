"""The key figures of a vehicle: price, fines and court orders, in the words of every face."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from portal import formats
from portal.charts.scale import month_index
from portal.dossier.answers import is_readable
from portal.dossier.dossier import Dossier
from portal.dossier.prices import RECENT_MONTHS
from portal.law.findings import PaidShort
from portal.law.orders import orders_in_words
from portal.phrasebook import acts
from portal.phrasebook.findings import paid_short_note
from portal.system.local_time import local_time
from portal.vehicle.operation_name import LookupName

_SOURCES: Final[tuple[tuple[str, str, LookupName], ...]] = (
    ("restricoes", "Renajud", "renajud"),
    ("multas", "Renainf", "renainf"),
    ("fipe", "FIPE", "decode"),
)
_NOT_CLEAN: Final = "não significa “nada consta”"
_NOTHING: Final = "nenhuma nos registros"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its label.

    ``is_known`` is False if no answer has the value. The value is then "indisponível"
    (unavailable) or says why there is none, and is never zero.
    """

    label: str
    value: str
    note: str = ""
    is_known: bool = True


def price(dossier: Dossier) -> Figure:
    prices = dossier.prices
    if prices is None:
        return Figure("Preço FIPE", "indisponível", _NOT_CLEAN, is_known=False)
    if prices.price_summary is None:
        return Figure("Preço FIPE", prices.no_price, is_known=False)
    return Figure("Preço FIPE", prices.price_summary.text, prices.price_summary.note)


def price_change(dossier: Dossier) -> Iterator[Figure]:
    """Yield the price change in 12 months, or nothing if it is unknown."""
    prices = dossier.prices
    if prices and prices.best and prices.twelve_months:
        last = prices.best.series.last_real
        until = f"até {formats.month(last.month)}" if last is not None else ""
        yield Figure("FIPE em 12 meses", prices.twelve_months, until)


def fines(dossier: Dossier) -> Figure:
    label, totals = "Multas em aberto", dossier.totals
    if totals is None:
        return Figure(label, "indisponíveis", _NOT_CLEAN, is_known=False)
    ended = f"{totals.called_off_words}, fora da conta" if totals.called_off_count else ""
    reasons = dossier.verdict.reasons
    short = [paid_short_note(each) for each in reasons if isinstance(each, PaidShort)]
    ended = "; ".join(filter(None, (ended, *short)))
    if not totals.open_count:
        return Figure(label, _NOTHING, ended)
    unpriced = totals.without_amount
    note = f", {formats.integer(unpriced)} sem valor informado" if unpriced else ""
    note = "; ".join(filter(None, (totals.open_words + note, ended)))
    return Figure(label, formats.brl(totals.known_amount), note)


def transfer(dossier: Dossier) -> Figure:
    """Whether the vehicle may be transferred, and how many court orders are in force."""
    found, row = orders(dossier), dossier.verdict.row("transfer")
    in_force = [order for order in dossier.orders or () if order.in_force]
    court = in_force[0].short_court if len(in_force) == 1 else ""
    note = f"Ordens: {found.value}{f' ({court})' if court else ''}"
    return Figure("Transfere?", acts.short(row), note, is_known=found.is_known)


def owed(dossier: Dossier) -> Figure:
    """The open fines in the words of the first screen: their sum, and what can be enforced.

    Taxes and the fines of the states are not looked up, so that "Deve" only stands beside a sum.
    """
    found, totals = fines(dossier), dossier.totals
    if totals is None or not totals.open_count or totals.known_amount is None:
        return replace(found, label="Multas")
    note = f"em {found.note}"
    if totals.enforceable_amount:
        is_all = totals.enforceable_amount == totals.known_amount
        note = "já exigível" if is_all else f"{formats.brl(totals.enforceable_amount)} já exigível"
    return replace(found, label="Deve", note=note)


def worth(dossier: Dossier) -> Figure:
    """The price in the words of the first screen, with its change in 12 months if it is sure."""
    found, prices = price(dossier), dossier.prices
    found = replace(found, label="Vale")
    if prices is None or prices.price_summary is None or prices.price_summary.doubt:
        return found
    if len(prices.likeliest) > 1:
        return replace(found, note=prices.price_summary.brief)
    change = next(price_change(dossier), None)
    return replace(found, note=f"{change.value} em 12 meses" if change else "")


def sources(dossier: Dossier) -> Iterator[tuple[str, Figure]]:
    """Yield the section and the name of each source, and when it answered."""
    prices = dossier.prices
    last = prices.best.series.last_real if prices and prices.best else None
    for section, name, lookup in _SOURCES:
        panel, value = dossier.answers.of(lookup), ""
        at = local_time(panel.fetched_at) if panel.fetched_at else None
        is_known = is_readable(panel.result, lookup)
        if not is_known:
            value = "não confirmado" if panel.cause == "unconfirmed" else "não respondeu"
        elif lookup == "decode" and prices and prices.price_summary is None:
            value, is_known = "sem preço", False
        elif lookup == "decode" and last:
            value = formats.month(last.month) + _age(last.month, dossier.today)
        elif at is not None:
            value = f"{at:%H:%M}" if at.date() == dossier.today else f"{at:%d/%m}"
        yield section, Figure(name, value, is_known=is_known)


def _age(month: date, today: date) -> str:
    """Say how old a month's price is, unless it is recent: ``, há 24 meses``."""
    age = month_index(today) - month_index(month)
    return f", há {age} meses" if age > RECENT_MONTHS else ""


def orders(dossier: Dossier) -> Figure:
    label = "Restrições judiciais"
    if dossier.orders is None:
        return Figure(label, "indisponíveis", _NOT_CLEAN, is_known=False)
    return Figure(label, orders_in_words(dossier.orders) or _NOTHING)
