"""The price section: a chart, notes, and a table of versions.

Each version in the table is an entry of the price table that may describe the vehicle.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

from portal import formats
from portal.charts.geometry import PriceChart
from portal.charts.price_chart import price_chart
from portal.charts.scale import month_index
from portal.dossier.prices import LEAST_POINTS, PriceCandidate, Prices
from portal.phrasebook.prices import instead_of_chart, months_of_loss
from portal.presentation.asking_price import ASKING, against_table, cheapest_words
from portal.presentation.choice import Choice
from portal.presentation.query import Query, changed, chosen
from portal.presentation.typed_money import read_money

VERSION: Final = "versao"
YEARS: Final = "anos"
# The periods of the chart, in years.
_RANGES: Final = {1: "1\u00a0ano", 3: "3\u00a0anos", 5: "5\u00a0anos", 10: "10\u00a0anos"}
_ANCHOR: Final = "#fipe"


@dataclass(frozen=True)
class PriceView:
    """The price section: the versions of ``prices``, and what the visitor chose by ``query``.

    A choice that the page does not offer is ignored, for example a version number that is too high.
    """

    prices: Prices
    query: Query

    @cached_property
    def _version(self) -> int:
        """The number of the version that the visitor chose, or 0."""
        number = _number(chosen(self.query, VERSION))
        return number if number <= len(self.prices.tabs) else 0

    @cached_property
    def tab(self) -> PriceCandidate:
        return self.prices.tabs[max(self._version, 1) - 1]

    @cached_property
    def headline(self) -> str:
        """The price of the version that the visitor chose, or "" if unknown.

        Without a choice, it is the price or price range of the best matches.
        """
        if self._version or len(self.prices.likeliest) == 1:
            return "" if self.tab.current is None else formats.price(self.tab.current)
        summary = self.prices.price_summary
        return summary.text if summary else ""

    @cached_property
    def sentence(self) -> str:
        is_one_of_several = not self.tab.is_best and len(self.prices.all) > 1
        return _sentence(self.tab, is_one_of_several=is_one_of_several)

    @cached_property
    def _offered(self) -> tuple[int, ...]:
        """The periods of _RANGES (years) that are shorter than the history."""
        first, last = self.tab.series.first_real, self.tab.series.last_real
        if first is None or last is None:
            return ()
        months = month_index(last.month) - month_index(first.month)
        return tuple(years for years in _RANGES if years * 12 < months)

    @cached_property
    def _years(self) -> int:
        """The period that the visitor chose, or 0 for the whole history."""
        years = _number(chosen(self.query, YEARS))
        return years if years in self._offered else 0

    @cached_property
    def ranges(self) -> Sequence[Choice]:
        if not self.chart or not self._offered:
            return ()
        return [
            Choice(_RANGES.get(years, "Tudo"), self._url(YEARS, years), years == self._years)
            for years in (*self._offered, 0)
        ]

    @cached_property
    def chart(self) -> PriceChart | None:
        if len(self.tab.series.points) < LEAST_POINTS:
            return None
        return price_chart(
            [one.line for one in self.prices.tabs],
            chosen=self.tab.number - 1,
            last_months=self._years * 12 or None,
            words=self.tab.words,
            asking=self._asked[0] or None,
        )

    @property
    def instead(self) -> str:
        """The sentence in place of a chart."""
        return instead_of_chart(self.tab.series, self.tab.decoded.unread)

    @cached_property
    def rows(self) -> Sequence[tuple[PriceCandidate, Choice]]:
        """The versions, with the links that choose them."""
        return [
            (
                tab,
                Choice(
                    tab.label,
                    self._url(VERSION, tab.number if tab.number > 1 else 0),
                    tab is self.tab,
                ),
            )
            for tab in self.prices.tabs
        ]

    @property
    def warnings(self) -> Iterator[str]:
        """Sentences on what is wrong with the chosen version's history."""
        if self.tab.contradiction:
            yield self.tab.contradiction
        if self.tab.gaps:
            yield f"Meses sem preço: {self.tab.gaps}."

    @property
    def forecast(self) -> str:
        """Say how far the source predicts the chosen version's price, or return ""."""
        tab, series = self.tab, self.tab.series
        if not series.predicted_tail:
            return ""
        change = series.predicted_change
        change_words = "" if change is None else f"{formats.change(change)}; "
        return f"{tab.predicted_label}: {change_words}{tab.predicted_note}."

    @property
    def typed(self) -> str:
        """The asking price as the visitor typed it."""
        return chosen(self.query, ASKING)

    @cached_property
    def _asked(self) -> tuple[Decimal | None, str]:
        return read_money(self.typed)

    @property
    def is_mistyped(self) -> bool:
        return bool(self._asked[1])

    @property
    def verdict(self) -> str:
        """What the page says of the asking price, or ""."""
        (asking, problem), tab, is_explicit = self._asked, self.tab, self._version > 0
        if not asking:
            return problem
        doubt = tab.no_ceiling if is_explicit else self.prices.no_ceiling
        if is_explicit:
            return against_table(asking, tab, doubt, of_version="desta versão")
        base = self.prices.ceiling_base
        if base is not None and tab.is_tied:
            return against_table(asking, base, doubt, of_version=cheapest_words(self.prices))
        return against_table(asking, tab, doubt)

    @property
    def loss(self) -> str:
        """Say how many months of its loss an asking price is above the table's, or ""."""
        asking, tab = self._asked[0], self.tab
        if not asking or tab.current is None or tab.is_tied or tab.no_ceiling:
            return ""
        return months_of_loss(asking - tab.current, tab.series.monthly_change)

    @property
    def others(self) -> Query:
        """The visitor's other choices, which the form of the asking price keeps."""
        return tuple((name, value) for name, value in self.query if name != ASKING)

    def _url(self, name: str, number: int) -> str:
        """Return the address of the page with another choice. 0 stands for no choice."""
        return (changed(self.query, **{name: str(number or "")}) or "?") + _ANCHOR


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 2 else 0


def _sentence(tab: PriceCandidate, *, is_one_of_several: bool) -> str:
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
