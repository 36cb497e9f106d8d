"""The model of ``python -m bench capacity``."""

import pytest

from bench.capacity import Cost, demands_s, lookups_per_s, throughput

HIT = Cost(0.00004, 0, 0, 0, 0, 0)
MISS = Cost(0.0083, 0.000329, 0.0017, 0, 16, 12)


@pytest.mark.parametrize(
    ("queues", "delay_s", "customers", "expected"),
    [
        ([0.01], 0.0, 1, 100.0),
        ([0.01], 0.0, 50, 100.0),  # one queue that is never empty
        ([0.0], 0.5, 8, 16.0),  # no queue
        ([0.01, 0.01], 0.0, 1, 50.0),
        ([0.01, 0.01], 0.0, 3, 75.0),  # N / (N + K - 1) of a balanced network's rate
        ([0.01, 0.002], 0.2, 500, 100.0),  # the slower queue alone
    ],
)
def test_throughput_of_networks_with_a_known_rate(
    queues: list[float], delay_s: float, customers: int, expected: float
) -> None:
    assert throughput(queues, delay_s, customers) == pytest.approx(expected, rel=0.002)


def test_one_portal_fills_its_processors_and_ten_fill_the_row() -> None:
    walls = {portals: lookups_per_s(HIT, MISS, 0.00046, portals) for portals in (1, 10, 100)}
    assert [wall for _, wall in walls.values()] == [
        "the portals' processors",
        *["the row of all callers"] * 2,
    ]
    row = demands_s(HIT, MISS, 0.00046, 100)["the row of all callers"]
    assert walls[100][0] == pytest.approx(1 / row, rel=0.01)
