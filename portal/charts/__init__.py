"""How it is drawn: numbers in, geometry out; no markup, no cars."""

from portal.charts.geometry import Layout, Line, Plotted, PriceChart
from portal.charts.price_chart import Words, price_chart

__all__ = ["Layout", "Line", "Plotted", "PriceChart", "Words", "price_chart"]
