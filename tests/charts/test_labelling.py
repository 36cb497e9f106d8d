"""Labels are beside their points and do not cover their own line."""

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.charts import Layout, Words
from portal.charts.labelling import Area, place_beside, text_area
from tests.charts.test_price_chart import LAYOUTS, Price, chart, path_points, prices


def passes_through(area: Area, path: str) -> bool:
    """Return whether a path, sampled ten times per segment, enters an area."""
    for run in path.split("M")[1:]:
        points = path_points(run)
        for (x0, y0), (x1, y1) in pairwise(points):
            for step in range(11):
                if area.covers((x0 + (x1 - x0) * step / 10, y0 + (y1 - y0) * step / 10)):
                    return True
    return False


@given(
    st.lists(st.integers(30_000, 130_000), min_size=3, max_size=120),
    st.sampled_from(LAYOUTS),
)
def test_start_label_never_covers_the_line(values: list[int], layout: Layout) -> None:
    points = [
        Price(point.month, Decimal(value))
        for point, value in zip(prices(len(values)), values, strict=True)
    ]
    drawn = chart(points, layout=layout)
    for mark in drawn.labels:
        if mark.kind == "start":
            area = text_area(mark.x, mark.y, mark.anchor, mark.text, drawn.font_size, bold=True)
            assert not passes_through(area, drawn.series[0].real_path)


def test_start_without_free_place_has_no_label() -> None:
    values = [60, *(120, 20) * 20]
    points = [
        Price(point.month, Decimal(value * 1_000))
        for point, value in zip(prices(len(values)), values, strict=True)
    ]
    for layout in LAYOUTS:
        assert "start" not in [mark.kind for mark in chart(points, layout=layout).labels]


@pytest.mark.parametrize("layout", ["compact", "wide"])
def test_current_price_near_the_axis_does_not_cover_the_line(
    layout: Layout,
) -> None:
    values = [*range(37_500, 34_000, -100), 33_600, 32_900, *[32_500] * 5, 32_308]
    points = [
        Price(point.month, Decimal(value))
        for point, value in zip(prices(len(values)), values, strict=True)
    ]
    drawn = chart(points, layout=layout, words=Words(now="agora"))
    (now,) = [mark for mark in drawn.labels if mark.kind == "now"]
    area = text_area(now.x, now.y, now.anchor, now.text, drawn.font_size, bold=True)
    assert now.text.endswith("R$ 32.308")
    assert not passes_through(area, drawn.series[0].real_path)


def test_label_without_space_drops_its_word() -> None:
    """Between two steep parts of a line there is space for the price without the word."""
    crowd = [(60 + 4 * step, 100.0 + 40 * side) for step in range(40) for side in (-1, 1)]
    wall = [(100.0, float(y)) for y in range(0, 200, 4)]
    place = place_beside(
        (140, 100),
        ("agora R$ 1", "R$ 1"),
        10,
        bounds=Area(0, 0, 165, 200),
        taken=(),
        line=[*wall, *crowd],
        must_show=True,
    )
    assert place is not None
    assert place.text == "R$ 1"
