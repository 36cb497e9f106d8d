"""Labels in a column do not overlap, keep their order and stay near their points."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.charts.spreading import spread

LABELS = st.lists(
    st.tuples(st.floats(0, 100), st.floats(2, 12), st.sampled_from([1.0, 20.0])), max_size=6
)


@given(LABELS)
def test_labels_never_overlap(labels: list[tuple[float, float, float]]) -> None:
    wanted = [at for at, _, _ in labels]
    heights = [height for _, height, _ in labels]
    placed = spread(wanted, heights, [weight for *_, weight in labels], 0, 100)
    order = sorted(range(len(labels)), key=lambda i: wanted[i])
    for a, b in pairwise(order):
        assert placed[b] - placed[a] >= (heights[a] + heights[b]) / 2 - 1e-6
    for at, height in zip(placed, heights, strict=True):
        assert height / 2 - 1e-6 <= at <= 100 - height / 2 + 1e-6


def test_labels_without_room_overlap_by_the_same_share_of_their_heights() -> None:
    placed = spread([90, 90, 90], [40, 40, 20], [1, 1, 1], 0, 80)
    assert placed == pytest.approx((16, 48, 72))


def test_labels_with_room_stay() -> None:
    assert spread([10, 50, 30], [8, 8, 8], [1, 1, 1], 0, 100) == (10, 50, 30)


def test_heavy_label_moves_least() -> None:
    flag, label = spread([50, 50], [10, 10], [20, 1], 0, 100)
    assert abs(flag - 50) < 1 < abs(label - 50)
    assert label - flag == pytest.approx(10)
