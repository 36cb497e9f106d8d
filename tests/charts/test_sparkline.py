"""A sparkline shows the real prices of its last months inside its box."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.charts.sparkline import HEIGHT, WIDTH, sparkline
from tests.charts.test_price_chart import PRICE, Price, path_points, prices


def test_sparkline_ends_at_last_real_month() -> None:
    found = sparkline(prices(24, predicted=6))
    assert found is not None
    points = path_points(found.path)
    assert len(points) == 18
    assert points[-1] == pytest.approx((found.dot_x, found.dot_y))


def test_sparkline_keeps_five_years() -> None:
    found = sparkline(prices(120))
    assert found is not None
    assert len(path_points(found.path)) == found.months == 60


def test_falling_prices_fall() -> None:
    falling = [Price(date(2025, m, 1), Decimal(100_000 - 1_000 * m)) for m in range(1, 7)]
    found = sparkline(falling)
    assert found is not None
    heights = [y for _, y in path_points(found.path)]
    assert heights == sorted(heights)


def test_fewer_than_three_real_prices_give_no_sparkline() -> None:
    assert sparkline(prices(2)) is None
    assert sparkline(prices(4, predicted=2)) is None
    assert sparkline([]) is None


@given(st.lists(PRICE, max_size=60))
def test_sparkline_stays_inside_its_box(points: list[Price]) -> None:
    found = sparkline(points)
    for x, y in path_points(found.path) if found else ():
        assert 0 <= x <= WIDTH
        assert 0 <= y <= HEIGHT
