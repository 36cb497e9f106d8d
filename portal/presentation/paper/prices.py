"""The printed prices from FIPE, the Brazilian vehicle price table.

A candidate is an entry of the price table that may describe the vehicle. The dossier prints the
price and the trend of every listed candidate, because the likeliest candidate may be wrong. The
chart and the table of monthly prices show only the likeliest candidate.
"""

from collections.abc import Iterator

from portal import formats
from portal.charts.geometry import PriceChart
from portal.charts.price_chart import price_chart
from portal.charts.price_labels import Words
from portal.dossier.prices import LEAST_POINTS, PriceCandidate, Prices
from portal.phrasebook.prices import instead_of_chart
from portal.presentation.paper.first_sheet import LEAST_PLOT
from portal.vehicle.version_names import version_name

# A caption, "" if there is only one candidate, and the chart for paper and for a phone.
PaperChart = tuple[str, PriceChart, PriceChart]


def has_chart(prices: Prices) -> bool:
    """Return whether the likeliest candidate's history is long enough to be drawn."""
    return prices.best is not None and len(prices.best.series.points) >= LEAST_POINTS


def paper_chart(prices: Prices, plot_height: int = LEAST_PLOT) -> PaperChart | None:
    """Return the chart of the likeliest candidate, or None if its history is too short.

    ``plot_height`` is that of the plot on paper, in units of the drawing.
    """
    tab = prices.best
    if tab is None or not has_chart(prices):
        return None
    words = Words(predicted=tab.words.predicted)
    chart = price_chart([tab.line], layout="paper", words=words, plot_height=plot_height)
    narrow = price_chart([tab.line], layout="compact", words=words)
    return (_caption(tab, prices), chart, narrow) if chart and narrow else None


def _caption(tab: PriceCandidate, prices: Prices) -> str:
    if len(prices.all) == 1:
        return ""
    tied = len(prices.likeliest)
    rank = f"uma das {tied} versões que empatam" if tied > 1 else "a versão mais provável"
    return f"No gráfico: {version_name(tab.label)}, {rank}."


def paper_doubts(tab: PriceCandidate) -> Iterator[str]:
    """Yield the sentences that make the price of a candidate doubtful."""
    if tab.is_foreign:
        yield "A tabela trouxe outro veículo: este não é o preço do veículo deste dossiê."
        return
    if tab.contradiction:
        yield tab.contradiction
    for doubt in tab.doubts:
        yield f"{doubt.title}. {doubt.sentence}"


def price_facts(tab: PriceCandidate) -> Iterator[str]:
    """Yield sentences on a candidate's match with the vehicle and on its price history."""
    if tab.is_foreign:
        # Anything else would read as a price of the dossier's vehicle.
        if tab.described:
            yield f"Marca e modelo na tabela: {tab.described}."
        return
    series, peak = tab.series, tab.series.peak
    yield tab.reason
    if tab.contradiction:
        yield tab.contradiction
    if tab.described:
        yield f"Marca e modelo na tabela: {tab.described}."
    if len(series.points) < LEAST_POINTS:
        yield instead_of_chart(series, tab.decoded.unread)
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
