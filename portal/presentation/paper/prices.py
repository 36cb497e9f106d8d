"""FIPE prices in print: all versions, their charts, and one month table.

A buyer needs each candidate's current price and its trend, because the vehicle's documents may
show that it is not the likeliest version. The month table is read for one version at most, so the
dossier prints it for the likeliest version only and says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from portal.charts import Layout, PriceChart, Words, price_chart
from portal.presentation import formats
from portal.presentation.source_text import sentence
from portal.presentation.vehicle.prices import (
    MOST_TABS,
    NOTHING_TO_COMPARE,
    Prices,
    PriceTab,
    axis_price,
)
from portal.vehicle import PricePoint

_QUARTERS = range(0, 12, 3)
# The length of "115.431*". Twelve cells of this length fit side by side on a screen; longer ones do
# not.
_LONGEST_OF_TWELVE = 8


@dataclass(frozen=True, slots=True)
class PaperVersion:
    """A candidate's formatted row in the table of all candidates."""

    label: str
    code: str
    fuel: str
    price: str
    twelve_months: str


@dataclass(frozen=True, slots=True)
class PaperChart:
    """A candidate with its chart.

    ``chart`` is the flat print layout, ``narrow_chart`` the one for phones. Both are None where no
    month can be drawn.
    """

    tab: PriceTab
    price: str
    facts: str
    chart: PriceChart | None
    narrow_chart: PriceChart | None


@dataclass(frozen=True, slots=True)
class PaperYear:
    """A row of the month table: a year and its four quarters.

    Each quarter is one cell with three prices separated by tabs, because a cell costs the PDF
    renderer as much as two lines of text.
    """

    year: int
    quarters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PaperMonths:
    """The months of one candidate.

    ``is_wide``: the prices are too long for twelve of them to fit side by side on a screen.
    """

    label: str
    years: tuple[PaperYear, ...]
    has_predictions: bool
    is_wide: bool


@dataclass(frozen=True, slots=True)
class PaperPrices:
    """The price section.

    ``versions`` are all candidates, ``charts`` those of the first six. ``months`` are the
    likeliest candidate's, None where it has none.
    """

    versions: tuple[PaperVersion, ...]
    charts: tuple[PaperChart, ...]
    months: PaperMonths | None


def paper_prices(prices: Prices) -> PaperPrices:
    """The price section of all candidates, the likeliest first."""
    return PaperPrices(
        versions=tuple(_version(tab) for tab in (*prices.tabs, *prices.others)),
        charts=tuple(_charted(tab) for tab in prices.tabs),
        months=_months(prices.best),
    )


def _months(best: PriceTab | None) -> PaperMonths | None:
    if best is None or not best.years:
        return None
    years = tuple(
        PaperYear(
            row.year, tuple("\t".join(map(_price, row.months[at : at + 3])) for at in _QUARTERS)
        )
        for row in best.years
    )
    longest = max(len(_price(point)) for row in best.years for point in row.months)
    return PaperMonths(best.label, years, best.has_predictions, longest > _LONGEST_OF_TWELVE)


def _price(point: PricePoint | None) -> str:
    if point is None:
        return "—"
    return formats.integer(point.value) + ("*" if point.predicted else "")


def _version(tab: PriceTab) -> PaperVersion:
    change = tab.series.twelve_month_change
    # The charts of the first candidates carry their make and model.
    described = f" ({tab.described})" if tab.described and tab.number > MOST_TABS else ""
    return PaperVersion(
        label=f"{tab.label}{described}",
        code=_code(tab),
        fuel=_fuel(tab),
        price=_price_words(tab),
        twelve_months=NOTHING_TO_COMPARE if change is None else formats.change(change),
    )


def _charted(tab: PriceTab) -> PaperChart:
    return PaperChart(
        tab=tab,
        price=_price_words(tab),
        facts=" ".join(_facts(tab)),
        chart=_chart(tab, "paper"),
        narrow_chart=_chart(tab, "compact"),
    )


def _chart(tab: PriceTab, layout: Layout) -> PriceChart | None:
    """The candidate's chart; its last month has its name, because print is read later."""
    return price_chart(
        [tab.line],
        layout=layout,
        price_axis=axis_price,
        price=formats.whole_brl,
        month=formats.month,
        words=Words(predicted=tab.words.predicted),
    )


def _facts(tab: PriceTab) -> Iterator[str]:
    series, peak = tab.series, tab.series.peak
    yield f"Código FIPE: {_code(tab)}."
    if tab.described:
        yield f"Marca e modelo na tabela: {tab.described}."
    yield f"Combustível na tabela: {_fuel(tab)}."
    if not series:
        return
    change, last = series.twelve_month_change, series.last_real
    until = f" (até {formats.month(last.month)})" if last is not None else ""
    change_text = NOTHING_TO_COMPARE if change is None else formats.change(change)
    yield f"Em 12 meses{until}: {change_text}."
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


def _fuel(tab: PriceTab) -> str:
    fuel = sentence(tab.entry.fuel)
    return _words(fuel.value, is_hidden=fuel.is_hidden)


def _price_words(tab: PriceTab) -> str:
    unread = tab.unread_price
    if unread.state == "empty":
        return formats.brl(tab.current)
    return _words(unread.value, is_hidden=unread.is_hidden)


def _code(tab: PriceTab) -> str:
    if tab.code is None:
        return _words(tab.entry.fipe_id.value, is_hidden=tab.entry.fipe_id.is_hidden)
    return f"{tab.code}" if tab.code.is_verified else f"{tab.code} (dígito não confere)"


def _words(value: str, *, is_hidden: bool) -> str:
    return value or ("oculto pela fonte" if is_hidden else formats.MISSING)
