"""Computes the dossier's key figures and decides which parts fit on the first sheet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from portal import formats
from portal.dossier.dossier import Dossier

_UNAVAILABLE: Final = "indisponível"
_UNAVAILABLE_MANY: Final = "indisponíveis"
_NOT_CLEAN: Final = "não significa “nada consta”"
# Limits for the length of the verdict's and the origins' texts, in characters. Above
# _MOST_BESIDE_FACTS, the first sheet has no room for the vehicle's attributes. Above
# _MOST_BESIDE_CHART, this sheet has no room for the price chart either.
_MOST_BESIDE_FACTS: Final = 1500
_MOST_BESIDE_CHART: Final = 1850


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A figure such as the price. ``is_known`` is False if no answer has the value."""

    label: str
    value: str
    note: str = ""
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class FirstSheet:
    has_facts: bool
    has_chart: bool


def first_sheet(dossier: Dossier, origins: Sequence[str]) -> FirstSheet:
    """Return which parts fit on the first sheet beside the verdict's texts and the origins."""
    verdict = dossier.verdict
    texts = [reason.sentence for reason in verdict.first_reasons]
    # A notice takes a line of its own, in larger letters.
    texts += [*verdict.notices, *verdict.notices, *origins]
    texts += [row.why for row in verdict.matrix]
    letters = sum(map(len, texts))
    return FirstSheet(letters <= _MOST_BESIDE_FACTS, letters <= _MOST_BESIDE_CHART)


def key_figures(dossier: Dossier) -> Iterator[KeyFigure]:
    """Yield the price, its change in 12 months, the fines and the court restrictions.

    An unknown price change is left out. Each of the other figures reads "indisponível"
    (unavailable), never zero, if its lookup has no readable answer.
    """
    prices, fines, in_force = dossier.prices, dossier.totals, dossier.orders_in_force
    if prices is None:
        yield KeyFigure("Preço FIPE", _UNAVAILABLE, _NOT_CLEAN, is_known=False)
    elif prices.price_summary is None:
        yield KeyFigure("Preço FIPE", prices.no_price, is_known=False)
    else:
        yield KeyFigure("Preço FIPE", prices.price_summary.text, prices.price_summary.note)
    if prices and prices.best and prices.twelve_months:
        last = prices.best.series.last_real
        until = f"até {formats.month(last.month)}" if last is not None else ""
        yield KeyFigure("FIPE em 12 meses", prices.twelve_months, until)
    if fines is None:
        yield KeyFigure("Multas em aberto", _UNAVAILABLE_MANY, _NOT_CLEAN, is_known=False)
    elif fines.open_count == 0:
        yield KeyFigure("Multas em aberto", "nenhuma", "nos registros consultados")
    else:
        unpriced = f", {fines.without_amount} sem valor informado" if fines.without_amount else ""
        yield KeyFigure(
            "Multas em aberto",
            formats.brl(fines.amount or None),
            f"{fines.open_words}{unpriced}",
        )
    if in_force is None:
        yield KeyFigure("Restrições judiciais", _UNAVAILABLE_MANY, _NOT_CLEAN, is_known=False)
    else:
        yield KeyFigure(
            "Restrições judiciais",
            f"{in_force} em vigor" if in_force else "nenhuma",
            "" if in_force else "nos registros consultados",
        )
