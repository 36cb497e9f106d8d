"""Chart geometry computed from numbers; independent of markup and of vehicles."""

from portal.charts.geometry import Layout, Line, Plotted, PriceChart
from portal.charts.price_chart import Words, price_chart

__all__ = ["Layout", "Line", "Plotted", "PriceChart", "Words", "price_chart"]
