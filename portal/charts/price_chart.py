"""Compute the geometry of a price chart from series of monthly prices."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Final

from portal.charts import paths, scale
from portal.charts.axes import has_mixed_units, month_ticks, price_levels, price_ticks, year_bands
from portal.charts.frame import CANVASES, Canvas, Frame, Known, last_real
from portal.charts.geometry import Band, Curve, Layout, Line, Months, Plotted, PriceChart
from portal.charts.price_labels import Words, first_and_peak, labels_at_edge
from portal.charts.runs import lonely, runs

MOST_SERIES: Final = 6
# Only the latest MOST_MONTHS months are drawn. The longest price histories have about 120 months.
MOST_MONTHS: Final = 240
# The price axis starts at zero if the lowest price is below this share of the highest price.
_NEAR_ZERO: Final = 0.4
# These shares of the plot's height stay free. _HEAD is above the highest grid line, for the peak's
# label. _FOOT is below the lowest grid line, for the axis break (the mark of an axis that does not
# start at zero).
_HEAD, _FOOT = 0.1, 0.12
_BREAK_TOP: Final = 0.92
# An asking price is drawn if it is at least this share of the lowest price, and at most this many
# times the highest price.
_LEAST_ASKED, _MOST_ASKED = Decimal("0.7"), Decimal("1.3")
# The normal right margin has room for a price label of _LONGEST_PRICE characters. The normal left
# margin has room for a grid line's label of _LONGEST_TICK characters.
_LONGEST_PRICE, _LONGEST_TICK = 10, 11


def price_chart(
    lines: Sequence[Line],
    *,
    chosen: int = 0,
    last_months: int | None = None,
    layout: Layout = "screen",
    words: Words | None = None,
    asking: Decimal | None = None,
    plot_height: float | None = None,
) -> PriceChart | None:
    """Return the chart of the first MOST_SERIES series.

    Return None if the chosen series has no point.

    ``chosen`` is the index of the chosen series, which is the main series of the chart.
    ``last_months`` is the number of months from the start of the chart to the last real price of
    the chosen series. If ``last_months`` is None, the chart shows all months, up to MOST_MONTHS.
    ``asking`` is a price to draw across the plot, as far as it would not flatten the series.
    ``plot_height`` replaces the height of the layout's plot.
    """
    canvas = CANVASES[layout]
    if plot_height is not None:
        canvas = replace(canvas, plot_height=plot_height)
    shown = tuple(lines[:MOST_SERIES])
    return _draw(shown, chosen, last_months, layout, canvas, words or Words(), asking)


# Drawing six series of ten years takes 3 ms. Without this cache, a page of stored answers would
# exceed the limit of 5 ms of processor time (warm_page in bench/misses.py). The arguments contain
# only public prices, so they may stay in this cache after the portal has deleted the stored
# answers. An entry takes up to 100 kB of memory.
@lru_cache(64)
def _draw(
    lines: tuple[Line, ...],
    chosen: int,
    last_months: int | None,
    layout: Layout,
    canvas: Canvas,
    words: Words,
    asking: Decimal | None,
) -> PriceChart | None:
    every = [_known(line) for line in lines]
    if not 0 <= chosen < len(every) or not every[chosen]:
        return None
    top = _highest(every[chosen])
    first = _first_month(every, chosen, last_months)
    every = [{i: point for i, point in known.items() if i >= first} for known in every]
    mine = every[chosen]
    drawn = [known for known in every if known]
    asked = _near(asking, mine)
    frame = _frame(layout, canvas, drawn, asked)
    zone = _zone(frame, drawn)
    ticks = price_ticks(frame, is_index=words.is_index)
    names = [line.name for line in lines]
    now, ends, asking_label = labels_at_edge(frame, every, names, chosen, words, asked)
    start, peak = first_and_peak(frame, mine, top[0])
    width = canvas.left + canvas.plot_width + canvas.right
    height = canvas.top + canvas.plot_height + canvas.bottom
    break_y = canvas.plot_height * _BREAK_TOP if frame.is_broken else None
    is_fixed = canvas.is_fixed
    return PriceChart(
        layout=layout,
        width=width,
        height=height,
        view_box=f"{-canvas.left:g} {-canvas.top:g} {width:g} {height:g}",
        font_size=canvas.font_size,
        plot_width=canvas.plot_width,
        plot_height=canvas.plot_height,
        bands=tuple(year_bands(frame)),
        zone=zone,
        zone_label=words.predicted if zone else "",
        hatch_path=paths.hatch_path(zone.x, zone.x + zone.width, canvas.plot_height, 7)
        if zone and is_fixed
        else "",
        prices=ticks,
        unit=next((tick.after.strip() for tick in ticks if tick.after), ""),
        months=tuple(month_ticks(frame)),
        break_y=None if break_y is None else frame.rounded(break_y),
        break_path=paths.torn_path(canvas.plot_width, break_y, 7, 3.5)
        if break_y is not None and is_fixed
        else "",
        area_path=paths.area_path(
            runs(mine, frame.drawn(mine), predicted=False), canvas.plot_height * canvas.path_scale
        ),
        chosen=_curve(frame, chosen, lines[chosen], mine),
        others=tuple(
            _curve(frame, number, line, known)
            for number, (line, known) in enumerate(zip(lines, every, strict=True))
            if number != chosen and known
        ),
        start=start if is_fixed else None,
        peak=None if words.is_index else peak,
        now=now,
        ends=ends,
        is_long=words.is_index
        or any(len(text.text) > _LONGEST_PRICE for text in ends)
        or (now is not None and len(now.price) > _LONGEST_PRICE)
        or any(len(tick.text) > _LONGEST_TICK for tick in ticks)
        or has_mixed_units(ticks),
        read=_months(frame, mine, top),
        asking=asking_label,
    )


def _known(line: Line) -> Known:
    """Return a line's points by ``month_index``, the earliest month first.

    If a month has several points, the first real point is used. If all points of the month are
    predictions, the last point is used.
    """
    known: Known = {}
    for point in line.points:
        index = scale.month_index(point.month)
        if index not in known or known[index].predicted:
            known[index] = point
    return dict(sorted(known.items()))


def _first_month(every: Sequence[Known], chosen: int, last_months: int | None) -> int:
    """Return the ``month_index`` of the first month to draw.

    A chart shows at most the last MOST_MONTHS months. If these months contain no point of the
    chosen series, the chart begins with the last month of the chosen series instead.
    """
    newest = max(max(known) for known in every if known)
    oldest = min(newest - MOST_MONTHS + 1, max(every[chosen]))
    if last_months is None:
        return oldest
    last = last_real(every[chosen])
    return max(oldest, (max(every[chosen]) if last is None else last) - last_months)


def _highest(known: Known) -> tuple[int, Decimal]:
    """Return the ``month_index`` and the value of the highest real price.

    If several months have this price, the latest is returned. Returns (0, 0) if the series has no
    real price.
    """
    real = [(point.value, index) for index, point in known.items() if not point.predicted]
    value, index = max(real, default=(Decimal(0), 0))
    return index, value


def _near(asking: Decimal | None, mine: Known) -> float | None:
    """Return the asking price, or None if a chart of this series has no room for it."""
    values = [point.value for point in mine.values()]
    if asking is None or not min(values) * _LEAST_ASKED <= asking <= max(values) * _MOST_ASKED:
        return None
    return float(asking)


def _frame(layout: Layout, canvas: Canvas, drawn: Sequence[Known], asked: float | None) -> Frame:
    values = [float(point.value) for known in drawn for point in known.values()]
    if asked is not None:
        values.append(asked)
    low, high = min(values), max(values)
    is_broken = low > high * _NEAR_ZERO
    levels = price_levels(low if is_broken else min(low, 0.0), high, layout)
    height = canvas.plot_height
    first = min(min(known) for known in drawn)
    last = max(max(known) for known in drawn)
    return Frame(
        canvas=canvas,
        first=first,
        last=last,
        # The first and last points are a little inside the edges, so that the plot does not cut off
        # their dots.
        x=scale.LinearScale(first, last, canvas.plot_width * 0.006, canvas.plot_width * 0.994),
        y=scale.LinearScale(
            levels[0],
            levels[-1],
            height * (1 - _FOOT if is_broken else 1.0),
            height * _HEAD,
        ),
        levels=levels,
        is_broken=is_broken and levels[0] > 0,
    )


def _zone(frame: Frame, drawn: Sequence[Known]) -> Band | None:
    real = [last for known in drawn if (last := last_real(known)) is not None]
    if real and max(real) == frame.last:
        return None
    left = frame.x(max(real)) if real else 0.0
    return Band(frame.rounded(left), frame.rounded(frame.canvas.plot_width - left))


def _curve(frame: Frame, position: int, line: Line, known: Known) -> Curve:
    drawn = frame.drawn(known)
    return Curve(
        number=position + 1,
        name=line.name,
        real_path=paths.line_path(runs(known, drawn, predicted=False)),
        predicted_path=paths.line_path(runs(known, drawn, predicted=True)),
        dots=tuple(frame.dot(index, known[index]) for index in lonely(known)),
        is_mean=line.is_mean,
    )


def _months(frame: Frame, known: Known, highest: tuple[int, Decimal]) -> Months:
    first, last = min(known), max(known)
    indices = range(first, last + 1)
    end = last_real(known)
    return Months(
        first=first,
        values=tuple(_signed(known.get(index)) for index in indices),
        x=(frame.rounded(frame.x(first)), frame.rounded(frame.x(last))),
        y=(frame.rounded(frame.y(frame.levels[0])), frame.rounded(frame.y(frame.levels[-1]))),
        levels=(frame.levels[0], frame.levels[-1]),
        peak=round(highest[1]),
        last_real=(last if end is None else end) - first,
    )


def _signed(point: Plotted | None) -> int:
    if point is None:
        return 0
    value = round(point.value)
    return -value if point.predicted else value
