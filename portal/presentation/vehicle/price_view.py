"""The price section: a chart, notes, and a table of versions.

Each version in the table is an entry of the price table that may describe the vehicle.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from portal import formats
from portal.charts.geometry import PriceChart
from portal.charts.price_chart import price_chart
from portal.dossier.prices import LEAST_POINTS, Prices, PriceTab
from portal.presentation.asking_price import ASKING, against_table
from portal.presentation.choice import Choice
from portal.presentation.typed_money import NotMoney, read_money
from portal.presentation.vehicle.query import Query, changed, chosen
from portal.vehicle.fipe import PriceSeries
from portal.wording import NO_BREAK_SPACE, listed

VERSION: Final = "versao"
YEARS: Final = "anos"
_RANGES: Final = (1, 3, 5, 10)
_ANCHOR: Final = "#fipe"


@dataclass(frozen=True, slots=True)
class PriceView:
    """The price section.

    ``headline`` is a price or a price range, or "" if no price is known. ``instead`` is a sentence
    that replaces a missing chart, or "" if there is a ``chart``. ``rows`` are the versions with the
    links that choose them. ``notes`` are sentences about the chosen version. ``asking`` is the
    asking price as the visitor typed it, and ``verdict`` what the page says of it, or "".
    """

    prices: Prices
    tab: PriceTab
    headline: str
    sentence: str
    ranges: tuple[Choice, ...]
    chart: PriceChart | None
    instead: str
    rows: tuple[tuple[PriceTab, Choice], ...]
    notes: tuple[str, ...]
    break_note: str
    asking: str
    asking_is_wrong: bool
    verdict: str
    others: Query  # the visitor's other choices, which the form of the asking price keeps


def price_view(prices: Prices, query: Query) -> PriceView | None:
    """Build the price section, or return None if there is no price-table entry.

    Ignores a choice in ``query`` that the page does not offer, for example a version number that is
    too high.
    """
    if not prices.tabs:
        return None
    number = _number(chosen(query, VERSION))
    is_explicit = 1 <= number <= len(prices.tabs)
    tab = prices.tabs[number - 1 if is_explicit else 0]
    offered = _offered(tab.series)
    length = _number(chosen(query, YEARS))
    years = length if length in offered else None
    asking, wrong = _asking(query)
    chart = _chart(prices, tab, years, asking)
    return PriceView(
        prices=prices,
        tab=tab,
        headline=_headline(prices, tab, is_explicit=is_explicit),
        sentence=_sentence(tab, is_one_of_several=not tab.is_best and len(prices.all) > 1),
        ranges=tuple(_ranges(query, offered, years)) if chart else (),
        chart=chart,
        instead="" if chart else instead_of_chart(tab.series),
        rows=tuple((one, _version(one, query, is_chosen=one is tab)) for one in prices.tabs),
        notes=tuple(_notes(tab)),
        break_note=_break_note(chart),
        asking=chosen(query, ASKING),
        asking_is_wrong=bool(wrong),
        verdict=wrong or ("" if asking is None else _compared(asking, tab, prices, is_explicit)),
        others=tuple((name, value) for name, value in query if name != ASKING),
    )


def _asking(query: Query) -> tuple[Decimal | None, str]:
    """Return the asking price in R$, or None and the message about a text that is no amount."""
    try:
        amount = read_money(chosen(query, ASKING))
    except NotMoney as error:
        return None, str(error)
    return amount or None, ""


def _compared(asking: Decimal, tab: PriceTab, prices: Prices, is_explicit: bool) -> str:
    doubt = tab.no_ceiling if is_explicit else prices.no_ceiling
    return against_table(asking, tab, doubt, names_version=tab.is_tied or is_explicit)


def _headline(prices: Prices, tab: PriceTab, *, is_explicit: bool) -> str:
    """Return the price of the version that the visitor chose, or "" if unknown.

    If the visitor chose no version, return the price or price range of the best matches.
    """
    if is_explicit or len(prices.likeliest) == 1:
        return "" if tab.current is None else formats.price(tab.current)
    summary = prices.price_summary
    return summary.text if summary else ""


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 2 else 0


def _offered(series: PriceSeries) -> tuple[int, ...]:
    """Return the periods of _RANGES (years) that are shorter than the history."""
    first, last = series.first_real, series.last_real
    if first is None or last is None:
        return ()
    months = (last.month.year - first.month.year) * 12 + last.month.month - first.month.month
    return tuple(years for years in _RANGES if years * 12 < months)


def _ranges(query: Query, offered: tuple[int, ...], years: int | None) -> Iterator[Choice]:
    if not offered:
        return
    for one in (*offered, None):
        name = "Tudo" if one is None else f"{one}{NO_BREAK_SPACE}{'ano' if one == 1 else 'anos'}"
        url = changed(query, **{YEARS: str(one) if one else ""}) or "?"
        yield Choice(name, url + _ANCHOR, one == years)


def _version(tab: PriceTab, query: Query, *, is_chosen: bool) -> Choice:
    url = changed(query, **{VERSION: str(tab.number) if tab.number > 1 else ""}) or "?"
    return Choice(tab.label, url + _ANCHOR, is_chosen)


def _chart(
    prices: Prices, tab: PriceTab, years: int | None, asking: Decimal | None
) -> PriceChart | None:
    if len(tab.series.points) < LEAST_POINTS:
        return None
    return price_chart(
        [one.line for one in prices.tabs],
        chosen=tab.number - 1,
        last_months=years * 12 if years else None,
        words=tab.words,
        asking=asking,
    )


def _break_note(chart: PriceChart | None) -> str:
    if chart is None or chart.break_y is None:
        return ""
    return f"o gráfico começa em {chart.prices[0].text}"


def _sentence(tab: PriceTab, *, is_one_of_several: bool) -> str:
    """Describe the price's changes.

    Returns "" if the current price is out of step with the history.
    For example: ``Perdeu 6,6% em 12 meses e 27,3% desde o pico …`` (Lost 6.6 % in 12 months and
    27.3 % since the peak …).
    """
    series = tab.series
    last, peak, year = series.last_real, series.peak, series.twelve_month_change
    if last is None or peak is None or len(series.real) < LEAST_POINTS or tab.history_doubt:
        return ""
    until = "" if tab.words.now else f" (até {formats.month(last.month)})"
    fall, rate = series.change_since_peak, series.yearly_change
    parts = []
    if year is not None:
        if year == 0:
            parts.append(f"tem o mesmo preço de 12 meses antes{until}")
        else:
            verb = "perdeu" if year < 0 else "subiu"
            parts.append(f"{verb} {_points(year)} em 12 meses{until}")
    when = formats.long_month(peak.month)
    if fall is not None and fall < 0:
        if year is not None and year < 0:
            parts[-1] += f" e {_points(fall)} desde o pico de {when}"
        else:
            parts.append(f"está {_points(fall)} abaixo do pico de {when}{'' if parts else until}")
    elif peak.month == last.month:
        parts.append(f"está no maior preço da série{'' if parts else until}")
    if rate:
        if year is not None and year * rate > 0:
            parts.append(f"em média, {_points(rate)} ao ano")
        else:
            parts.append(f"em média, {'perde' if rate < 0 else 'sobe'} {_points(rate)} ao ano")
    text = "; ".join(parts)
    if not text:
        return ""
    return f"A versão escolhida {text}." if is_one_of_several else f"{text[0].upper()}{text[1:]}."


def _points(change: Decimal) -> str:
    return formats.change(change).lstrip("+-\u2212")


def instead_of_chart(series: PriceSeries) -> str:
    if not series.points:
        return "A fonte não traz o histórico de preços desta versão."
    told = [
        f"{formats.long_month(point.month)}, {formats.whole_brl(point.value)}"
        + (" (previsão)" if point.predicted else "")
        for point in series.points
    ]
    months = "um mês" if len(told) == 1 else "dois meses"
    return f"A fonte traz só {months} desta versão, pouco para um gráfico: {listed(told)}."


def _notes(tab: PriceTab) -> Iterator[str]:
    series = tab.series
    if tab.contradiction:
        yield tab.contradiction
    if series.predicted_change is not None:
        change = formats.change(series.predicted_change)
        yield f"{tab.predicted_label}: {change}; {tab.predicted_note}."
    elif series.predicted_tail:
        yield f"{tab.predicted_label}: {tab.predicted_note}."
    if tab.gaps:
        yield f"Meses sem preço: {tab.gaps}."
