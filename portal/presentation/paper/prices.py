"""The printed prices from FIPE, the Brazilian vehicle price table.

A candidate is an entry of the price table that may describe the vehicle. The dossier prints the
price and the trend of every listed candidate, because the likeliest candidate may be wrong. The
chart and the table of monthly prices show only the likeliest candidate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from portal import formats
from portal.charts import Layout, PriceChart, Words, price_chart
from portal.dossier.prices import (
    MOST_LISTED,
    NOTHING_TO_COMPARE,
    Prices,
    PriceTab,
)
from portal.formats import field_text
from portal.presentation.vehicle.price_view import LEAST_POINTS, instead_of_chart
from portal.vehicle.source_text import sentence

# A row of twelve prices fits on a screen if each price has at most this many characters, such as
# "115.431*". If a price is longer, the table of monthly prices gets wider columns and scrolls.
_LONGEST_OF_TWELVE = 8


@dataclass(frozen=True, slots=True)
class PaperVersion:
    """A candidate's row in the table of all candidates.

    ``facts`` are sentences on the match with the vehicle and on the price history. ``is_foreign``
    is true for an entry of another make or model.
    """

    label: str
    badge: str
    code: str
    fuel: str
    price: str
    twelve_months: str
    facts: str
    doubt: str
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class PaperChart:
    """The price chart in two layouts: ``chart`` for paper, ``narrow`` for a phone.

    ``caption`` names the candidate in the chart, or is "" if there is only one candidate.
    """

    caption: str
    chart: PriceChart
    narrow: PriceChart
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class PaperPrices:
    """The price section. ``chart`` and ``months`` are None if there is no price history.

    ``months`` is the candidate whose monthly prices are printed in a table. ``is_wide`` is true if
    this table needs wider columns.
    """

    versions: tuple[PaperVersion, ...]
    omitted: int
    chart: PaperChart | None
    months: PriceTab | None
    is_wide: bool


def paper_prices(prices: Prices) -> PaperPrices:
    """Build the price section of all candidates, the likeliest first."""
    best = prices.best
    years = best.years if best else ()
    return PaperPrices(
        versions=tuple(
            [_version(tab) for tab in prices.listed]
            + [_foreign(tab) for tab in prices.foreign[:MOST_LISTED]]
        ),
        omitted=prices.omitted,
        chart=_chart_of(best, prices) if best else None,
        months=best if years else None,
        is_wide=any(len(price) > _LONGEST_OF_TWELVE for row in years for price in row.prices),
    )


def _foreign(tab: PriceTab) -> PaperVersion:
    """Return the row of another vehicle's entry, without what would read as this one's price."""
    return replace(
        _version(tab),
        badge="outro veículo",
        facts=f"Marca e modelo na tabela: {tab.described}." if tab.described else "",
        doubt="A tabela trouxe outro veículo: este não é o preço do veículo deste dossiê.",
        is_foreign=True,
    )


def _version(tab: PriceTab) -> PaperVersion:
    change = tab.series.twelve_month_change
    return PaperVersion(
        label=tab.label,
        badge=tab.badge,
        code=_code(tab),
        fuel=field_text(sentence(tab.entry.fuel)),
        price=_price_words(tab),
        twelve_months=NOTHING_TO_COMPARE if change is None else formats.change(change),
        facts=" ".join(_facts(tab)),
        doubt=f"O preço atual e o histórico não combinam. {tab.doubt}" if tab.doubt else "",
    )


def _chart_of(tab: PriceTab, prices: Prices) -> PaperChart | None:

    def drawn(layout: Layout) -> PriceChart | None:
        return price_chart([tab.line], layout=layout, words=Words(predicted=tab.words.predicted))

    if len(tab.series.points) < LEAST_POINTS:
        return None
    chart, narrow = drawn("paper"), drawn("compact")
    if chart is None or narrow is None:
        return None
    return PaperChart(_caption(tab, prices), chart, narrow, tab.chart_title, tab.chart_description)


def _caption(tab: PriceTab, prices: Prices) -> str:
    if len(prices.all) == 1:
        return ""
    tied = len(prices.likeliest)
    rank = f"uma das {tied} versões que empatam" if tied > 1 else "a versão mais provável"
    return f"No gráfico: {tab.label}, {rank}."


def _facts(tab: PriceTab) -> Iterator[str]:
    series, peak = tab.series, tab.series.peak
    yield tab.reason
    yield from filter(None, (tab.year_note, tab.contradiction))
    if tab.described:
        yield f"Marca e modelo na tabela: {tab.described}."
    if len(series.points) < LEAST_POINTS:
        yield instead_of_chart(series)
    if not series:
        return
    if series.last_real is not None:
        yield f"Último preço do histórico: {formats.month(series.last_real.month)}."
    if peak is not None:
        since = formats.change(series.change_since_peak)
        yield f"Desde o pico ({formats.month(peak.month)}): {since}."
    if series.yearly_change is not None:
        yield f"Variação média ao ano: {formats.change(series.yearly_change)}."
    if series.predicted_change is not None:
        ahead = formats.change(series.predicted_change)
        yield f"{tab.predicted_label}: {ahead} ({tab.predicted_note})."
    if tab.gaps:
        yield f"Meses sem preço: {tab.gaps}."


def _price_words(tab: PriceTab) -> str:
    unread = tab.unread_price
    return formats.price(tab.current) if unread.state == "empty" else field_text(unread)


def _code(tab: PriceTab) -> str:
    if tab.code is None:
        return field_text(tab.entry.fipe_id)
    return f"{tab.code}" if tab.code.is_verified else f"{tab.code} (dígito não confere)"
