"""Sparklines of several series share one scale, so that their slopes can be compared."""

import pytest

from portal.charts.sparkline import HEIGHT, WIDTH, Sparkline, sparklines
from tests.charts.test_price_chart import path_points


def ends(line: Sparkline | None) -> tuple[float, float]:
    """Return the heights of a line's first and last point."""
    assert line is not None
    ys = [y for _, y in path_points(line.path)]
    assert ys[-1] == pytest.approx(line.dot_y)
    return ys[0], ys[-1]


def test_lines_start_at_one_height_and_fall_by_their_share() -> None:
    dear, cheap, steady = sparklines([[200, 190, 180], [20, 19, 18], [50, 50, 50]])
    assert ends(dear) == ends(cheap)
    assert ends(steady)[0] == ends(dear)[0] == ends(steady)[1] < ends(dear)[1]
    for line in (dear, cheap, steady):
        assert line is not None
        assert 0 <= line.dot_x <= WIDTH and 0 <= line.dot_y <= HEIGHT


def test_unknown_months_are_crossed_and_short_series_have_no_line() -> None:
    whole, gap, short, nothing = sparklines([[9, 8, 7, 6], [9, 0, 7, 6], [0, 0, 7, 6], []])
    assert ends(whole) == ends(gap)
    assert short is nothing is None
    assert sparklines([]) == []
