"""Compute the geometry of charts, which the HTML templates draw."""

from portal.charts.bars import Bar, BarChart, Part, bar_chart, row_parts
from portal.charts.geometry import Layout, Line, PriceChart
from portal.charts.price_chart import MOST_SERIES, price_chart
from portal.charts.price_labels import Words
from portal.charts.sparkline import Sparkline, sparkline

__all__ = [
    "MOST_SERIES",
    "Bar",
    "BarChart",
    "Layout",
    "Line",
    "Part",
    "PriceChart",
    "Sparkline",
    "Words",
    "bar_chart",
    "price_chart",
    "row_parts",
    "sparkline",
]
