"""The key figures of a vehicle: price, fines and court orders, in the words of every face."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from portal import formats
from portal.dossier.dossier import Dossier
from portal.law.orders import orders_in_words

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
    if not totals.open_count:
        return Figure(label, _NOTHING, ended)
    unpriced = totals.without_amount
    note = f", {formats.integer(unpriced)} sem valor informado" if unpriced else ""
    note = "; ".join(filter(None, (totals.open_words + note, ended)))
    return Figure(label, formats.brl(totals.known_amount), note)


def owed(dossier: Dossier) -> Figure:
    """The open fines in the words of the first screen: their sum, and what can be enforced."""
    label, found, totals = "Deve", fines(dossier), dossier.totals
    if totals is None:
        return replace(found, label=label, value="não se sabe", note=f"multas {found.value}")
    if not totals.open_count:
        return Figure(label, "Nada", f"multas: {found.value}")
    if totals.enforceable_amount:
        return replace(
            found, label=label, note=f"{formats.brl(totals.enforceable_amount)} já exigível"
        )
    return replace(found, label=label, note=f"em {found.note}")


def worth(dossier: Dossier) -> Figure:
    """The price in the words of the first screen, with its change in 12 months if it is sure."""
    found, prices = replace(price(dossier), label="Vale"), dossier.prices
    if prices is None or prices.price_summary is None:
        return found
    if prices.price_summary.doubt or len(prices.likeliest) > 1:
        return found
    change = next(price_change(dossier), None)
    return replace(found, note=f"{change.value} em 12 meses" if change else "")


def orders(dossier: Dossier) -> Figure:
    label = "Restrições judiciais"
    if dossier.orders is None:
        return Figure(label, "indisponíveis", _NOT_CLEAN, is_known=False)
    return Figure(label, orders_in_words(dossier.orders) or _NOTHING)
