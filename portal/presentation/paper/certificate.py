"""Computes the dossier's key figures and decides which parts fit on the first sheet."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from portal.presentation import formats
from portal.presentation.vehicle.contents import VehicleContents

_UNAVAILABLE: Final = "indisponível"
_UNAVAILABLE_MANY: Final = "indisponíveis"
_NOT_CLEAN: Final = "não significa “nada consta”"
# Limits for the total length of the verdict's texts, in characters. Above _MOST_BESIDE_FACTS, the
# first sheet has no room for the vehicle's attributes. Above _MOST_BESIDE_CHART, this sheet has no
# room for the price chart either.
_MOST_BESIDE_FACTS: Final = 1600
_MOST_BESIDE_CHART: Final = 1750


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


def first_sheet(contents: VehicleContents) -> FirstSheet:
    """Return which parts fit on the first sheet beside the verdict's texts."""
    summary = contents.summary
    texts = [reason.sentence for reason in summary.reasons]
    texts += [cell.row.why for cell in summary.matrix]
    letters = sum(map(len, texts))
    return FirstSheet(letters <= _MOST_BESIDE_FACTS, letters <= _MOST_BESIDE_CHART)


def key_figures(contents: VehicleContents) -> Iterator[KeyFigure]:
    """Yield the price, its change in 12 months, the fines and the court restrictions.

    An unknown price change is left out. Each of the other figures reads "indisponível"
    (unavailable), never zero, if its lookup has no readable answer.
    """
    summary = contents.summary
    if not summary.price_is_known:
        yield KeyFigure("Preço FIPE", _UNAVAILABLE, _NOT_CLEAN, is_known=False)
    elif summary.likely_price is None:
        yield KeyFigure("Preço FIPE", summary.no_price, is_known=False)
    else:
        yield KeyFigure("Preço FIPE", summary.likely_price.text, summary.likely_price.note)
    prices = contents.facts.prices if contents.facts else None
    if prices and prices.best and prices.twelve_months:
        last = prices.best.series.last_real
        until = f"até {formats.month(last.month)}" if last is not None else ""
        yield KeyFigure("FIPE em 12 meses", prices.twelve_months, until)
    fines = summary.fines
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
    if summary.restrictions is None:
        yield KeyFigure("Restrições judiciais", _UNAVAILABLE_MANY, _NOT_CLEAN, is_known=False)
    else:
        count = summary.restrictions
        yield KeyFigure(
            "Restrições judiciais",
            f"{count} em vigor" if count else "nenhuma",
            "" if count else "nos registros consultados",
        )
