"""How it is drawn: numbers in, geometry out; no markup, no cars."""

from portal.charts.geometry import Layout, Line, Plotted, PriceChart
from portal.charts.price_chart import Words, price_chart
from portal.charts.scale import month_label

__all__ = ["Layout", "Line", "Plotted", "PriceChart", "Words", "month_label", "price_chart"]
