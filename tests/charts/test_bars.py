"""Stacked bars: parts add up, stay inside the plot, and have few labels."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from portal.charts.bars import Bar, bar_chart, row_parts

VALUES = st.lists(st.tuples(*[st.floats(0, 1e7, allow_nan=False)] * 3), min_size=1, max_size=90)


def bars(*values: tuple[float, ...]) -> list[Bar]:
    return [Bar(f"{n}", f"{n}: {each}", each) for n, each in enumerate(values)]


def test_parts_stand_on_each_other_in_proportion() -> None:
    chart = bar_chart(bars((10, 30), (0, 20)), str)
    assert chart is not None
    (_, (low, high)), (_, (only,)) = chart.bars
    assert [part.series for part in (low, high, only)] == [0, 1, 1]
    assert low.y == pytest.approx(high.y + high.height, abs=0.02)
    assert high.height == pytest.approx(3 * low.height, abs=0.05)
    assert low.y + low.height == pytest.approx(100, abs=0.02)
    assert only.height == pytest.approx(2 * low.height, abs=0.05)


def test_zeros_give_no_chart() -> None:
    assert bar_chart(bars((0, 0), (0, 0)), str) is None
    assert bar_chart([], str) is None
    assert row_parts((1, 2), 0) == ()


@given(VALUES)
@example([(5e-324, 0.0, 0.0)])
@example([(1e-322, 0.0, 0.0)])
def test_bars_stay_inside_the_plot(values: list[tuple[float, ...]]) -> None:
    chart = bar_chart(bars(*values), str)
    if chart is None:
        return
    for part in (part for _, parts in chart.bars for part in parts):
        assert -0.02 <= part.x <= part.x + part.width <= 100.02
        assert -0.02 <= part.y <= part.y + part.height <= 100.02


@given(st.integers(1, 400))
def test_labels_are_few_and_the_last_bar_has_one(count: int) -> None:
    chart = bar_chart(bars(*[(1.0,)] * count), str)
    assert chart is not None
    assert 1 <= len(chart.ticks) <= 8
    assert chart.ticks[-1].text == str(count - 1)
    assert not chart.ticks[-1].is_minor
    assert chart.ticks[-1].x <= 100


def test_far_limit_is_left_out() -> None:
    near, far = (bar_chart(bars((10,)), str, limit) for limit in (15, 1000))
    assert near is not None
    assert far is not None
    assert near.limit_y is not None
    assert far.limit_y is None


def test_row_parts_share_the_width() -> None:
    parts = row_parts((25, 0, 25), 100)
    assert [(part.series, part.x, part.width) for part in parts] == [(0, 0, 25), (2, 25, 25)]
