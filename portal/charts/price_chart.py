"""From series of monthly prices to the geometry of their chart."""

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
# Twice what a page is asked to show; a source with more gets its latest months drawn.
MOST_MONTHS = 240


@dataclass(frozen=True, slots=True)
class Words:
    """The words of the picture, as a reader of Portuguese expects them.

    ``now`` names the last real month where that is the present one; "": its own name does, for a
    table may have ended years ago, and paper is read later than it was printed.
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
    # Room beneath the lowest grid line for the label of a price that ends there, in letters.
    foot: float = 0.0


# Letters are 12 px or more where a sheet is shown: the compact one from 286 px on, a 320 px
# screen less its margins, the wide one from 576 px on. That of paper lies flat, three to
# a page across 180 mm, and says less: WeasyPrint sets the text of an SVG letter by letter.
_SHEETS: MappingProxyType[Layout, _Sheet] = MappingProxyType(
    {
        "wide": _Sheet(width=720, height=340, font_size=15, price_ticks=6, month_ticks=24),
        "compact": _Sheet(
            width=332, height=260, font_size=14, price_ticks=5, month_ticks=24, foot=1.75
        ),
        "paper": _Sheet(width=720, height=196, font_size=12, price_ticks=4, month_ticks=6),
    }
)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The scales of one chart, and the plot's area in the sheet."""

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
    """The chart of the first six series; None where no point can be drawn.

    ``price_axis`` words a grid line ("R$ 90 mil"), ``price`` an exact value ("R$ 89.325"),
    ``month`` a month ("jan/25"). Never raises for odd points: they are left out.
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
                says=lambda point: f"{month(point.month)}: {price(point.value)}",
                price=lambda point: price(point.value),
            )
            for number, (line, known) in enumerate(drawn, start=1)
        ),
        # Of several series a price would be read as its neighbour's; the key has them all.
        labels=tuple(_labels(frame, every[0], taken, price, _named(words, every[0], month)))
        if len(every) == 1
        else (),
    )


def _known(line: Line) -> dict[int, Plotted]:
    """Drawable points by month, in order; of two for one month the real one counts."""
    known: dict[int, Plotted] = {}
    for point in line.points:
        # A signalling NaN raises on the way to float; a huge decimal becomes infinite there.
        if not (point.value.is_finite() and isfinite(float(point.value))):
            continue
        index = scale.month_index(point.month)
        if index not in known or known[index].predicted:
            known[index] = point
    return dict(sorted(known.items()))


def _price_levels(
    every: Sequence[Known], sheet: _Sheet, price_axis: Callable[[float], str]
) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Grid values and their texts; fewer where rounding would give two the same text."""
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
        # The first point keeps off the price axis, where its dot would sit on the line.
        x=scale.LinearScale(first, last, plot.left + 6, plot.right - 4),
        y=scale.LinearScale(levels[0], levels[-1], plot.bottom - size * sheet.foot, plot.top),
    )


def _zone(frame: _Frame, every: Sequence[Known]) -> Area | None:
    """From the last real month of any series to the right edge; None without predictions."""
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
        # A text at the edge moves inside; its grid line stays where the month is.
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


def _named(words: Words, known: Known, month: Callable[[date], str]) -> Words:
    """The words with a name for the last real month."""
    last = max((point.month for point in known.values() if not point.predicted), default=None)
    return words if words.now or last is None else replace(words, now=month(last))


def _labels(
    frame: _Frame,
    known: Known,
    taken: list[Area],
    price: Callable[[Decimal], str],
    words: Words,
) -> Iterator[Label]:
    """Now, peak and start of the series, as far as there is room."""
    size = frame.sheet.font_size
    bounds = Area(frame.plot.left, 1, frame.sheet.width - 1.0, frame.plot.bottom - 1)
    line = tuple(_drawn_points(frame, known))
    for index, kinds in _marked(known).items():
        at = frame.at(index, known[index])
        said = words.joined.join(getattr(words, kind) for kind in kinds)
        exact = price(known[index].value)
        # Where a series starts can be read off the axes; what the price is now is shown in any
        # case, if need be without the word.
        must_show = kinds != ["start"]
        place = labelling.place_beside(
            at,
            (f"{said} {exact}", exact) if must_show else (f"{said} {exact}",),
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
    """The points, and others between neighbours, so that a steep line is seen as one: none is
    further from the next than half a letter."""
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
    """Months to label, the most wanted first, each with what it is."""
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
