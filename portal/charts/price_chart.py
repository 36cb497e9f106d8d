"""Compute the geometry of a price chart from series of monthly prices."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from math import ceil, isfinite
from types import MappingProxyType

from portal.charts import labelling, paths, scale, tracing
from portal.charts.geometry import (
    Box,
    Label,
    Layout,
    Line,
    Plotted,
    PriceChart,
    Tick,
)
from portal.charts.labelling import Area
from portal.charts.tracing import Known

MOST_SERIES = 6
# Twice the months that a page must show. Of a longer series only the latest months are drawn.
MOST_MONTHS = 240


@dataclass(frozen=True, slots=True)
class Words:
    """The Portuguese words in the chart.

    ``now`` labels the last real month if that is the current one. With "" the label is the
    month's own name, because a table may have ended years ago and a printed report is read
    later.
    """

    start: str = "início"
    peak: str = "pico"
    now: str = ""
    joined: str = " e "
    predicted: str = "previsão"


@dataclass(frozen=True, slots=True)
class _Sheet:
    width: int
    height: int
    font_size: int
    price_ticks: int
    month_ticks: int
    # Space below the lowest grid line for the label of a price that ends there, in font sizes.
    foot: float = 0.0


# Letters are 12 px or more wherever a sheet is shown: the compact sheet from 286 px (a 320 px
# screen less its margins), the wide one from 576 px. The paper sheet is 128 mm wide, beside the
# key figures. It has fewer texts, because WeasyPrint lays out an SVG's text letter by
# letter.
_SHEETS: MappingProxyType[Layout, _Sheet] = MappingProxyType(
    {
        "wide": _Sheet(width=720, height=340, font_size=15, price_ticks=6, month_ticks=24),
        "compact": _Sheet(
            width=332, height=260, font_size=14, price_ticks=5, month_ticks=24, foot=1.75
        ),
        "paper": _Sheet(width=480, height=160, font_size=12, price_ticks=4, month_ticks=6),
    }
)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The scales of one chart and the plot's area in the sheet."""

    sheet: _Sheet
    plot: Area
    first: int
    last: int
    x: scale.LinearScale
    y: scale.LinearScale

    def at(self, index: int, point: Plotted) -> paths.Point:
        return round(self.x(index), 1), round(self.y(float(point.value)), 1)


def price_chart(
    lines: Sequence[Line],
    *,
    layout: Layout = "wide",
    price_axis: Callable[[float], str],
    price: Callable[[Decimal], str],
    month: Callable[[date], str],
    words: Words | None = None,
) -> PriceChart | None:
    """Return the chart of the first six series; None where no point can be drawn.

    ``price_axis`` formats the value of a grid line ("R$ 90 mil"), ``price`` an exact value
    ("R$ 89.325"), ``month`` a month ("jan/25"). Points that cannot be drawn are skipped, never
    an error.
    """
    words = words or Words()
    drawn = [(line, known) for line in lines[:MOST_SERIES] if (known := _known(line))]
    if not drawn:
        return None
    last = max(max(known) for _, known in drawn)
    oldest = last - MOST_MONTHS + 1
    drawn = [(a, {i: p for i, p in b.items() if i >= oldest}) for a, b in drawn]
    drawn = [(line, known) for line, known in drawn if known]
    every = [known for _, known in drawn]

    sheet = _SHEETS[layout]
    levels, texts = _price_levels(every, sheet, price_axis)
    frame = _frame(sheet, every, levels, texts)
    zone = _zone(frame, every)
    zone_label = _zone_label(frame, zone, words)
    taken = [_label_area(zone_label, sheet)] if zone_label else []
    return PriceChart(
        layout=layout,
        width=sheet.width,
        height=sheet.height,
        view_box=f"0 0 {sheet.width} {sheet.height}",
        font_size=sheet.font_size,
        plot=_box(frame.plot),
        zone=_box(zone) if zone else None,
        zone_label=zone_label,
        months=_month_ticks(frame, month),
        prices=_price_ticks(frame, levels, texts),
        series=tuple(
            tracing.trace(
                number,
                line.name,
                known,
                {index: frame.at(index, point) for index, point in known.items()},
                siblings=len(drawn),
                hit_text=lambda point: f"{month(point.month)}: {price(point.value)}",
                price=lambda point: price(point.value),
            )
            for number, (line, known) in enumerate(drawn, start=1)
        ),
        # With several series a label could be read as another series' price; the key shows
        # every price.
        labels=tuple(
            _labels(frame, every[0], taken, price, _with_month_name(words, every[0], month))
        )
        if len(every) == 1
        else (),
    )


def _known(line: Line) -> dict[int, Plotted]:
    """Return the drawable points by month, in order; a real one replaces a prediction."""
    known: dict[int, Plotted] = {}
    for point in line.points:
        # The conversion to float raises for a signalling NaN and gives infinity for a huge
        # decimal.
        if not (point.value.is_finite() and isfinite(float(point.value))):
            continue
        index = scale.month_index(point.month)
        if index not in known or known[index].predicted:
            known[index] = point
    return dict(sorted(known.items()))


def _price_levels(
    every: Sequence[Known], sheet: _Sheet, price_axis: Callable[[float], str]
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Return grid values and their texts; fewer where rounding would repeat a text."""
    values = [float(point.value) for known in every for point in known.values()]
    low, high = min(values), max(values)
    for count in range(sheet.price_ticks, 1, -1):
        levels = scale.nice_ticks(low, high, count)
        texts = tuple(price_axis(level) for level in levels)
        if len(set(texts)) == len(texts):
            break
    return levels, texts


def _frame(
    sheet: _Sheet, every: Sequence[Known], levels: tuple[float, ...], texts: tuple[str, ...]
) -> _Frame:
    size = sheet.font_size
    widest = max(labelling.text_width(text, size) for text in texts)
    plot = Area(
        left=round(min(widest + 10, sheet.width * 0.4), 1),
        top=size * 2.5,
        right=sheet.width - 12.0,
        bottom=sheet.height - size * 2.0,
    )
    first = min(min(known) for known in every)
    last = max(max(known) for known in every)
    return _Frame(
        sheet=sheet,
        plot=plot,
        first=first,
        last=last,
        # The first point keeps a distance from the price axis, so that its dot is not on it.
        x=scale.LinearScale(first, last, plot.left + 6, plot.right - 4),
        y=scale.LinearScale(levels[0], levels[-1], plot.bottom - size * sheet.foot, plot.top),
    )


def _zone(frame: _Frame, every: Sequence[Known]) -> Area | None:
    """Return the area from the last real month on; None without predictions."""
    real = [index for known in every for index, point in known.items() if not point.predicted]
    if real and max(real) == frame.last:
        return None
    left = frame.x(max(real)) if real else frame.plot.left
    return Area(round(left, 1), frame.plot.top, frame.plot.right, frame.plot.bottom)


def _zone_label(frame: _Frame, zone: Area | None, words: Words) -> Label | None:
    if zone is None:
        return None
    x, y = frame.plot.right, round(frame.plot.top - frame.sheet.font_size * 0.5, 1)
    return Label("predicted", x, y, "end", words.predicted, x, y)


def _label_area(label: Label, sheet: _Sheet) -> Area:
    return labelling.text_area(label.x, label.y, label.anchor, label.text, sheet.font_size)


def _month_ticks(frame: _Frame, month: Callable[[date], str]) -> tuple[Tick, ...]:
    size = frame.sheet.font_size
    names = {i: month(scale.month_of(i)) for i in range(frame.first, frame.last + 1)}
    widest = max(labelling.text_width(name, size) for name in names.values())
    room = int((frame.plot.right - frame.plot.left) / (widest + size))
    most = min(max(room, 1), frame.sheet.month_ticks)
    ticks = []
    for index in scale.month_ticks(frame.first, frame.last, most):
        at = frame.x(index)
        # A text at the edge is moved inside; its grid line stays at the month.
        middle = min(max(at, widest / 2 + 1), frame.sheet.width - widest / 2 - 1)
        baseline = frame.plot.bottom + size * 1.5
        ticks.append(Tick(round(at, 1), round(middle, 1), round(baseline, 1), names[index]))
    return tuple(ticks)


def _price_ticks(
    frame: _Frame, levels: tuple[float, ...], texts: tuple[str, ...]
) -> tuple[Tick, ...]:
    ticks: dict[str, Tick] = {}
    for level, text in zip(levels, texts, strict=True):
        at = frame.y(level)
        baseline = at + frame.sheet.font_size * 0.35
        ticks.setdefault(
            text, Tick(round(at, 1), round(frame.plot.left - 6, 1), round(baseline, 1), text)
        )
    return tuple(ticks.values())


def _with_month_name(words: Words, known: Known, month: Callable[[date], str]) -> Words:
    """Return the words with ``now`` set to the last real month's name where it is ""."""
    last = max((point.month for point in known.values() if not point.predicted), default=None)
    return words if words.now or last is None else replace(words, now=month(last))


def _labels(
    frame: _Frame,
    known: Known,
    taken: list[Area],
    price: Callable[[Decimal], str],
    words: Words,
) -> Iterator[Label]:
    """Yield the labels of the current price, peak and start that have space."""
    size = frame.sheet.font_size
    bounds = Area(frame.plot.left, 1, frame.sheet.width - 1.0, frame.plot.bottom - 1)
    line = tuple(_drawn_points(frame, known))
    for index, kinds in _marked(known).items():
        at = frame.at(index, known[index])
        name = words.joined.join(getattr(words, kind) for kind in kinds)
        exact = price(known[index].value)
        # The start can be read from the axes. The current price and the peak are labelled
        # wherever a place is free, if necessary without their names.
        must_show = kinds != ["start"]
        place = labelling.place_beside(
            at,
            (f"{name} {exact}", exact) if must_show else (f"{name} {exact}",),
            size,
            bounds=bounds,
            taken=taken,
            line=line,
            must_show=must_show,
        )
        if place:
            taken.append(place.area)
            x, y = round(place.x, 1), round(place.y, 1)
            yield Label(" ".join(kinds), x, y, place.anchor, place.text, *at)


def _drawn_points(frame: _Frame, known: Known) -> Iterator[paths.Point]:
    """Yield the line's points, with interpolated ones between neighbour months.

    Along a line each point is at most half a letter from the next, so that a label avoids a
    steep line as well.
    """
    before: tuple[int, paths.Point] | None = None
    for index, point in known.items():
        x, y = frame.at(index, point)
        if before is not None and before[0] == index - 1:
            x0, y0 = before[1]
            steps = ceil(max(abs(x - x0), abs(y - y0)) / 4)
            for step in range(1, steps):
                yield x0 + (x - x0) * step / steps, y0 + (y - y0) * step / steps
        yield x, y
        before = index, (x, y)


def _marked(known: Known) -> dict[int, list[str]]:
    """Return the months to label, the most important first, each with its kinds."""
    real = [index for index, point in known.items() if not point.predicted]
    if not real:
        return {}
    marked = {real[-1]: ["now"]}
    if len(real) > 1:
        peak = max(real, key=lambda index: (known[index].value, index))
        marked.setdefault(peak, []).append("peak")
        marked.setdefault(real[0], []).append("start")
    return marked


def _box(area: Area) -> Box:
    left, top = round(area.left, 1), round(area.top, 1)
    return Box(left, top, round(area.right - left, 1), round(area.bottom - top, 1))
