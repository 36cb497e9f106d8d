"""The chart stays inside its box, shows gaps and predictions, and is legible."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from itertools import combinations
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from portal.charts import Layout, Line, PriceChart, Words, price_chart
from portal.charts.labelling import Area, text_area
from portal.charts.price_chart import MOST_MONTHS
from tests.charts.drawing import draw

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
# The width in px at which each layout is shown: compact on a 320 px screen less its margins, wide
# in its column, and paper in the dossier on a screen.
SHOWN_AT: dict[Layout, int] = {"compact": 286, "wide": 576, "paper": 480}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


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


def short_month(month: date) -> str:
    """Format a month as ``jan/25``, independent of the locale."""
    return f"{'janfevmarabrmaijunjulagosetoutnovdez'[month.month * 3 - 3 :][:3]}/{month:%y}"


def chart(
    *series: Sequence[Price], layout: Layout = "wide", words: Words | None = None
) -> PriceChart:
    drawn = price_chart(
        [Line(f"Série {n}", points) for n, points in enumerate(series, start=1)],
        layout=layout,
        price_axis=lambda value: f"R$ {value / 1000:g} mil".replace(".", ","),
        price=lambda value: f"R$ {value:,.0f}".replace(",", "."),
        month=short_month,
        words=words,
    )
    assert drawn is not None
    return drawn


def path_points(path: str) -> list[tuple[float, float]]:
    numbers = [float(n) for n in NUMBER.findall(path)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def everything(drawn: PriceChart) -> list[tuple[float, float]]:
    """Return every coordinate of the chart."""
    found = [(t.x, t.y) for t in (*drawn.months, *drawn.prices)]
    found += [(t.at, 0) for t in drawn.months] + [(0, t.at) for t in drawn.prices]
    for mark in (*drawn.labels, *((drawn.zone_label,) if drawn.zone_label else ())):
        found += [(mark.x, mark.y), (mark.dot_x, mark.dot_y)]
    for box in (drawn.plot, *((drawn.zone,) if drawn.zone else ())):
        found += [(box.x, box.y), (box.x + box.width, box.y + box.height)]
    for series in drawn.series:
        found += path_points(series.real_path) + path_points(series.predicted_path)
        found += [(p.x, p.y) for p in (*series.dots, *series.hits)]
    return found


GOLDEN = {
    "one": [prices(108, predicted=6)],
    "gap": [prices(40)[:20] + prices(40, predicted=4)[25:]],
    "single": [prices(1)],
    "six": [prices(120, base=95_000 - 9_000 * n, phase=n, predicted=6) for n in range(6)],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", GOLDEN)
def test_chart_matches_golden_svg(name: str, layout: Layout, snapshot: SnapshotAssertion) -> None:
    drawn = draw(chart(*GOLDEN[name], layout=layout))
    assert drawn == snapshot(extension_class=GoldenSvg)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_texts_are_at_least_twelve_pixels_where_shown(layout: Layout) -> None:
    drawn = chart(prices(12), layout=layout)
    assert drawn.font_size * SHOWN_AT[layout] / drawn.width >= 12


@pytest.mark.parametrize("layout", LAYOUTS)
def test_series_of_ten_years_is_under_ten_kilobytes(layout: Layout) -> None:
    assert len(draw(chart(prices(120, predicted=6), layout=layout)).encode()) < 10_000


def test_dashed_line_begins_at_the_last_real_point() -> None:
    (series,) = chart(prices(24, predicted=6)).series
    real, dashed = path_points(series.real_path), path_points(series.predicted_path)
    assert real[-1] == dashed[0]
    assert (len(real), len(dashed)) == (18, 7)


def test_zone_spans_last_real_month_to_the_edge() -> None:
    drawn = chart(prices(24, predicted=6))
    assert drawn.zone is not None
    assert drawn.zone_label is not None
    assert drawn.zone.x == path_points(drawn.series[0].real_path)[-1][0]
    assert drawn.zone.x + drawn.zone.width == drawn.plot.x + drawn.plot.width
    assert chart(prices(24)).zone is None
    guesses = chart(prices(3, predicted=3))
    assert guesses.zone == guesses.plot


def test_missing_month_breaks_the_line() -> None:
    points = prices(12)
    (series,) = chart(points[:5] + points[6:]).series
    assert series.real_path.count("M") == 2
    assert series.dots == ()


def test_point_without_neighbours_is_a_dot() -> None:
    points = prices(12)
    (series,) = chart([points[0], *points[4:]]).series
    assert len(series.dots) == 1
    (alone,) = chart(points[:1]).series
    assert (alone.real_path, len(alone.dots), len(alone.hits)) == ("", 1, 1)


def test_disorder_and_duplicates_give_the_same_chart() -> None:
    points = prices(24, predicted=2)
    doubled = [Price(points[0].month, Decimal(1), predicted=True), *reversed(points)]
    assert draw(chart(doubled)) == draw(chart(points))


def test_last_real_month_has_its_name_unless_current() -> None:
    """A table that ended in June 2000 has a label of June 2000, whenever it is read."""
    series = [replace(point, month=point.month.replace(year=2000)) for point in prices(6)]
    for words, name in ((None, "jun/00 "), (Words(now="agora"), "agora ")):
        (label,) = [m for m in chart(series, words=words).labels if "now" in m.kind]
        assert label.text.startswith(name)


def test_start_peak_and_now_are_labelled_once_each() -> None:
    points = [*prices(36)]
    points[12] = Price(points[12].month, Decimal(120_000))
    texts = {mark.kind: mark.text for mark in chart(points).labels}
    assert texts["peak"] == "pico R$ 120.000"
    assert set(texts) == {"start", "peak", "now"}
    falling = [Price(date(2025, m, 1), Decimal(100_000 - 1_000 * m)) for m in range(1, 7)]
    assert {mark.kind for mark in chart(falling).labels} == {"now", "peak start"}
    assert [mark.kind for mark in chart(prices(1)).labels] == ["now"]


def test_series_have_different_marker_shapes() -> None:
    drawn = chart(*GOLDEN["six"])
    assert len({series.swatch_path for series in drawn.series}) == 6
    assert all(series.markers_path for series in drawn.series)
    assert [series.number for series in drawn.series] == [1, 2, 3, 4, 5, 6]
    assert drawn.labels == ()
    assert drawn.series[0].now == "R$ 60.507"


def test_seventh_series_is_left_out() -> None:
    drawn = chart(*[prices(12, base=10_000 * n) for n in range(1, 9)])
    assert [series.name for series in drawn.series] == [f"Série {n}" for n in range(1, 7)]


def test_grid_texts_never_repeat_after_rounding() -> None:
    points = [Price(date(2025, m, 1), Decimal(90_000 + m)) for m in range(1, 7)]
    drawn = price_chart(
        [Line("", points)],
        price_axis=lambda v: f"R$ {v / 1000:.0f} mil",
        price=str,
        month=short_month,
    )
    assert drawn is not None
    texts = [tick.text for tick in drawn.prices]
    assert len(set(texts)) == len(texts)


def test_no_drawable_points_give_no_chart() -> None:
    odd = [Price(date(2025, 1, 1), Decimal(text)) for text in ("NaN", "sNaN", "-Infinity", "1e400")]
    for lines in ([], [Line("", [])], [Line("", odd)]):
        assert price_chart(lines, price_axis=str, price=str, month=str) is None


def test_very_long_history_keeps_its_latest_months() -> None:
    drawn = chart(prices(MOST_MONTHS + 30))
    said = [hit.text.split(":")[0] for hit in drawn.series[0].hits]
    assert said[-1] == short_month(prices(MOST_MONTHS + 30)[-1].month)
    assert len(path_points(drawn.series[0].real_path)) == MOST_MONTHS


PRICE = st.builds(
    Price,
    st.dates(date(1900, 1, 1), date(2199, 12, 1)).map(lambda d: d.replace(day=1))
    | st.dates(date(2017, 1, 1), date(2026, 12, 1)).map(lambda d: d.replace(day=1)),
    st.decimals(Decimal("0.01"), Decimal(10**18), places=2)
    | st.integers(5_000, 300_000).map(Decimal),
    st.booleans(),
)


@given(
    st.lists(st.lists(PRICE, min_size=1, max_size=25), min_size=1, max_size=7),
    st.sampled_from(LAYOUTS),
)
def test_every_coordinate_is_inside_the_view_box(series: list[list[Price]], layout: Layout) -> None:
    drawn = chart(*series, layout=layout)
    for x, y in everything(drawn):
        assert 0 <= x <= drawn.width
        assert 0 <= y <= drawn.height
        assert (round(x, 1), round(y, 1)) == (pytest.approx(x), pytest.approx(y))


@given(st.integers(1, 120), st.integers(1_000, 500_000), st.floats(0, 6), st.sampled_from(LAYOUTS))
def test_texts_do_not_overlap(count: int, base: int, phase: float, layout: Layout) -> None:
    drawn = chart(prices(count, base=base, phase=phase, predicted=count // 10), layout=layout)
    size = drawn.font_size
    marks = [*drawn.labels, *((drawn.zone_label,) if drawn.zone_label else ())]
    texts: list[Area] = [text_area(m.x, m.y, m.anchor, m.text, size - 0.2) for m in marks]
    texts += [text_area(t.x, t.y, "middle", t.text, size) for t in drawn.months]
    texts += [text_area(t.x, t.y, "end", t.text, size) for t in drawn.prices]
    assert not [1 for a, b in combinations(texts, 2) if a.overlaps(b)]
