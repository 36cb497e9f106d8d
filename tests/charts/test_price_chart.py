"""The chart stays inside its box, shows gaps and predictions, and keeps its texts apart."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from portal.charts.axes import axis_price
from portal.charts.frame import CANVASES
from portal.charts.geometry import Layout, Line, PriceChart
from portal.charts.price_chart import MOST_MONTHS, price_chart
from portal.charts.price_labels import Words
from tests.presentation.rendering import ENVIRONMENT

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
FIXED = tuple(layout for layout in LAYOUTS if layout != "screen")
SEGMENT = re.compile(r"([MlLVHzh])([^MlLVHzh]*)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
# Heights of the lowest plot on a screen, of a line of text, and of the last price's label.
LOWEST_PLOT_PX, LINE_PX, FLAG_PX = 240, 18, 26


class GoldenSvg(SingleFileSnapshotExtension):
    """Golden files that a browser can open: tests/golden/test_price_chart/*.svg."""

    _write_mode = WriteMode.TEXT
    file_extension = "svg"

    @classmethod
    def dirname(cls, *, test_location: object) -> str:
        return str(Path(__file__).parent.parent / "golden" / "test_price_chart")


@dataclass(frozen=True)
class Price:
    month: date
    value: Decimal
    predicted: bool = False


def prices(count: int, *, base: int = 90_000, phase: float = 0, predicted: int = 0) -> list[Price]:
    return [
        Price(
            date(2017 + i // 12, i % 12 + 1, 1),
            Decimal(round(base * (1 - 0.003 * i) + 4_000 * math.sin(i / 5 + phase))),
            i >= count - predicted,
        )
        for i in range(count)
    ]


def drawn(*series: Sequence[Price], **options: Any) -> PriceChart | None:
    return price_chart(
        [Line(f"Série {n}", points) for n, points in enumerate(series, start=1)], **options
    )


def chart(*series: Sequence[Price], **options: Any) -> PriceChart:
    found = drawn(*series, **options)
    assert found is not None
    return found


def path_points(path: str) -> list[tuple[float, float]]:
    """Return the points of a path's M, l and L segments in absolute coordinates."""
    points: list[tuple[float, float]] = []
    for kind, text in SEGMENT.findall(path):
        numbers = [float(n) for n in NUMBER.findall(text)]
        for x, y in zip(numbers[::2], numbers[1::2], strict=False):
            points.append((points[-1][0] + x, points[-1][1] + y) if kind == "l" else (x, y))
    return points


def svg(chart: PriceChart) -> str:
    name = "price_chart_on_screen" if chart.layout == "screen" else "price_chart"
    macro = getattr(ENVIRONMENT.get_template(f"components/{name}.html").module, name)
    arguments = ("Título", "Texto") if chart.layout == "screen" else ("g", "Título", "Texto")
    return str(macro(chart, *arguments)).strip() + "\n"


GOLDEN = {
    "one": [prices(108, predicted=6)],
    "gap": [prices(40)[:20] + prices(40, predicted=4)[25:]],
    "single": [prices(1)],
    "six": [prices(120, base=95_000 - 9_000 * n, phase=n, predicted=6) for n in range(6)],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", GOLDEN)
def test_chart_matches_golden_svg(name: str, layout: Layout, snapshot: SnapshotAssertion) -> None:
    assert svg(chart(*GOLDEN[name], layout=layout)) == snapshot(extension_class=GoldenSvg)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_six_series_of_ten_years_are_under_fifteen_kilobytes(layout: Layout) -> None:
    assert len(svg(chart(*GOLDEN["six"], layout=layout)).encode()) < 15_000


def test_letters_of_compact_chart_have_twelve_pixels_on_narrowest_screen() -> None:
    compact = chart(prices(12), layout="compact")
    assert compact.font_size * 286 / compact.width >= 12


def test_dashed_line_begins_at_the_last_real_point() -> None:
    curve = chart(prices(24, predicted=6)).chosen
    real, dashed = path_points(curve.real_path), path_points(curve.predicted_path)
    assert real[-1] == dashed[0]
    assert (len(real), len(dashed)) == (18, 7)


def test_area_covers_no_prediction() -> None:
    found = chart(prices(24, predicted=6))
    assert (
        max(x for x, _ in path_points(found.area_path))
        == path_points(found.chosen.real_path)[-1][0]
    )


def test_zone_spans_last_real_month_to_the_edge() -> None:
    found = chart(prices(24, predicted=6), layout="paper")
    assert found.zone is not None
    assert found.zone.x == pytest.approx(path_points(found.chosen.real_path)[-1][0])
    assert found.zone.x + found.zone.width == found.plot_width
    assert found.zone_label == "previsão"
    known = chart(prices(24))
    assert (known.zone, known.zone_label) == (None, "")
    guesses = chart(prices(3, predicted=3))
    assert guesses.zone is not None and guesses.zone.x == 0


@pytest.mark.parametrize("layout", FIXED)
def test_hatch_stays_inside_the_zone(layout: Layout) -> None:
    found = chart(prices(48, predicted=6), layout=layout)
    assert found.zone is not None
    for x, y in path_points(found.hatch_path):
        assert found.zone.x - 0.1 <= x <= found.plot_width + 0.1
        assert -0.1 <= y <= found.plot_height + 0.1


def test_missing_month_breaks_the_line() -> None:
    points = prices(12)
    curve = chart(points[:5] + points[6:]).chosen
    assert curve.real_path.count("M") == 2
    assert curve.dots == ()


def test_point_without_neighbours_is_a_dot() -> None:
    points = prices(12)
    assert len(chart([points[0], *points[4:]]).chosen.dots) == 1
    alone = chart(points[:1]).chosen
    assert (alone.real_path, len(alone.dots)) == ("", 1)


def test_disorder_and_duplicates_give_the_same_chart() -> None:
    points = prices(24, predicted=2)
    doubled = [Price(points[0].month, Decimal(1), predicted=True), *reversed(points)]
    assert chart(doubled) == chart(points)


def test_axis_far_from_zero_is_broken() -> None:
    dear = chart([Price(date(2025, m, 1), Decimal(89_000 + m)) for m in range(1, 7)])
    assert dear.break_y is not None
    # The break is between zero and the lowest grid line, and no price is drawn below that line.
    zero, lowest = dear.prices[-1], dear.prices[0]
    assert (zero.text, zero.y) == ("0", dear.plot_height)
    assert lowest.y < dear.break_y < zero.y
    bottom = lowest.y * CANVASES["screen"].path_scale
    assert max(y for _, y in path_points(dear.chosen.real_path)) <= bottom


def test_axis_near_zero_starts_there() -> None:
    falling = chart([Price(date(2025, m, 1), Decimal(10_000 * (7 - m))) for m in range(1, 7)])
    assert falling.break_y is None
    assert [(t.text, t.y) for t in falling.prices if t.text == "0"] == [("0", falling.plot_height)]


def test_other_series_share_the_scale() -> None:
    """Equal prices in two series have equal heights, whichever series is chosen."""
    high, low = prices(24, base=120_000), prices(24, base=60_000)
    for position in (0, 1):
        found = chart(high, low, chosen=position)
        assert found.chosen.number == position + 1
        assert [curve.number for curve in found.others] == [2 - position]
        paths = {c.number: c.real_path for c in (found.chosen, *found.others)}
        assert paths == {
            c.number: c.real_path
            for both in [chart(high, low)]
            for c in (both.chosen, *both.others)
        }


def test_range_ends_at_last_real_month_and_keeps_the_forecast() -> None:
    found = chart(prices(96, predicted=6), last_months=36)
    assert len(found.read.values) == 36 + 1 + 6
    assert sum(value < 0 for value in found.read.values) == 6


def test_peak_outside_of_range_is_measured_but_not_marked() -> None:
    points = prices(96)
    points[5] = Price(points[5].month, Decimal(150_000))
    whole, range_only = chart(points), chart(points, last_months=36)
    assert whole.peak is not None and whole.peak.price == "R$\u00a0150.000"
    assert range_only.peak is None
    assert range_only.read.peak == whole.read.peak == 150_000


def test_every_month_is_readable() -> None:
    points = prices(126, predicted=6)
    del points[40]
    read = chart(points).read
    assert len(read.values) == 126
    assert read.first == 2017 * 12
    assert read.values[40] == 0
    for point in points:
        value = read.values[point.month.year * 12 + point.month.month - 1 - read.first]
        assert value == (-point.value if point.predicted else point.value)
    assert read.values[read.last_real] > 0 > read.values[read.last_real + 1]


def test_last_real_month_has_its_name_unless_current() -> None:
    """The last price's label (flag) names the month, unless that month is current."""
    series = [replace(point, month=point.month.replace(year=2000)) for point in prices(6)]
    for words, name in ((None, "jun/00"), (Words(now=True), "")):
        flag = chart(series, words=words).now
        assert flag is not None
        assert flag.month == name


def test_peak_and_start_are_labelled() -> None:
    points = [*prices(36)]
    points[24] = Price(points[24].month, Decimal(120_000))
    found = chart(points, layout="paper")
    assert found.peak is not None and found.start is not None
    assert (found.peak.month, found.peak.price) == ("jan/19", "R$\u00a0120.000")
    assert chart(points).start is None  # on a screen, a crosshair shows the first price
    rising = [Price(date(2025, m, 1), Decimal(90_000 + 1_000 * m)) for m in range(1, 7)]
    assert chart(rising).peak is None  # the peak is the last price, which the flag shows
    assert chart(prices(1)).peak is None


def test_series_that_ended_earlier_has_no_price_at_the_edge() -> None:
    found = chart(prices(24), prices(24, base=70_000), prices(20, base=60_000))
    assert [label.number for label in found.ends] == [2]


def test_seventh_series_is_left_out() -> None:
    found = chart(*[prices(12, base=10_000 * n) for n in range(1, 9)])
    assert [curve.name for curve in found.others] == [f"Série {n}" for n in range(2, 7)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (800.0, "R$\u00a0800"),
        (92_500.0, "R$\u00a092,5\u00a0mil"),
        (90_000.0, "R$\u00a090\u00a0mil"),
        (1_200_000.0, "R$\u00a01,2\u00a0mi"),
    ],
)
def test_axis_price_is_abbreviated(value: float, text: str) -> None:
    assert axis_price(value) == text


def test_grid_texts_never_repeat_after_rounding() -> None:
    points = [Price(date(2025, m, 1), Decimal(90_000 + m)) for m in range(1, 7)]
    found = chart(points)
    texts = [tick.text for tick in found.prices]
    assert len(set(texts)) == len(texts)


def test_short_texts_of_mixed_units_keep_them() -> None:
    points = [Price(date(2025, m, 1), Decimal(200_000 * m)) for m in range(1, 7)]
    found = chart(points)
    assert found.unit == ""
    assert found.is_long
    assert {t.short for t in found.prices} >= {"200\u00a0mil", "1\u00a0mi"}
    assert chart(prices(24)).unit == "mil"


def test_no_drawable_points_give_no_chart() -> None:
    odd = [
        Price(date(2025, 1, 1), Decimal(text))
        for text in ("NaN", "sNaN", "-Infinity", "1e400", "100000000")
    ]
    assert drawn() is None
    assert drawn([]) is None
    assert drawn(odd) is None
    assert drawn([], prices(12)) is None
    assert drawn([], prices(12), chosen=1) is not None


def test_very_long_history_keeps_its_latest_months() -> None:
    points = prices(MOST_MONTHS + 30)
    read = chart(points).read
    assert len(read.values) == MOST_MONTHS
    assert read.values[-1] == points[-1].value


PRICE = st.builds(
    Price,
    st.dates(date(1900, 1, 1), date(2199, 12, 1)).map(lambda d: d.replace(day=1))
    | st.dates(date(2017, 1, 1), date(2026, 12, 1)).map(lambda d: d.replace(day=1)),
    st.decimals(Decimal("0.01"), Decimal(10**9), places=2)
    | st.integers(5_000, 300_000).map(Decimal),
    st.booleans(),
)


def everything(found: PriceChart) -> list[tuple[float, float]]:
    """Return every coordinate of the chart that must be inside its plot."""
    points = [(tick.x, 0.0) for tick in found.months] + [(0.0, tick.y) for tick in found.prices]
    points += [(0.0, label.y) for label in found.ends]
    for band in (*found.bands, *((found.zone,) if found.zone else ())):
        points += [(band.x, 0.0), (band.x + band.width, 0.0)]
    for mark in (found.start, found.peak):
        points += [(mark.x, mark.y)] if mark else []
    points += [(found.now.dot_x, found.now.dot_y), (0.0, found.now.y)] if found.now else []
    scale = CANVASES[found.layout].path_scale
    for curve in (found.chosen, *found.others):
        points += curve.dots
        for path in (curve.real_path, curve.predicted_path):
            points += [(x / scale, y / scale) for x, y in path_points(path)]
    return points


LOW = Price(date(2000, 1, 1), Decimal("0.01"), predicted=False)


# The labels of six series do not fit beside the lowest plot.
@example([[replace(LOW, value=Decimal("0.02"))], *[[LOW]] * 5], "paper", None)
@given(
    st.lists(st.lists(PRICE, min_size=1, max_size=25), min_size=1, max_size=7),
    st.sampled_from(LAYOUTS),
    st.sampled_from((None, 12, 120)),
)
def test_every_coordinate_is_inside_the_plot(
    series: list[list[Price]], layout: Layout, last_months: int | None
) -> None:
    found = drawn(*series, layout=layout, last_months=last_months)
    if found is None:
        assert all(point.value >= 10**8 for point in series[0])
        return
    for x, y in everything(found):
        assert -0.11 <= x <= found.plot_width + 0.11
        assert -0.11 <= y <= found.plot_height + 0.11


@given(st.integers(3, 140), st.integers(1_000, 500_000), st.floats(0, 6))
def test_texts_at_the_edges_do_not_overlap(count: int, base: int, phase: float) -> None:
    """On the lowest plot, months are in order, and price labels are a line apart."""
    series = [prices(count, base=base - base * n // 9, phase=phase + n) for n in range(6)]
    found = chart(*series, words=Words(now=True))
    assert found.now is not None
    sides = [(found.now.y, FLAG_PX), *((label.y, LINE_PX) for label in found.ends)]
    for (a, a_px), (b, b_px) in combinations(sides, 2):
        assert abs(a - b) / 100 * LOWEST_PLOT_PX >= (a_px + b_px) / 2 - 0.2
    heights = sorted(tick.y for tick in found.prices)
    assert all((b - a) / 100 * LOWEST_PLOT_PX >= 14 for a, b in pairwise(heights))
    places = [tick.x for tick in found.months]
    assert places == sorted(set(places))


@pytest.mark.parametrize("layout", ["paper", "compact"])
@given(count=st.integers(3, 140), base=st.integers(1_000, 500_000), phase=st.floats(0, 6))
def test_labels_on_paper_are_off_the_line(
    count: int, base: int, phase: float, layout: Layout
) -> None:
    found = chart(prices(count, base=base, phase=phase), layout=layout)
    line = path_points(found.chosen.real_path)
    for mark in (found.start, found.peak):
        if mark is None:
            continue
        width = len(f"{mark.month} · {mark.price}") * found.font_size * 0.5
        left = {"start": mark.x, "end": mark.x - width}.get(mark.anchor, mark.x - width / 2)
        assert all(y > mark.text_y for x, y in line if left <= x <= left + width)
        assert mark.text_y - found.font_size > -found.plot_height * 0.15 - 22
