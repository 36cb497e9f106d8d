"""The bars of an offer are in proportion, meet each other, and stay in the picture."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.charts.offer_chart import OfferChart, offer_chart

AMOUNT = st.floats(0, 5_000_000)


def drawn(
    price: float, fines: float, notices: float, costs: float, asking: float | None
) -> OfferChart:
    chart = offer_chart(price, fines, notices, costs, asking)
    assert chart is not None
    return chart


def test_bites_are_in_proportion_and_meet() -> None:
    chart = drawn(163_189, 10_622.57, 195.23, 2_350, 158_000)
    price, fines, costs, offer = chart.bars
    assert [bar.kind for bar in chart.bars] == ["price", "fines", "costs", "offer"]
    assert fines.width / costs.width == pytest.approx(10_622.57 / 2_350, rel=0.01)
    assert fines.hatched / fines.width == pytest.approx(195.23 / 10_622.57, rel=0.05)
    assert (fines.end, costs.end, offer.end) == pytest.approx(
        (price.end, fines.x, costs.x), abs=0.02
    )
    assert chart.asking is not None and offer.end < chart.asking < price.end
    assert chart.is_broken


def test_axis_begins_at_zero_where_the_bites_are_large() -> None:
    chart = drawn(100, 60, 0, 20, None)
    assert not chart.is_broken
    assert chart.bars[-1].width / chart.bars[0].width == pytest.approx(0.2, abs=0.01)


def test_nothing_is_bitten_off() -> None:
    chart = drawn(50_000, 0, 0, 0, None)
    assert [(bar.kind, bar.width) for bar in chart.bars] == [("price", 84.0), ("offer", 84.0)]
    assert chart.asking is None and not chart.is_broken


@pytest.mark.parametrize("asking", [1, 10_000_000])
def test_absurd_asking_price_is_not_drawn(asking: float) -> None:
    assert drawn(50_000, 500, 0, 0, asking).asking is None


def test_no_bars_where_nothing_is_left() -> None:
    assert offer_chart(1_000, 900, 0, 100) is None
    assert offer_chart(1_000, 2_000, 0, 0) is None


@given(AMOUNT, AMOUNT, AMOUNT, AMOUNT, st.none() | AMOUNT)
def test_all_stays_in_the_picture(
    price: float, fines: float, notices: float, costs: float, asking: float | None
) -> None:
    chart = offer_chart(price, fines, min(notices, fines), costs, asking)
    if chart is None:
        return
    for bar in chart.bars:
        assert bar.x >= -1 and bar.end <= 84.1 and 0 <= bar.hatched <= bar.width
    assert chart.asking is None or 0 <= chart.asking <= 84.1
