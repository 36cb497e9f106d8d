"""Chart geometry computed from numbers; independent of markup and of vehicles."""

from portal.charts.geometry import Layout, Line, Plotted, PriceChart
from portal.charts.price_chart import MOST_SERIES, Words, price_chart
from portal.charts.sparkline import Sparkline, sparkline

__all__ = [
    "MOST_SERIES",
    "Layout",
    "Line",
    "Plotted",
    "PriceChart",
    "Sparkline",
    "Words",
    "price_chart",
    "sparkline",
]
