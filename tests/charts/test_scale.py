"""Ticks are on round values, enclose their interval, and are few."""

from hypothesis import given
from hypothesis import strategies as st

from portal.charts.scale import LinearScale, nice_ticks


def test_ticks_are_round_and_enclose_the_interval() -> None:
    assert nice_ticks(63_339, 92_108, 6) == (60_000, 70_000, 80_000, 90_000, 100_000)
    assert nice_ticks(0, 1, 3) == (0, 0.5, 1)


@given(st.floats(0.01, 1e18), st.floats(0.01, 1e18), st.integers(2, 8))
def test_ticks_enclose_any_interval_and_are_few(a: float, b: float, count: int) -> None:
    low, high = min(a, b), max(a, b)
    ticks = nice_ticks(low, high, count)
    assert 2 <= len(ticks) <= 13
    assert ticks[0] <= low * (1 + 1e-6)
    assert ticks[-1] >= high * (1 - 1e-6)


def test_flat_interval_has_ticks_around_it() -> None:
    ticks = nice_ticks(90_000, 90_000, 5)
    assert ticks[0] < 90_000 < ticks[-1]


def test_scale_clamps_to_its_range() -> None:
    scale = LinearScale(0, 10, 100, 0)
    assert [scale(v) for v in (-5, 0, 5, 10, 99)] == [100, 100, 50, 0, 0]
    assert LinearScale(3, 3, 0, 10)(3) == 5
