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
    dear, cheap, steady = sparklines([[[200, 190, 180]], [[20, 19, 18]], [[50, 50, 50]]])
    assert ends(dear) == ends(cheap)
    assert ends(steady)[0] == ends(dear)[0] == ends(steady)[1] < ends(dear)[1]
    for line in (dear, cheap, steady):
        assert line is not None
        assert 0 <= line.dot_x <= WIDTH and 0 <= line.dot_y <= HEIGHT


def test_unknown_months_are_crossed_and_short_series_have_no_line() -> None:
    whole, gap, short, nothing = sparklines([[[9, 8, 7, 6]], [[9, 0, 7, 6]], [[0, 0, 7, 6]], []])
    assert ends(whole) == ends(gap)
    assert short is nothing is None
    assert sparklines([]) == []


def test_several_versions_have_a_band_around_their_mean() -> None:
    both, mean, alike = sparklines(
        [[[200, 190, 180], [100, 98, 96]], [[1000, 965, 930]], [[200, 190], [200, 190]]]
    )
    assert both is not None and mean is not None and alike is None
    assert both.path == mean.path and (both.dot_x, both.dot_y) == (mean.dot_x, mean.dot_y)
    assert not mean.band
    ys = [y for _, y in path_points(both.band.removesuffix("z"))]
    assert min(ys) < both.dot_y < max(ys)
    # The band begins in one point, because each version begins at its own price.
    assert ys[0] == ys[-1] == both.start_y
    same, _ = sparklines([[[200, 190, 180], [200, 190, 180]], [[9, 8, 7]]])
    assert same is not None and not same.band
