"""Compute the geometry of a price chart from series of monthly prices."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from portal.charts import paths, scale
from portal.charts.geometry import (
    Anchor,
    Band,
    Curve,
    Dot,
    EndLabel,
    Flag,
    Layout,
    Line,
    Mark,
    Months,
    MonthTick,
    Plotted,
    PriceChart,
    PriceTick,
)
from portal.charts.runs import lonely, runs
from portal.charts.spreading import spread
from portal.wording import NO_BREAK_SPACE, money, month

MOST_SERIES: Final = 6
# Only the latest MOST_MONTHS months are drawn. The longest price histories have half as many.
MOST_MONTHS: Final = 240
# In the layout "screen", the number of SVG path units that equal one per cent of the plot.
SCREEN_PATH_SCALE: Final = 10
# The price axis starts at zero if the lowest price is below this share of the highest one.
_NEAR_ZERO: Final = 0.4
# Shares of the plot's height that stay free: above the highest grid line for the peak's label, and
# below the lowest grid line for the axis break.
_HEAD, _FOOT = 0.1, 0.12
_BREAK_TOP: Final = 0.92
# The weight of the chosen series' label for ``spread``, which moves overlapping labels apart. A
# label with a larger weight moves less. All other labels have the weight 1.
_FLAG_WEIGHT: Final = 20.0
# The number of characters for which the normal margins have room: in a price label on the right,
# and in a grid line's label on the left.
_LONGEST_PRICE, _LONGEST_TICK = 10, 11
_DIGITS = re.compile(r"^(\D*)(.*?)(\D*)$", re.DOTALL)
# The mean width of bold digits and lower-case letters in em, rounded up.
_EM_PER_CHARACTER: Final = 0.6


@dataclass(frozen=True, slots=True)
class Words:
    """The caller's choices for a chart's texts.

    ``now`` is true if the last real price is the current price. If ``now`` is false, the label of
    the last real price also shows the month, because the price may be years old, or a printed
    report may be read much later.
    ``predicted`` is the label of the hatched strip of predictions.
    """

    now: bool = False
    predicted: str = "previsão"


@dataclass(frozen=True, slots=True)
class _Canvas:
    """The size of a plot, and of the margins for the texts around it.

    ``price_ticks`` is the approximate number of price labels. ``is_fixed`` is false in the layout
    "screen", whose units are percentages.
    """

    plot_width: float
    plot_height: float
    left: float = 0
    top: float = 0
    right: float = 0
    bottom: float = 0
    font_size: float = 14
    price_ticks: int = 8
    is_fixed: bool = True


# In the layout "paper", one unit is a quarter of a millimetre, so letters of 12 units measure 8.5
# points. In the layout "compact", for phones, a drawing is 332 units wide. A phone shows it with a
# width of at least 286 px (a screen of 320 px less the margins), so letters of 14 units measure at
# least 12 px.
_CANVASES: Final = MappingProxyType[Layout, _Canvas](
    {
        "screen": _Canvas(100, 100, is_fixed=False),
        "paper": _Canvas(
            342, 110, left=74, top=22, right=96, bottom=22, font_size=12, price_ticks=4
        ),
        "compact": _Canvas(222, 190, left=38, top=26, right=72, bottom=24, price_ticks=5),
    }
)


@dataclass(frozen=True, slots=True)
class _Frame:
    canvas: _Canvas
    first: int
    last: int
    x: scale.LinearScale
    y: scale.LinearScale
    levels: tuple[float, ...]
    is_broken: bool

    def at(self, index: int, point: Plotted) -> paths.Point:
        return self.x(index), self.y(float(point.value))

    def rounded(self, coordinate: float) -> float:
        """Round a coordinate to 0.1 unit, or to 0.01 per cent in the layout "screen"."""
        return round(coordinate, 1 if self.canvas.is_fixed else 2)

    def drawn(self, known: Mapping[int, Plotted]) -> dict[int, paths.Point]:
        """Return the points by month index, in the units of SVG paths."""
        scaled = 1 if self.canvas.is_fixed else SCREEN_PATH_SCALE
        return {
            index: (self.x(index) * scaled, self.y(float(point.value)) * scaled)
            for index, point in known.items()
        }


_Known = dict[int, Plotted]


def price_chart(
    lines: Sequence[Line],
    *,
    chosen: int = 0,
    last_months: int | None = None,
    layout: Layout = "screen",
    words: Words | None = None,
) -> PriceChart | None:
    """Return the chart of the first MOST_SERIES series, or None if the chosen series has no point.

    ``chosen`` is the index of the chosen series, which is the main series of the chart.
    ``last_months`` is the number of months from the start of the chart to the last real price of
    the chosen series. If it is None, the chart shows all months, up to MOST_MONTHS.
    """
    return _draw(tuple(lines[:MOST_SERIES]), chosen, last_months, layout, words or Words())


# Drawing six series of ten years takes 3 ms. Without this cache, a page of stored answers would
# exceed the limit of 5 ms of processor time (warm_page in bench/misses.py). The arguments contain
# only public prices, so they may stay in this cache after the stored answers are deleted. An entry
# takes up to 100 kB of memory.
@lru_cache(64)
def _draw(
    lines: tuple[Line, ...],
    chosen: int,
    last_months: int | None,
    layout: Layout,
    words: Words,
) -> PriceChart | None:
    every = [_known(line) for line in lines]
    if not 0 <= chosen < len(every) or not every[chosen]:
        return None
    top = _highest(every[chosen])
    first = _first_month(every, chosen, last_months)
    every = [{i: point for i, point in known.items() if i >= first} for known in every]
    mine = every[chosen]
    drawn = [known for known in every if known]
    canvas = _CANVASES[layout]
    frame = _frame(canvas, drawn)
    zone = _zone(frame, drawn)
    ticks = _price_ticks(frame)
    now, ends = _labels_at_edge(frame, every, chosen, words)
    start, peak = _marks(frame, mine, top)
    own_runs = list(runs(mine, frame.drawn(mine), predicted=False))
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
        bands=tuple(_bands(frame)),
        zone=zone,
        zone_label=words.predicted if zone else "",
        hatch_path=paths.hatch_path(zone.x, zone.x + zone.width, canvas.plot_height, 7)
        if zone and is_fixed
        else "",
        prices=ticks,
        unit=next((tick.after.strip() for tick in ticks if tick.after), ""),
        months=tuple(_month_ticks(frame)),
        break_y=None if break_y is None else frame.rounded(break_y),
        break_path=paths.torn_path(canvas.plot_width, break_y, 7, 3.5)
        if break_y is not None and is_fixed
        else "",
        area_path=paths.area_path(
            own_runs,
            canvas.plot_height * (1 if is_fixed else SCREEN_PATH_SCALE),
            whole=not is_fixed,
        ),
        chosen=_curve(frame, chosen, lines[chosen], mine),
        others=tuple(
            _curve(frame, number, line, known)
            for number, (line, known) in enumerate(zip(lines, every, strict=True))
            if number != chosen and known
        ),
        start=start if is_fixed else None,
        peak=peak,
        now=now,
        ends=ends,
        is_long=any(len(text.text) > _LONGEST_PRICE for text in ends)
        or (now is not None and len(now.price) > _LONGEST_PRICE)
        or any(len(tick.text) > _LONGEST_TICK for tick in ticks)
        or _is_mixed(ticks),
        read=_months(frame, mine, top),
    )


def _known(line: Line) -> _Known:
    """Return a line's points by ``month_index``, the earliest month first.

    If a month has several points, the first one that is not a prediction is used. If all are
    predictions, the last one is used.
    """
    known: _Known = {}
    for point in line.points:
        index = scale.month_index(point.month)
        if index not in known or known[index].predicted:
            known[index] = point
    return dict(sorted(known.items()))


def _first_month(every: Sequence[_Known], chosen: int, last_months: int | None) -> int:
    """Return the ``month_index`` of the first month to draw.

    A chart shows at most the last MOST_MONTHS months, with one exception. If another series ends so
    late that these months contain no point of the chosen series, the chart begins with the last
    month of the chosen series.
    """
    newest = max(max(known) for known in every if known)
    oldest = min(newest - MOST_MONTHS + 1, max(every[chosen]))
    if last_months is None:
        return oldest
    last = _last_real(every[chosen])
    return max(oldest, (max(every[chosen]) if last is None else last) - last_months)


def _highest(known: _Known) -> tuple[int, Decimal]:
    """Return the ``month_index`` and the value of the highest real price.

    If several months have this price, the latest is returned. Returns (0, 0) if the series has no
    real price.
    """
    real = [(point.value, index) for index, point in known.items() if not point.predicted]
    value, index = max(real, default=(Decimal(0), 0))
    return index, value


def _last_real(known: _Known) -> int | None:
    return max((index for index, point in known.items() if not point.predicted), default=None)


def _frame(canvas: _Canvas, drawn: Sequence[_Known]) -> _Frame:
    values = [float(point.value) for known in drawn for point in known.values()]
    low, high = min(values), max(values)
    is_broken = low > high * _NEAR_ZERO
    for count in range(canvas.price_ticks, 1, -1):
        levels = scale.nice_ticks(low if is_broken else min(low, 0.0), high, count)
        texts = {axis_price(level) for level in levels}
        if len(texts) == len(levels):
            break
    height = canvas.plot_height
    first = min(min(known) for known in drawn)
    last = max(max(known) for known in drawn)
    return _Frame(
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


def _zone(frame: _Frame, drawn: Sequence[_Known]) -> Band | None:
    real = [last for known in drawn if (last := _last_real(known)) is not None]
    if real and max(real) == frame.last:
        return None
    left = frame.x(max(real)) if real else 0.0
    return Band(frame.rounded(left), frame.rounded(frame.canvas.plot_width - left))


def _bands(frame: _Frame) -> Iterator[Band]:
    for year in range(frame.first // 12, frame.last // 12 + 1):
        left, right = _edges(frame, year)
        if year % 2 == 0 and right > left:
            yield Band(frame.rounded(left), frame.rounded(right - left))


def _edges(frame: _Frame, year: int) -> tuple[float, float]:
    """Return the x coordinates of a year's edges, each half a month to the left of a January."""
    width = frame.canvas.plot_width
    if frame.first == frame.last:
        return 0.0, width
    month = (frame.x(frame.last) - frame.x(frame.first)) / (frame.last - frame.first)
    start = frame.x(frame.first) + (year * 12 - frame.first - 0.5) * month
    return min(max(start, 0.0), width), min(max(start + 12 * month, 0.0), width)


def _price_ticks(frame: _Frame) -> tuple[PriceTick, ...]:
    ticks: dict[str, PriceTick] = {}
    for level in frame.levels:
        text = axis_price(level) if level else "0"
        found = _DIGITS.match(text)
        assert found is not None
        ticks.setdefault(text, PriceTick(frame.rounded(frame.y(level)), *found.groups()))
    if frame.is_broken:
        ticks.setdefault("0", PriceTick(frame.canvas.plot_height, "", "0", ""))
    shown = tuple(ticks.values())
    if not _is_mixed(shown):
        return shown
    return tuple(PriceTick(t.y, t.before, f"{t.short}{t.after}", "") for t in shown)


def axis_price(value: float) -> str:
    """Format a short grid-line label: ``R$ 92,5 mil``, ``R$ 1,2 mi``, ``R$ 800``."""
    for size, word in ((1_000_000, "mi"), (1_000, "mil")):
        if abs(value) >= size:
            number = f"{value / size:.1f}".removesuffix(".0").replace(".", ",")
            return f"R${NO_BREAK_SPACE}{number}{NO_BREAK_SPACE}{word}"
    return _price(Decimal(value))


def _price(value: Decimal) -> str:
    return money(value, places=0)


def _is_mixed(ticks: Sequence[PriceTick]) -> bool:
    return len({tick.after for tick in ticks if tick.text != "0"}) > 1


def _month_ticks(frame: _Frame) -> Iterator[MonthTick]:
    span = frame.last - frame.first + 1
    if span > 30:
        yield from _year_ticks(frame, span)
        return
    step = 3 if span <= 18 else 6
    wanted = [i for i in range(frame.first, frame.last + 1) if i % step == 0]
    if len(wanted) < 2:
        wanted = sorted({frame.first, frame.last})
    for index in wanted:
        x = frame.x(index)
        is_minor = index % (6 if span <= 18 else 12) != 0 and len(wanted) > 2
        yield MonthTick(
            frame.rounded(x),
            "",
            month(scale.month_of(index)),
            _anchor(x / frame.canvas.plot_width, 0.1),
            is_minor,
        )


def _year_ticks(frame: _Frame, span: int) -> Iterator[MonthTick]:
    years = range(frame.first // 12, frame.last // 12 + 1)
    # At most eleven years are labelled.
    step = -(-len(years) // 11)
    least = 9 if span > 84 else 6
    for number, year in enumerate(years):
        months = min(frame.last, year * 12 + 11) - max(frame.first, year * 12) + 1
        if months < least or number % step:
            continue
        left, right = _edges(frame, year)
        text = f"{year:04}"
        is_minor = len(years) > 5 and number // step % 2 == 1
        yield MonthTick(frame.rounded((left + right) / 2), text[:2], text[2:], "middle", is_minor)


def _anchor(share: float, edge: float) -> Anchor:
    return "start" if share < edge else "end" if share > 1 - edge else "middle"


def _curve(frame: _Frame, position: int, line: Line, known: _Known) -> Curve:
    drawn = frame.drawn(known)
    whole = not frame.canvas.is_fixed
    return Curve(
        number=position + 1,
        name=line.name,
        real_path=paths.line_path(runs(known, drawn, predicted=False), whole=whole),
        predicted_path=paths.line_path(runs(known, drawn, predicted=True), whole=whole),
        dots=tuple(
            Dot(frame.rounded(x), frame.rounded(y))
            for x, y in (frame.at(index, known[index]) for index in lonely(known))
        ),
    )


def _labels_at_edge(
    frame: _Frame,
    every: Sequence[_Known],
    chosen: int,
    words: Words,
) -> tuple[Flag | None, tuple[EndLabel, ...]]:
    """Return the label of each series' last real price.

    A series whose real prices end before those of the chosen series has no label, because the line
    of its real prices does not reach the edge.
    """
    mine = every[chosen]
    last = _last_real(mine)
    if last is None:
        return None, ()
    ending = [
        number
        for number, known in enumerate(every)
        if number != chosen and (end := _last_real(known)) is not None and end >= last
    ]
    numbers = [chosen, *ending]
    points = [every[number][_last_real(every[number]) or 0] for number in numbers]
    height = frame.canvas.plot_height
    # The heights of an end label and of the flag. In the layout "screen", they are percentages of
    # the plot's height. They are large enough for a plot of 240 px, the smallest height.
    size = frame.canvas.font_size
    label, flag = (1.35 * size, 2.2 * size) if frame.canvas.is_fixed else (7.8, 11.2)
    flag_name = "" if words.now else month(mine[last].month)
    if flag_name:
        flag += label
    # ``spread`` places the middle of the whole flag. If the flag has the month as a second line of
    # text, the flag's middle is ``shift`` lower than the middle of the line with the price.
    shift = label / 2 if flag_name else 0.0
    wanted = [frame.y(float(point.value)) for point in points]
    placed = spread(
        [wanted[0] + shift, *wanted[1:]],
        [flag, *[label] * len(ending)],
        [_FLAG_WEIGHT, *[1.0] * len(ending)],
        0.0,
        height,
    )
    x, y = frame.at(last, mine[last])
    middle = placed[0] - shift
    return (
        Flag(
            frame.rounded(middle),
            frame.rounded(x),
            frame.rounded(y),
            _price(mine[last].value),
            flag_name,
        ),
        tuple(
            EndLabel(number + 1, frame.rounded(at), _price(point.value))
            for number, at, point in zip(ending, placed[1:], points[1:], strict=True)
        ),
    )


def _marks(
    frame: _Frame, known: _Known, highest: tuple[int, Decimal]
) -> tuple[Mark | None, Mark | None]:
    """Return the labels of the first and of the highest real price. Either may be None.

    The last real price gets no label here, because ``_labels_at_edge`` returns one. If the labels
    of the first and the highest price would overlap, the label of the first price is left out.
    """
    real = [index for index, point in known.items() if not point.predicted]
    if len(real) < 3:
        return None, None
    top, _ = highest
    peak = _mark(frame, known, top) if top in real[:-1] else None
    start = _mark(frame, known, real[0]) if real[0] != top else None
    if start and peak and _meet(frame, start, peak):
        start = None
    return start, peak


def _mark(frame: _Frame, known: _Known, index: int) -> Mark:
    canvas = frame.canvas
    x, y = frame.at(index, known[index])
    anchor = _anchor(x / canvas.plot_width, 0.25)
    text, name = _price(known[index].value), month(known[index].month)
    text_y = y
    if canvas.is_fixed:
        left, right = _extent(frame, x, anchor, f"{name} · {text}")
        near = [frame.at(i, p) for i, p in known.items()]
        text_y = min([y, *(b for a, b in near if left <= a <= right)]) - 0.6 * canvas.font_size
    return Mark(
        frame.rounded(x),
        frame.rounded(y),
        frame.rounded(text_y),
        anchor,
        name,
        text,
    )


def _extent(frame: _Frame, x: float, anchor: Anchor, text: str) -> tuple[float, float]:
    # The page prints "pico de " ("peak of", 8 characters) before the month of the highest price.
    width = (len(text) + 8) * frame.canvas.font_size * _EM_PER_CHARACTER
    left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
    return left, left + width


def _meet(frame: _Frame, one: Mark, other: Mark) -> bool:
    a, b = (_extent(frame, m.x, m.anchor, f"{m.month} · {m.price}") for m in (one, other))
    return (
        a[0] < b[1]
        and b[0] < a[1]
        and abs(one.text_y - other.text_y) < 1.4 * frame.canvas.font_size
    )


def _months(frame: _Frame, known: _Known, highest: tuple[int, Decimal]) -> Months:
    first, last = min(known), max(known)
    indices = range(first, last + 1)
    end = _last_real(known)
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
