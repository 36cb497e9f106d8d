"""The grid lines, ticks and year bands of a price chart."""

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

from portal.charts import scale
from portal.charts.frame import Frame
from portal.charts.geometry import Anchor, Band, Layout, MonthTick, PriceTick
from portal.wording import NO_BREAK_SPACE, money, month

# The approximate number of grid lines in each layout.
_PRICE_LINES: Final[Mapping[Layout, int]] = {"screen": 8, "paper": 4, "compact": 5}
_DIGITS = re.compile(r"^(\D*)(.*?)(\D*)$", re.DOTALL)


def price_levels(low: float, high: float, layout: Layout) -> tuple[float, ...]:
    """Return the prices of the grid lines. No two prices have the same label."""
    for count in range(_PRICE_LINES[layout], 1, -1):
        levels = scale.nice_ticks(low, high, count)
        if len({axis_price(level) for level in levels}) == len(levels):
            break
    return levels


def price_ticks(frame: Frame, *, is_index: bool = False) -> tuple[PriceTick, ...]:
    ticks: dict[str, PriceTick] = {}
    for level in frame.levels:
        text = f"{level:g}" if is_index or not level else axis_price(level)
        digits = _DIGITS.match(text)
        assert digits is not None
        ticks.setdefault(text, PriceTick(frame.rounded(frame.y(level)), *digits.groups()))
    if frame.is_broken:
        ticks.setdefault("0", PriceTick(frame.canvas.plot_height, "", "0", ""))
    shown = tuple(ticks.values())
    if not has_mixed_units(shown):
        return shown
    return tuple(PriceTick(t.y, t.before, f"{t.short}{t.after}", "") for t in shown)


def axis_price(value: float) -> str:
    """Format the label of a grid line, such as ``R$ 800`` or ``R$ 92,5 mil``.

    "mil" means thousand, and "mi" means million.
    """
    for size, word in ((1_000_000, "mi"), (1_000, "mil")):
        if abs(value) >= size:
            number = f"{value / size:.1f}".removesuffix(".0").replace(".", ",")
            return f"R${NO_BREAK_SPACE}{number}{NO_BREAK_SPACE}{word}"
    return money(Decimal(value), places=0)


def has_mixed_units(ticks: Sequence[PriceTick]) -> bool:
    return len({tick.after for tick in ticks if tick.text != "0"}) > 1


def month_ticks(frame: Frame) -> Iterator[MonthTick]:
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
            anchor_at(x / frame.canvas.plot_width, 0.1),
            is_minor,
        )


def _year_ticks(frame: Frame, span: int) -> Iterator[MonthTick]:
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


def year_bands(frame: Frame) -> Iterator[Band]:
    for year in range(frame.first // 12, frame.last // 12 + 1):
        left, right = _edges(frame, year)
        if year % 2 == 0 and right > left:
            yield Band(frame.rounded(left), frame.rounded(right - left))


def _edges(frame: Frame, year: int) -> tuple[float, float]:
    """Return the x coordinates of a year's left and right edge.

    A month is a point on the x axis. The edges are half a month before January of the year and half
    a month before January of the next year.
    """
    width = frame.canvas.plot_width
    if frame.first == frame.last:
        return 0.0, width
    month = (frame.x(frame.last) - frame.x(frame.first)) / (frame.last - frame.first)
    start = frame.x(frame.first) + (year * 12 - frame.first - 0.5) * month
    return min(max(start, 0.0), width), min(max(start + 12 * month, 0.0), width)


def anchor_at(share: float, edge: float) -> Anchor:
    return "start" if share < edge else "end" if share > 1 - edge else "middle"
